"""Texts with labels: faulty rows and files, and columns under other names."""

import json
from decimal import Decimal

import polars as pl
import pytest
from sentences import refused

from features.core.faults import ColumnMissing, ColumnTwice, Conflict, FileEmpty
from features.core.types import RejectCode
from features.corpora.reading import BadRow, TextRow, read_outcomes
from features.corpora.settings import CorpusSettings


@pytest.fixture
def outcomes(tmp_path):
    """Return a function that reads a file, written with some content or there already, as a corpus of texts."""

    def read(name, content=None, dataset="texts", **given):
        if content is not None:
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_outcomes(CorpusSettings(dataset=dataset, files={"train": name}, **given), tmp_path))

    return read


def test_columns_may_have_other_names(outcomes):
    columns = {"text": ["heading", "body"], "aspects": {"topic": "subject"}}
    (row,) = outcomes("t.tsv", "heading\tbody\tsubject\nCats\tThey purr.\tpets|animals\n", **columns)
    assert (row.text, row.labels) == ("Cats: They purr.", (("topic", "pets"), ("topic", "animals")))


def test_a_missing_column_is_named_with_those_that_there_are(outcomes):
    with refused(ColumnMissing):
        outcomes("t.tsv", "body\tlabel\nA\tx\n")


def test_what_a_file_looks_like_is_told_before_names_of_columns_are_asked_for(outcomes):
    with refused(ColumnMissing):
        outcomes("t.csv", "text;label\nA;x\n")
    with refused(ColumnMissing):
        outcomes("t.tsv", "\t".join(f"column {n} {'x' * 50}" for n in range(30)) + "\nA\n")


def test_quotes_around_every_cell_are_no_part_of_it(outcomes):
    (row,) = outcomes("t.tsv", '"text"\t"label"\n"A cat."\t"x"\n')
    assert (row.text, row.labels) == ("A cat.", (("label", "x"),))


def test_settings_decide_on_quotes_that_show_nothing(outcomes):
    content = 'text\tlabel\n"A cat."\tx\nA dog.\ty\n'
    found = {quotes: outcomes("t.tsv", content, quotes=quotes)[0].text for quotes in (None, "enclose")}
    assert found == {None: '"A cat."', "enclose": "A cat."}


def test_labels_choose_what_is_taken(outcomes):
    rows = outcomes("t.tsv", "text\tlabel\nA\tx|y\nB\ty\n", labels=["x"])
    assert (rows[0].labels, rows[1].reason) == ((("label", "x"),), "label not asked for")


def test_rows_that_are_wrong_are_rejects(outcomes):
    found = [
        *outcomes("mr.txt", "1 fine .\n0\n7 odd label .\n", dataset="mr"),
        *outcomes("t.tsv", "text\tlabel\n\tx\nA\tx\ty\nfine\tx\ngood\tx\n"),
    ]
    assert [(row.reject.entity_id, row.reject.code) for row in found if isinstance(row, BadRow)] == [
        ("mr.txt:2", RejectCode.EMPTY_SENTENCE),
        ("mr.txt:3", RejectCode.BAD_LABEL),
        ("t.tsv:2", RejectCode.EMPTY_SENTENCE),
        ("t.tsv:3", RejectCode.WRONG_COLUMNS),
    ]
    assert sum(isinstance(row, TextRow) for row in found) == 3


def test_a_line_in_no_encoding_is_a_reject_where_the_release_is_utf8(outcomes):
    bad, good = outcomes("cr.txt", b"1 caf\xe9 .\n0 fine .\n", dataset="cr")
    assert (bad.reject.code, good.text) == (RejectCode.BAD_ENCODING, "fine .")


@pytest.fixture
def read_json(outcomes):
    """Return a function that returns the labels of each text of a JSON lines corpus, or the code of its reject."""
    return lambda *objects, **given: found(outcomes("t.jsonl", "\n".join(map(json.dumps, objects)), **given))


def found(rows):
    return [
        [label for _, label in row.labels] if isinstance(row, TextRow) else (row.reject.entity_id, row.reject.code)
        for row in rows
    ]


def test_a_list_is_several_labels_whatever_stands_in_them(tmp_path, outcomes, read_json):
    several = [["red", "odd"], [1, 2.0, "red"], ["a|b", None, float("nan")]]
    expected = [["red", "odd"], ["1", "2", "red"], ["a|b"]]
    assert read_json(*({"text": "A", "label": label} for label in several)) == expected

    for name, dtype in (("list", pl.List(pl.String)), ("array", pl.Array(pl.String, 2))):
        labels = pl.Series([["red", "odd"], ["blue", None], None], dtype=dtype)
        pl.DataFrame({"text": ["A"] * 3, "label": labels}).write_parquet(tmp_path / f"{name}.parquet")
        rows = found(outcomes(f"{name}.parquet"))
        assert rows == [["red", "odd"], ["blue"], (f"{name}.parquet:3", RejectCode.NO_LABEL)]


