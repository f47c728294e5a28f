"""Labelled texts: selected, exported, identified, read from a store."""

import polars as pl
import pytest
from sentences import refused

from features.core.faults import ColumnMissing, ReleaseLacks, RowWrong
from training.data.labelled_pairs import LabelledPairs
from training.data.labelled_texts import LabelledTexts
from training.data.measured_pairs import MeasuredPairs
from training.data.parses import Parses
from training.jobs import Source

ROWS = [
    ("Parsing fast.", "papers", "train", "task", "parsing"),
    ("Parsing fast.", "papers", "train", "task", "tagging"),
    ("Parsing fast.", "papers", "train", "area", "language"),
    ("Adam.", "papers", "train", "area", "methodology"),
    ("Seeing far.", "papers", "test", "area", "vision"),
    ("Adam.", "notes", "test", "area", "methodology"),
]


@pytest.fixture
def papers():
    table = pl.DataFrame(ROWS, schema=["text", "corpus", "split", "aspect", "label"], orient="row")
    return LabelledTexts.from_table(table, source={})


def rows_of(data: LabelledTexts) -> list[tuple[str, ...]]:
    return sorted((data.texts[row[0]], *row[1:]) for row in data.labels.iter_rows())


def test_each_text_is_kept_once_and_labels_point_at_their_own(papers):
    assert papers.texts == ("Adam.", "Parsing fast.", "Seeing far.")
    assert papers.aspects == ("area", "task")
    assert rows_of(papers) == sorted(ROWS)


def test_a_row_that_is_there_twice_counts_once(papers):
    table = pl.DataFrame([*ROWS, ROWS[0]], schema=["text", "corpus", "split", "aspect", "label"], orient="row")
    assert LabelledTexts.from_table(table, source={}).digest() == papers.digest()


def test_a_selection_has_the_texts_of_its_labels_only(papers):
    chosen = papers.select(splits=("test",))
    assert chosen.texts == ("Adam.", "Seeing far.")
    assert rows_of(chosen) == sorted(ROWS[4:])
    assert rows_of(papers.select(corpora=("notes",))) == [ROWS[5]]


@pytest.mark.parametrize("suffix", ["parquet", "tsv", "jsonl.gz"])
def test_an_export_reads_as_the_same_texts(papers, tmp_path, suffix):
    path = tmp_path / f"texts.{suffix}"
    papers.export(path)
    found = Source(texts=path).read(LabelledTexts)
    assert (rows_of(found), found.digest()) == (rows_of(papers), papers.digest())


def test_another_label_is_another_digest(papers):
    changed = papers.labels.with_columns(pl.col("label").str.replace("vision", "sight"))
    assert LabelledTexts(papers.texts, changed).digest() != papers.digest()


def test_an_export_that_lacks_a_column_or_a_cell_is_refused(papers, tmp_path):
    path = tmp_path / "texts.parquet"
    papers.export(path)
    table = pl.read_parquet(path)
    table.drop("aspect").write_parquet(path)
    with refused(ColumnMissing):
        LabelledTexts.from_file(path)
    table.with_columns(label=pl.lit(None, dtype=pl.String)).write_parquet(path)
    with refused(RowWrong):
        LabelledTexts.from_file(path)


def test_a_source_of_pairs_has_no_labelled_texts_and_the_other_way_round(tmp_path):
    with refused(ReleaseLacks):
        Source(pairs=tmp_path / "pairs.parquet").read(LabelledTexts)
    with refused(ReleaseLacks):
        Source(texts=tmp_path / "texts.parquet").read(MeasuredPairs)
    with refused(ReleaseLacks):
        Source(texts=tmp_path / "texts.parquet").read(LabelledPairs)
    with refused(ReleaseLacks):
        Source(judged=tmp_path / "judged.parquet").read_parses(Parses, ["A man sleeps"])
