"""Pairs in JSON lines and Parquet: values of any type, keys that appear late, columns by name only."""

import json
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentences import refused

from features.core.errors import RowError
from features.core.faults import ColumnMissing, FileEmpty, UnknownForm
from features.core.types import RejectCode as Code
from features.corpora.cells import as_text
from features.corpora.dataset import TableLayout
from features.corpora.headers import reading_parquet
from features.corpora.tables import named_rows, read_rows

LAYOUT = TableLayout(columns={"sentence_a": "sentence_a", "sentence_b": "sentence_b"}, form="parquet")


def test_bad_json_lines_are_rejects(read):
    good = json.dumps({"sentence1": "A", "sentence2": "B", "gold_label": "entailment"})
    bad = ['{"sentence1": "A", "sentence2": "B"}', "{broken", "[1, 2]", good.replace('"A"', "[1]"), ""]
    rows, rejects = read("nli.jsonl", "\n".join([good, *bad, good]), dataset="snli")

    assert [row.origin for row in rows] == ["nli.jsonl:1", "nli.jsonl:7"]
    assert [reject.entity_id for reject in rejects] == [f"nli.jsonl:{line}" for line in (2, 3, 4, 5)]
    assert {reject.code for reject in rejects} == {Code.WRONG_COLUMNS}
    assert "lacks gold_label" in rejects[0].message


def test_parquet_that_is_damaged_below_its_schema_is_one_sentence(tmp_path):
    path = tmp_path / "p.parquet"
    pl.DataFrame({"sentence_a": ["A"], "sentence_b": ["B"]}).write_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(20) + content[24:])
    with refused(UnknownForm):
        list(read_rows(path, LAYOUT))


def test_parquet_without_rows_is_empty(tmp_path):
    pl.DataFrame(schema={"sentence_a": pl.String, "sentence_b": pl.String}).write_parquet(tmp_path / "p.parquet")
    with refused(FileEmpty):
        list(read_rows(tmp_path / "p.parquet", LAYOUT))


def test_parquet_text_that_is_not_utf8_is_one_sentence(tmp_path, capfd):
    written = pa.array([b"text", b"\xff"])
    text = pa.StringArray.from_buffers(len(written), *written.buffers()[1:])
    pq.write_table(pa.table({"text": text}), tmp_path / "texts.parquet")
    with refused(UnknownForm):
        list(named_rows(tmp_path / "texts.parquet", "parquet", ["text"]))
    assert not capfd.readouterr().err


def test_a_parquet_file_that_makes_polars_panic_is_one_sentence():
    with refused(UnknownForm), reading_parquet(Path("p.parquet")):
        raise pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")


def test_half_characters_and_endless_numbers_in_json_are_rejects(tmp_path, read):
    rows = [
        '{"sentence_a": "A \\ud83d", "sentence_b": "B"}',
        '{"sentence_a": "A", "sentence_b": "B", "label": "\\ud83d"}',
    ]
    scored = json.dumps({"sentence_a": "A", "sentence_b": "B", "score": 10**400, "label": ""})
    (tmp_path / "p.jsonl").write_text("\n".join([*rows, scored]))
    columns = {"sentence_a": "sentence_a", "sentence_b": "sentence_b"}
    captions = [{"image_id": 1, "caption": text} for text in ("A", "\ud83d", "B")]
    captions.append({"image_id": "\ud83d", "caption": "C"})
    (tmp_path / "c.json").write_text(json.dumps({"annotations": captions}))

    found, rejects = read("p.jsonl", columns=columns)
    assert [row.origin for row in found] == ["p.jsonl:2", "p.jsonl:3"]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("p.jsonl:1", Code.BAD_ENCODING)]
    for role, line, code in (("label", 2, Code.BAD_ENCODING), ("score", 3, Code.BAD_SCORE)):
        _, rejects = read("p.jsonl", columns={**columns, role: role})
        assert (f"p.jsonl:{line}", code) in [(reject.entity_id, reject.code) for reject in rejects]
    found, rejects = read("c.json", dataset="coco")
    assert [(row.text_a, row.text_b) for row in found] == [("A", "B")]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("c.json:2", Code.BAD_ENCODING),
        ("c.json:4", Code.BAD_ENCODING),
    ]


def test_parquet_cells_of_another_type_are_rejects(tmp_path, read):
    pl.DataFrame(
        {"sentence_a": ["A", None, "C"], "sentence_b": ["B", "B", "D"], "label": [1.0, 1.0, None]}
    ).write_parquet(tmp_path / "p.parquet")
    pl.DataFrame({"sentence_a": [1, 2], "sentence_b": ["B", "B"]}).write_parquet(tmp_path / "q.parquet")

    rows, rejects = read("p.parquet")
    assert [(row.text_a, row.label, row.origin) for row in rows] == [
        ("A", "1", "p.parquet:1"),
        ("C", None, "p.parquet:3"),
    ]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("p.parquet:2", Code.EMPTY_SENTENCE)]
    rows, rejects = read("q.parquet")
    assert rows == []
    assert {reject.code for reject in rejects} == {Code.WRONG_COLUMNS}