def test_typed_labels_are_those_of_a_table_of_text_and_none_is_a_missing_one(read_json):
    labels = [1, 1.0, True, 0.5, "1 ", None, float("nan"), [], [""], [None]]
    assert read_json(*({"text": "A", "label": label} for label in labels)) == [
        *(["1"], ["1"], ["1"], ["0.5"], ["1"]),
        *((f"t.jsonl:{line}", RejectCode.NO_LABEL) for line in range(6, 11)),
    ]


def test_decimals_of_a_database_are_numbers(tmp_path, outcomes):
    numbers = [Decimal("7.00"), Decimal("2.50"), Decimal(10**30 + 1)]
    table = pl.DataFrame({"text": ["A"] * 3, "label": numbers}, schema_overrides={"label": pl.Decimal(38, 2)})
    table.write_parquet(tmp_path / "t.parquet")
    assert found(outcomes("t.parquet")) == [["7"], ["2.5"], [f"{10**30 + 1}"]]

    pairs = pl.DataFrame({"sentence_a": ["A"] * 3, "sentence_b": ["B"] * 3, "score": numbers, "label": numbers})
    pairs.write_parquet(tmp_path / "p.parquet")
    rows = outcomes("p.parquet", dataset="pairs")
    assert [(row.score, row.label) for row in rows] == [(7, "7"), (2.5, "2.5"), (1e30, f"{10**30 + 1}")]


def test_cells_that_are_neither_text_nor_number_are_rejects(tmp_path, outcomes, read_json):
    texts = [["a", "b"], {"x": 1}, True]
    labels = [{"a": 1}, [["a"]], [{"a": 1}]]
    rows = [*({"text": text, "label": "x"} for text in texts), *({"text": "A", "label": label} for label in labels)]
    assert read_json(*rows) == [(f"t.jsonl:{line}", RejectCode.WRONG_COLUMNS) for line in range(1, 7)]

    pl.DataFrame({"text": [b"A" * 99], "label": ["x"]}).write_parquet(tmp_path / "t.parquet")
    (row,) = outcomes("t.parquet")
    assert row.reject.code == RejectCode.WRONG_COLUMNS
    assert row.reject.message == f"t.parquet:1: the cell b'{'A' * 58}… is neither text nor number"


def test_a_number_may_be_part_of_a_text(outcomes):
    (row,) = outcomes("t.jsonl", '{"title": "Of cats", "year": 1999.0, "label": "x"}\n', text=["title", "year"])
    assert row.text == "Of cats: 1999"


def test_half_characters_of_texts_and_labels_are_rejects(read_json):
    rows = [("fine", "x"), ("half \ud800", "y"), ("fine", "l\ud800"), ("fine", ["x", "\udfff"])]
    bad = [(f"t.jsonl:{line}", RejectCode.BAD_ENCODING) for line in (2, 3, 4)]
    assert read_json(*({"text": text, "label": label} for text, label in rows)) == [["x"], *bad]


def test_keys_of_json_lines_may_come_late(read_json):
    late = {"body": "A", "size": "big"}
    assert read_json(*[{"kind": "x"}] * 25, late, text="body", aspects={"kind": "kind", "size": "size"}) == [
        *((f"t.jsonl:{line}", RejectCode.EMPTY_SENTENCE) for line in range(1, 26)),
        ["big"],
    ]
    with refused(ColumnMissing):
        read_json(*[{"text": "A", "kind": "x"}] * 25, {"late": 1}, aspects={"kind": "kind", "size": "size"})


@pytest.mark.parametrize(("name", "sign"), [("t.csv", ","), ("t.tsv", "\t")])
def test_a_column_that_is_read_is_there_once(outcomes, name, sign):
    with refused(ColumnTwice):
        outcomes(name, "text,label, label,note,note\nA,x,y,1,2\n".replace(",", sign))
    assert found(outcomes(name, "text,label,note,note\nA,x,1,2\n".replace(",", sign))) == [["x"]]


def test_an_empty_file_is_refused(outcomes):
    with refused(FileEmpty):
        outcomes("t.tsv", "text\tlabel\n")


@pytest.mark.parametrize(
    "given",
    [
        {"dataset": "pairs", "text": "body"},
        {"dataset": "texts", "columns": {"label": "x"}},
        {"dataset": "mr", "aspects": {"a": "b"}},
    ],
    ids=["pairs", "texts", "lines"],
)
def test_settings_of_the_other_kind_are_refused(given):
    with refused(Conflict):
        CorpusSettings(files={"train": "x"}, **given)
