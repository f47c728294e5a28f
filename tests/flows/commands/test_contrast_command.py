"""`facetflow contrast`: a corpus that a build reads, of a file or of the training pairs of a release."""

import polars as pl
import pytest

from features.core.faults import ReleaseLacks, TooFewTexts, UnknownTexts
from flows.command_line import run

SENTENCES = "The dog chased two cats.\n\nA man is playing a guitar.\nThe dog chased two cats.\nHello\n"


@pytest.fixture
def folder(tmp_path, monkeypatch, needs_model):
    """Go to an empty folder with a file of sentences."""
    needs_model("en_core_web_md")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentences.txt").write_text(SENTENCES)
    return tmp_path


def test_sentences_of_a_file_become_a_corpus(folder, capsys):
    assert run(["contrast", "sentences.txt", "-o", "contrasts.tsv"]) == 0
    assert "of 3 sentences" in capsys.readouterr().err
    pairs = pl.read_csv("contrasts.tsv", separator="\t")
    assert pairs.columns == ["sentence_a", "sentence_b", "edit"]
    assert ("The dog chased two cats.", "Two cats chased the dog.", "swap") in pairs.rows()
    assert pairs.is_unique().all()
    (folder / "facetflow.toml").write_text(
        'name = "p"\n[[corpora]]\ndataset = "pairs"\nname = "contrasts"\nfiles = { train = "contrasts.tsv" }\n'
        '[embeddings]\nenabled = false\n[[encoders]]\nkind = "s3bert"\n'
    )
    assert run(["plan"]) == 0
    assert "1 encoder would be trained" in capsys.readouterr().out


def test_each_edit_gives_at_most_as_many_pairs_as_asked_for(folder):
    assert run(["contrast", "sentences.txt", "-o", "contrasts.tsv", "--each", "1"]) == 0
    counts = pl.read_csv("contrasts.tsv", separator="\t").group_by("edit").len()
    edited = dict(counts.iter_rows())
    # Of a sentence, and in both voices of its other voice; and the same of what patient made.
    assert edited.pop("swap") == 6
    assert edited.pop("voice") == 2
    assert set(edited.values()) == {1}


def test_what_cannot_be_edited_is_told(folder, refuses):
    (folder / "words.txt").write_text("Hello\nYes\n")
    refuses(TooFewTexts, "contrast", "words.txt", "-o", "contrasts.tsv")
    assert not (folder / "contrasts.tsv").exists()


def test_without_a_project_a_file_is_asked_for(folder, refuses):
    refuses(UnknownTexts, "contrast", "-o", "contrasts.tsv")


def test_a_release_of_texts_has_no_pairs_to_edit(folder, refuses):
    (folder / "texts.tsv").write_text("text\tlabel\nThe dog chased two cats.\tdog\n")
    corpus = '[[corpora]]\ndataset = "texts"\nname = "t"\nfiles = { train = "texts.tsv" }\n'
    (folder / "facetflow.toml").write_text(f'name = "p"\nencoders = []\n{corpus}')
    assert run(["build"]) == 0
    refuses(ReleaseLacks, "contrast", "-o", "contrasts.tsv")


def test_only_the_edits_that_are_asked_for_are_made(folder):
    assert run(["contrast", "sentences.txt", "-o", "contrasts.tsv", "--edit", "voice", "--edit", "number"]) == 0
    assert set(pl.read_csv("contrasts.tsv", separator="\t")["edit"]) == {"voice", "number"}


def test_edits_that_the_graphs_do_not_show_are_told(folder, capsys, monkeypatch, refuses):
    monkeypatch.setattr("features.graph_files.sentence_graphs.parsed_graphs", lambda *_: ({}, {}))
    assert run(["contrast", "sentences.txt", "-o", "contrasts.tsv"]) == 0
    assert "left out, not shown by the graphs: 16" in capsys.readouterr().err
    refuses(TooFewTexts, "contrast", "sentences.txt", "-o", "none.tsv", "--edit", "voice", "--edit", "swap")
    assert not (folder / "none.tsv").exists()