def test_a_type_that_polars_does_not_read_is_one_sentence(tmp_path, read):
    wide = pa.array([Decimal("1.50")], pa.decimal256(50, 2))
    pq.write_table(pa.table({"sentence_a": ["A"], "sentence_b": ["B"], "score": wide}), tmp_path / "p.parquet")
    with refused(UnknownForm):
        read("p.parquet")


def test_a_column_that_is_not_read_may_hold_anything(tmp_path, read):
    never = pa.array([2**62], pa.timestamp("us"))  # what PostgreSQL's `infinity` becomes is no date of Python
    table = pa.table({"sentence_a": ["A"], "sentence_b": ["B"], "label": [1], "until": never})
    pq.write_table(table, tmp_path / "p.parquet")

    rows, _ = read("p.parquet")

    assert [row.label for row in rows] == ["1"]


def test_typed_cells_of_pairs_are_those_of_a_table_of_text(tmp_path, read):
    cells = {
        "sentence_a": ["A", "A", 1, True, ["A"]],
        "sentence_b": ["B"] * 5,
        "score": [float("nan"), True, 1, 1, 1],
        "label": [float("nan"), True, "x", "x", "x"],
        "topic": [1.0, float("nan"), "t", "t", "t"],
    }
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    columns = {"score": "score", "label": "label", "group": "topic"}
    rows, rejects = read("p.jsonl", columns=columns, draw={"dev": 0.1})
    assert [(row.score, row.label, row.group) for row in rows] == [(None, None, "1"), (1.0, "1", "")]
    assert [reject.message for reject in rejects] == [
        "p.jsonl:3: the cell 1 is not text",
        "p.jsonl:4: the cell True is not text",
        "p.jsonl:5: the cell ['A'] is neither text nor number",
    ]


def test_a_key_of_pairs_may_come_late_in_json_lines(read):
    early, late = {"sentence_a": "A", "sentence_b": "B"}, {"sentence_a": "A", "sentence_b": "B", "gold": "x"}
    lines = "\n".join(json.dumps(row) for row in (*[early] * 25, late))

    rows, rejects = read("p.jsonl", lines, columns={"label": "gold"})
    assert ([row.label for row in rows], len(rejects)) == (["x"], 25)
    with refused(ColumnMissing):
        read("p.jsonl", columns={"label": "kind"})


def test_optional_keys_of_pairs_are_found_wherever_they_come_first(read):
    bare = {"sentence_a": "A", "sentence_b": "B"}
    late = [{**bare, "score": 3}, bare, {**bare, "label": "x"}]
    rows, rejects = read("p.jsonl", "\n".join(json.dumps(row) for row in (*[bare] * 25, *late)))
    assert [(row.score, row.label) for row in rows] == [(None, None)] * 25 + [(3, None), (None, None), (None, "x")]
    assert rejects == []


@pytest.mark.parametrize("name", ["p.jsonl", "p.parquet"])
def test_positions_are_for_tables_of_cells(tmp_path, name, read):
    frame = pl.DataFrame({"a": ["A"], "b": ["B"]})
    (frame.write_parquet if name.endswith("parquet") else frame.write_ndjson)(tmp_path / name)

    with refused(UnknownForm):
        read(name, columns={"sentence_a": 0, "sentence_b": 1})


def test_a_key_of_a_json_object_that_occurs_twice_has_no_cell(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"text": "a", "text": "b", "note": {"of": 1, "of": 2}}\n{"text": "c", "note": 3, "note": 4}\n')
    rows = [cells for _, cells in named_rows(path, "jsonl", ["text"])]
    with pytest.raises(RowError) as wrong:
        as_text(rows[0]["text"])
    assert wrong.value.code is Code.WRONG_COLUMNS
    assert as_text(rows[1]["text"]) == "c"


def test_json_that_python_refuses_is_a_reject(read):
    good = '{"sentence_a": "A", "sentence_b": "B", "n": 1}'
    deep = good.replace("1", "[" * 100_000 + "]" * 100_000)
    rows, rejects = read("p.jsonl", "\n".join([good, good.replace("1", "9" * 5000), deep, good]))
    assert len(rows) == 2
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("p.jsonl:2", Code.WRONG_COLUMNS),
        ("p.jsonl:3", Code.WRONG_COLUMNS),
    ]
    assert "number with too many digits" in rejects[0].message
