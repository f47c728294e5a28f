"""Which encoder searches, which texts, and what of their vectors is kept."""

import os

import numpy as np
import polars as pl
import pytest

from features.errors import InputError, ModelError
from training.encoders.loading import load_encoder, routes_in
from training.search import vectors
from training.search.choosing import aspects_of, choose_encoder, task_of
from training.search.texts import texts_of_file
from training.search.vectors import embed, kept_vectors


def test_an_aspect_chooses_the_encoder_that_was_trained_for_it_alone(runs):
    chosen = choose_encoder(runs, None, "animal")
    assert (chosen.name, chosen.task) == ("animals", None)
    assert chosen.folder == runs / "animals/00001-abcdef/seed-0/encoder"


def test_an_aspect_chooses_the_route_of_an_encoder(runs, routed_encoder, add_run):
    add_run(runs, "routed", routed_encoder, {"kind": "aspect", "aspects": ["animal", "place"]})
    chosen = choose_encoder(runs, None, "place")
    assert (chosen.name, chosen.task) == ("routed", "place")
    with pytest.raises(ModelError) as error:
        choose_encoder(runs, None, "animal")
    assert str(error.value) == (
        "Several encoders were trained for the aspect 'animal': animals, routed. Choose one with --encoder."
    )
    assert choose_encoder(runs, "routed", "animal").task == "animal"


def test_an_aspect_that_no_encoder_knows_is_refused_with_those_that_there_are(runs):
    with pytest.raises(ModelError) as error:
        choose_encoder(runs, None, "place")
    assert str(error.value).startswith(
        "No encoder of the project was trained for the aspect 'place'; there are: animals for animal. Train one"
    )


@pytest.mark.parametrize(
    ("name", "aspect", "said"),
    [
        ("plain", "animal", "was trained for no aspect, not for 'animal'; leave the aspect out"),
        ("together", "animal", "was trained for animal and place, not for 'animal'; leave the aspect out"),
        ("anmals", None, r"'anmals' is no encoder of the project \(there are: animals, plain, together\), no folder"),
    ],
    ids=["no aspect", "two together", "unknown"],
)
def test_an_encoder_that_does_not_fit_is_refused(runs, name, aspect, said):
    with pytest.raises(ModelError, match=said):
        choose_encoder(runs, name, aspect)


def test_an_encoder_is_named_by_its_run_by_its_folder_or_by_that_of_its_run(runs, word_encoder):
    run = runs / "together/00001-abcdef/seed-0"
    assert choose_encoder(runs, "together/00001-abcdef/seed-0", None).folder == run / "encoder"
    assert choose_encoder(None, str(run), None).folder == run / "encoder"
    assert choose_encoder(None, "encoder", None, word_encoder.parent).folder == word_encoder
    assert choose_encoder(runs, "animals", "animal").task is None


def test_without_a_project_or_with_a_folder_of_something_else_it_is_said_what_to_do(tmp_path):
    with pytest.raises(ModelError, match="no project here whose encoder could search: name one with --encoder"):
        choose_encoder(None, None, "animal")
    with pytest.raises(ModelError, match=r"holds no encoder \(there is no modules\.json\)"):
        choose_encoder(None, str(tmp_path), None)


def test_routes_are_read_from_the_files_of_an_encoder(routed_encoder, word_encoder, tmp_path):
    assert routes_in(routed_encoder) == aspects_of(routed_encoder) == ("animal", "place")
    assert routes_in(word_encoder) == routes_in(tmp_path) == ()
    for aspect, said in ((None, "choose one by --aspect"), ("colour", "there is none for 'colour'")):
        with pytest.raises(ModelError, match=f"has a route for each of animal, place: {said}"):
            task_of(routed_encoder, aspect)
    (tmp_path / "modules.json").write_text("{")
    with pytest.raises(ModelError, match="has damaged files"):
        routes_in(tmp_path)


def test_texts_are_embedded_by_their_route_and_told_as_they_are_done(routed_encoder, monkeypatch):
    model, told = load_encoder(routed_encoder, device="cpu"), []
    monkeypatch.setattr(vectors, "_ENCODED_AT_ONCE", 2)
    texts = ["a cat in the park", "a dog in the park", "a cat"]
    animal, place = (
        embed(model, texts, task, lambda done, total: told.append((done, total))) for task in ("animal", "place")
    )
    assert animal[0] @ animal[2] > 0.99 > animal[0] @ animal[1]
    assert place[0] @ place[1] > 0.99
    assert told[:3] == [(0, 3), (2, 3), (3, 3)]


