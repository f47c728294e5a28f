"""Rejected rows are reported with what is needed to fix them: file, line, code and text."""

import gzip
import itertools
from pathlib import Path

import polars as pl
import pytest
from sentences import refused

from features.core.faults import TableFileDamaged, UnknownName
from features.core.types import RejectCode
from features.corpora.settings import CorpusSettings
from features.ingest.rejected_rows import REJECTED, rejected_rows
from features.schemas import Reject, StageOutput, rejects_frame
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store
from tests.features.ingest.ingests import run

CORPORA = (CorpusSettings(dataset="pairs", name="mine", files={"train": "p.tsv"}),)
ROWS = (
    "sentence_a\tsentence_b\tscore",
    "A boy sleeps.\tA girl sleeps.\t3",
    "\tA girl runs.\t2",
    "A dog barks.\tA cat waits.\t2:1: many",
    "A boy sleeps.\tA bird sings.\t1",
    "A bird sings.\tOne two three four five six seven.\t1",
    "A horse eats.\tA child plays.\t2",
)


def rejecting(folder: Path, rejects: list[Reject]) -> Store:
    """Return a store with rejects of ingest alone."""
    store, recipe = Store.open(folder / "store", create=True), Recipe("ingest")
    receipt = store.write_rejects("ingest", "ingest", fingerprint(recipe, []), rejects_frame(rejects))
    store.commit([receipt], run_id="r", recipes={"ingest": recipe})
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with rejects of ingest, of a sentence, and of a positive and a negative pair."""
    (tmp_path / "p.tsv").write_text("\n".join(ROWS) + "\n")
    store = Store.open(tmp_path / "store", create=True)
    found = run(tmp_path, *CORPORA, max_words=6)
    recipes = {name: Recipe(name) for name in ("sentences", "pairs", "ingest", "amr", "metrics")}
    marks = {name: fingerprint(recipe, []) for name, recipe in recipes.items()}
    receipts = [
        store.write_shard(table, shard, marks[table], StageOutput(rows))
        for table, shards in (("sentences", found.tables["sentences"]), ("pairs", found.tables["pairs"]))
        for shard, rows in shards.items()
    ]
    receipts.append(store.write_rejects("ingest", "ingest", marks["ingest"], rejects_frame(found.rejects)))
    bird = next(
        id_ for rows in found.tables["sentences"].values() for id_, text in rows.iter_rows() if text == "A bird sings."
    )
    pairs = pl.concat(found.tables["pairs"].values())
    chosen = [pairs.filter(sentence_b=bird, kind="positive")["pair_id"][0], pairs.filter(kind="negative")["pair_id"][0]]
    of_stages = {
        "amr": [Reject(bird, RejectCode.NO_GRAPH, "no graph of 'At 20:45: rain.'")],  # which is no file and line
        "metrics": [Reject(pair, RejectCode.MISSING_PARSE, "no graph of one") for pair in chosen],
    }
    receipts += [store.write_rejects(stage, "s", marks[stage], rejects_frame(of)) for stage, of in of_stages.items()]
    store.commit(receipts, run_id="r", recipes=recipes)
    return store


def test_file_line_code_and_text_of_every_reject(store: Store, tmp_path: Path) -> None:
    rows = rejected_rows(store, CORPORA, tmp_path)

    assert rows.schema == pl.Schema(REJECTED)
    found = rows.select("stage", "code", "file", "line", "text", "other_text").rows()
    negative = next(row for row in found if row[:2] == ("metrics", "missing_parse") and row[2:4] != ("p.tsv", 5))
    found.remove(negative)
    assert found == [
        ("amr", "no_graph", "p.tsv", 5, "A bird sings.", None),
        ("ingest", "bad_score", "p.tsv", 4, "A dog barks. | A cat waits. | 2:1: many", None),
        ("ingest", "empty_sentence", "p.tsv", 3, " | A girl runs. | 2", None),
        ("ingest", "sentence_too_long", "p.tsv", 6, "A bird sings. | One two three four five six seven. | 1", None),
        ("metrics", "missing_parse", "p.tsv", 5, "A boy sleeps.", "A bird sings."),
    ]
    lines = [line for line, row in enumerate(ROWS, start=1) if negative[4] in row.split("\t")]
    assert negative[2:4] == ("p.tsv", lines[0]), "a negative is in no file, but its sentences are"
    assert rows.filter(stage="ingest")["message"].str.contains("p.tsv").sum() == 0


def test_rejects_are_chosen_by_stage_and_code(store: Store, tmp_path: Path) -> None:
    assert rejected_rows(store, CORPORA, tmp_path, stage="ingest", code="bad_score").height == 1
    none = Store.open(tmp_path / "without rejects", create=True)
    for where, wrong in itertools.product((store, none), ({"stage": "arm"}, {"code": "bad_scores"})):
        with refused(UnknownName):
            rejected_rows(where, CORPORA, tmp_path, **wrong)
    assert rejected_rows(none, CORPORA, tmp_path, stage="amr", code="no_graph").is_empty()


def test_rejects_are_told_without_their_corpora(store: Store, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").unlink()

    rows = rejected_rows(store, CORPORA, tmp_path)

    assert rows.height == 6
    assert rows.filter(stage="amr").select("file", "line", "text").row(0) == (None, None, "A bird sings.")
    assert rows.filter(code="bad_score").select("file", "line", "text").row(0) == ("p.tsv", 4, None)


def test_rows_of_texts_have_their_file_and_line(store: Store, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("text\tlabel\nA fish swims.\tno\nA bird sings.\tyes\n")

    rows = rejected_rows(store, [CorpusSettings(dataset="texts", files={"train": "t.tsv"})], tmp_path, stage="amr")

    assert rows.select("file", "line", "text").rows() == [("t.tsv", 3, "A bird sings.")]


def test_a_source_that_was_cut_off_since_shows_no_lines(tmp_path: Path) -> None:
    (tmp_path / "p.tsv.gz").write_bytes(gzip.compress("\n".join(ROWS).encode())[:-12])
    store = rejecting(tmp_path, [Reject("p.tsv.gz:30", RejectCode.EMPTY_SENTENCE, "p.tsv.gz:30: empty")])
    corpus = CorpusSettings(dataset="pairs", files={"train": "p.tsv.gz"})

    rows = rejected_rows(store, [corpus], tmp_path)

    assert rows.select("file", "line", "text").rows() == [("p.tsv.gz", 30, None)]


def test_rows_that_are_not_lines_show_none(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"annotations": [{"image_id": 1, "caption": " "}]}')
    pl.DataFrame({"sentence_a": [""], "sentence_b": ["B"]}).write_parquet(tmp_path / "P.PARQUET")
    files = {"coco": "c.json", "pairs": "P.PARQUET"}
    corpora = [CorpusSettings(dataset=dataset, files={"train": file}) for dataset, file in files.items()]
    store = rejecting(tmp_path, run(tmp_path, *corpora).rejects)

    rows = rejected_rows(store, corpora, tmp_path)

    assert rows.select("file", "line", "text").rows() == [("P.PARQUET", 1, None), ("c.json", 1, None)]


@pytest.mark.parametrize("table", ["pairs", "sentences"])
def test_a_damaged_table_is_named(store: Store, tmp_path: Path, table: str) -> None:
    for file in (Path(store.location) / "tables" / table).rglob("*.parquet"):
        file.write_bytes(b"PAR1" + b"\xff" * (file.stat().st_size - 4))

    with refused(TableFileDamaged):
        rejected_rows(store, CORPORA, tmp_path)
