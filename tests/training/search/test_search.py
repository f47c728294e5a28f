"""Which encoder searches, and which texts."""

import os
import threading

import numpy as np
import polars as pl
import pytest

from features.core.errors import InputError, ModelError
from training.encoders.loading import load_encoder, routes_in
from training.nearest import unit
from training.search import vectors
from training.search.choosing import aspects_of, choose_encoder, task_of
from training.search.texts import texts_of_file
from training.search.vectors import embed, embed_in_parts


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


def test_a_run_that_was_not_promoted_is_named_where_none_in_use_fits(runs, routed_encoder, add_run):
    add_run(runs, "routed", routed_encoder, {"kind": "aspect", "aspects": ["animal", "place"]})
    (runs / "routed/00001-abcdef").rename(runs / "routed/00002-abcdef")
    add_run(runs, "routed", routed_encoder, {"kind": "aspect", "aspects": ["animal"]})
    for name in ("modules.json", "router_config.json"):  # one without routes
        (runs / "routed/00001-abcdef/seed-0/encoder" / name).unlink(missing_ok=True)
    (runs / "routed/current").symlink_to("00001-abcdef/seed-0", target_is_directory=True)
    with pytest.raises(ModelError, match=r"No encoder in use .* routed/00002-abcdef/seed-0 was, but was not promoted"):
        choose_encoder(runs, None, "place")
    assert choose_encoder(runs, None, "animal", among=["routed"]).name == "routed"
    assert choose_encoder(runs, None, "animal", among=["animals", "new"]).name == "animals"


def test_an_aspect_that_no_encoder_knows_is_refused_with_those_that_there_are(runs):
    with pytest.raises(ModelError) as error:
        choose_encoder(runs, None, "place")
    assert str(error.value).startswith(
        "No encoder of the project was trained for the aspect 'place'; there are: animals for animal. Train one"
    )


def test_a_link_to_a_run_that_is_gone_is_told(runs):
    (runs / "animals" / "current").symlink_to("00009-abcdef/seed-0")
    with pytest.raises(ModelError, match=r"'animals/current' in .* is a link to '00009-abcdef/seed-0', which is gone"):
        choose_encoder(runs, "animals/current", None)


def test_an_encoder_of_the_project_file_without_a_training_is_told_from_an_unknown_one(runs):
    with pytest.raises(ModelError, match=r"file has the encoder 'new', .*: `facetflow train new` makes one"):
        choose_encoder(runs, "new", None, among=["animals", "new"])
    with pytest.raises(ModelError, match=r"has new for it, but no finished training: `facetflow train new` makes one"):
        choose_encoder(runs, None, "place", among=["animals", "new"], for_aspect=["new"])


@pytest.mark.parametrize(
    ("name", "aspect", "said"),
    [
        ("plain", "animal", "was trained for no aspect, not for 'animal'; leave the aspect out"),
        ("together", "animal", "was trained for animal and place, not for 'animal'; leave the aspect out"),
        ("anmals", None, r"'anmals' is not an encoder of the project \(there are: animals, plain, together\), a"),
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
    with pytest.raises(ModelError, match="no project here with an encoder for an aspect: give --encoder"):
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
        unit(np.concatenate(list(embed_in_parts(model, texts, task, lambda done, total: told.append((done, total))))))
        for task in ("animal", "place")
    )
    np.testing.assert_array_equal(embed(model, texts, "place"), place)
    assert animal[0] @ animal[2] > 0.99 > animal[0] @ animal[1]
    assert place[0] @ place[1] > 0.99
    assert told[:3] == [(0, 3), (2, 3), (3, 3)]


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
        ("a.csv", "id,text\n2,a cat\n,a dog\n", (), (("a cat", "a dog"), ("2", "row 2"), 0)),
        ("a.csv", "id,text\n007,1.50\n008,2e3\n", (), (("1.50", "2e3"), ("007", "008"), 0)),
        ("a.tsv", '"id"\t"text"\n"x"\t"a ""red"" cat"\n', (), (('a "red" cat',), ("x",), 0)),
    ],
    ids=["lines", "table", "columns", "json", "gap", "numbers", "quotes"],
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
        ("a.txt", b"a cat\n", ("name",), "read as one text per line, so it has no column 'name'; give a table"),
        ("a.json", b'[\n{"text": "a cat"}\n]\n', (), "write one JSON object a line and name it .jsonl"),
        ("a.xlsx", b"PK", ("text",), "save the sheet as .csv"),
        ("a.tsv", b"name\tabout\na\tb\n", (), "has no column 'text'; it has 'name', 'about': name the one with the"),
        ("a.tsv", b"text\n", (), "has no text; give a file with at least one"),
        ("a.parquet", b"no parquet", (), "is not a Parquet file"),
        (
            "b.tsv",
            b"text\tname\na cat\n",
            (),
            r"has no text \('.*b.tsv', line 2: the row has 1 cell; expected 2\); give",
        ),
    ],
    ids=[
        "empty",
        "blank",
        "binary",
        "column of lines",
        "document",
        "sheet",
        "missing column",
        "no row",
        "damaged",
        "wrong rows",
    ],
)
def test_a_file_without_texts_is_refused(tmp_path, name, content, columns, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        texts_of_file(tmp_path / name, columns)


def test_rows_that_are_wrong_are_left_out_with_their_line_and_reason(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("text\tname\na cat\tx\na dog\n\ty\na cow\tz\n")
    read = texts_of_file(file)
    assert (read.texts, read.ids, read.empty) == (("a cat", "a cow"), ("1", "4"), 1)
    assert read.wrong == (f"{str(file)!r}, line 3: the row has 1 cell; expected 2",)


def test_a_table_may_come_from_a_named_pipe(tmp_path):
    pipe = tmp_path / "a.tsv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("id\ttext\n007\ta cat\n008\n",))
    writer.start()
    read = texts_of_file(pipe)
    writer.join()
    assert (read.texts, read.ids) == (("a cat",), ("007",))
    assert read.wrong == (f"{str(pipe)!r}, line 3: the row has 1 cell; expected 2",)


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("text\ttext\na\tb\n")
    with pytest.raises(InputError, match=r"has the column 'text' more than once: keep one"):
        texts_of_file(tmp_path / "a.tsv")


def test_numbers_in_a_column_are_texts(tmp_path):
    pl.DataFrame({"text": [1, 2], "id": [None, 5]}).write_parquet(tmp_path / "a.parquet")
    read = texts_of_file(tmp_path / "a.parquet")
    assert (read.texts, read.ids) == (("1", "2"), ("row 1", "5"))