def test_vectors_are_kept_for_the_same_encoder_route_and_texts_alone(tmp_path, word_encoder):
    asked = []

    def make():
        asked.append(1)
        return np.eye(2, dtype=np.float32)

    def known(task=None, texts=("a", "b"), folder=tmp_path):
        kept_vectors(folder, word_encoder, task, texts, make)
        return len(asked)

    assert [known(), known(), known("x"), known("x"), known(texts=("b", "a")), known(texts=("ab", ""))] == [
        *(1, 1, 2, 2, 3, 4)
    ]
    assert known(folder=None) == 5
    (first, *_) = sorted((tmp_path / vectors.KEPT).iterdir(), key=lambda file: file.stat().st_mtime_ns)
    first.write_bytes(first.read_bytes()[:20])
    assert known() + known() + known("x") + known(texts=("b", "a")) == 4 * 6  # one was damaged, and is made again
    (tmp_path / "file").write_text("")
    assert known(folder=tmp_path / "file") == 7  # nothing can be kept there, and the search goes on


def test_what_was_not_used_for_the_longest_time_goes_when_there_is_too_much(tmp_path, word_encoder, monkeypatch):
    monkeypatch.setattr(vectors, "_MOST_BYTES", 600)  # two files of 32 numbers and a header

    def search(text):
        kept_vectors(tmp_path, word_encoder, None, [text], lambda: np.ones((1, 32), np.float32))
        files = sorted((tmp_path / vectors.KEPT).iterdir(), key=lambda file: file.stat().st_mtime_ns)
        for age, file in enumerate(reversed(files), start=1):
            os.utime(file, (1000 - age, 1000 - age))
        return {file.name for file in files}

    (tmp_path / vectors.KEPT).mkdir()
    (tmp_path / vectors.KEPT / ".abc.npy.1f.tmp").write_text("a search was killed here")
    (first,) = search("a")
    (second,) = search("b") - {first}
    assert search("a") == {first, second}
    assert search("c") > {first}
    assert second not in search("c")


@pytest.mark.parametrize(
    ("name", "content", "columns", "found"),
    [
        ("a.txt", "a cat\n\n  a   dog \n", (), (("a cat", "a dog"), ("1", "3"), 1)),
        ("a.tsv", "id\ttext\nx\ta cat\ny\t\n", (), (("a cat",), ("x",), 1)),
        (
            "a.csv",
            'name,about\nCat,"a cat, red"\nDog,\n',
            ("name", "about"),
            (("Cat: a cat, red", "Dog"), ("1", "2"), 0),
        ),
        ("a.jsonl", '{"text": "a cat", "id": 7}\n', (), (("a cat",), ("7",), 0)),
    ],
    ids=["lines", "table", "columns", "json"],
)
def test_texts_of_a_file_keep_their_ids(tmp_path, name, content, columns, found):
    (tmp_path / name).write_text(content)
    read = texts_of_file(tmp_path / name, columns)
    assert (read.texts, read.ids, read.empty) == found


@pytest.mark.parametrize(
    ("name", "content", "columns", "said"),
    [
        ("a.txt", b"", (), "is empty"),
        ("a.txt", b"\n\n", (), "has no sentence"),
        ("a.txt", b"\x00\x01", (), "not UTF-8 text"),
        ("a.txt", b"a cat\n", ("name",), "read as a text with a line each, so it has no column 'name'; give a table"),
        ("a.tsv", b"name\tabout\na\tb\n", (), "has no column 'text'; it has 'name', 'about': name the one with the"),
        ("a.tsv", b"text\n", (), "has no text; give a file with one at least"),
        ("a.parquet", b"no parquet", (), "is not a valid parquet table"),
    ],
    ids=["empty", "blank", "binary", "column of lines", "missing column", "no row", "damaged"],
)
def test_a_file_without_texts_is_refused(tmp_path, name, content, columns, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        texts_of_file(tmp_path / name, columns)


def test_numbers_in_a_column_are_texts(tmp_path):
    pl.DataFrame({"text": [1, 2], "id": [None, 5]}).write_parquet(tmp_path / "a.parquet")
    read = texts_of_file(tmp_path / "a.parquet")
    assert (read.texts, read.ids) == (("1", "2"), ("1", "5"))
