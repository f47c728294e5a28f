"""`facetflow encode`: a file of vectors, wrong rows, and what is refused before the model is loaded."""

import polars as pl
import pytest

from features.core.faults import CannotExplain
from flows.command_line import run

TEXTS = ["a cat in the park", "", "two cat"]


@pytest.fixture
def folder(tmp_path, monkeypatch, word_encoder):
    """Go to a folder with an encoder and a file of texts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "encoder").symlink_to(word_encoder)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    return tmp_path


def test_every_row_keeps_its_place(folder, capsys):
    assert run(["encode", "texts.txt", "-o", "v.parquet", "--encoder", "./encoder"]) == 0
    assert "Wrote 3 rows (1 without a text, and without a vector) by ./encoder to" in capsys.readouterr().err
    table = pl.read_parquet("v.parquet")
    assert table["text"].to_list() == TEXTS
    assert table["vector"].is_null().to_list() == [False, True, False]


def test_wrong_rows_are_named(folder, capsys):
    (folder / "texts.tsv").write_text("id\ttext\nx\ta cat\ny\ttwo\tcat\n")
    assert run(["encode", "texts.tsv", "-o", "v.parquet", "--encoder", "./encoder"]) == 2
    assert "'texts.tsv', line 3: the row has 3 cells; expected 2" in capsys.readouterr().err
    assert pl.read_parquet("v.parquet")["id"].to_list() == ["x", "row 2"]


def test_facets_need_an_encoder_that_has_some(folder, refuses):
    refuses(CannotExplain, "encode", "texts.txt", "-o", "v.parquet", "--encoder", "./encoder", "--facets")
    assert not (folder / "v.parquet").exists()
