"""Which encoder searches, and which texts."""

import os
import threading

import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.faults import (
    ColumnMissing,
    ColumnsUnclear,
    ColumnTwice,
    EncoderDamaged,
    EncoderUnfinished,
    FileEmpty,
    NoEncoder,
    NoEncoderForAspect,
    NotText,
    NotThisModel,
    RunGone,
    UnknownForm,
    UnknownFormat,
    UnknownModel,
    WrongRoute,
)
from training.encoders.loading import load_encoder, routes_in
from training.nearest import unit
from training.search import vectors
from training.search.choosing import aspects_of, choose_encoder, named_or_in_use, task_of
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
    with refused(NoEncoderForAspect):
        choose_encoder(runs, None, "animal")
    assert choose_encoder(runs, "routed", "animal").task == "animal"


def test_an_encoder_with_routes_is_named_as_a_whole(runs, routed_encoder, add_run):
    add_run(runs, "routed", routed_encoder, {"kind": "aspect", "aspects": ["animal", "place"]})
    with refused(WrongRoute):
        choose_encoder(runs, "routed", None)
    assert named_or_in_use(runs, "routed") == (runs / "routed/00001-abcdef/seed-0/encoder", "routed")


def test_a_run_that_was_not_promoted_is_named_where_none_in_use_fits(runs, routed_encoder, add_run):
    add_run(runs, "routed", routed_encoder, {"kind": "aspect", "aspects": ["animal", "place"]})
    (runs / "routed/00001-abcdef").rename(runs / "routed/00002-abcdef")
    add_run(runs, "routed", routed_encoder, {"kind": "aspect", "aspects": ["animal"]})
    for name in ("modules.json", "router_config.json"):  # one without routes
        (runs / "routed/00001-abcdef/seed-0/encoder" / name).unlink(missing_ok=True)
    (runs / "routed/current").symlink_to("00001-abcdef/seed-0", target_is_directory=True)
    with refused(NoEncoderForAspect):
        choose_encoder(runs, None, "place")
    assert choose_encoder(runs, None, "animal", among=["routed"]).name == "routed"
    assert choose_encoder(runs, None, "animal", among=["animals", "new"]).name == "animals"


def test_an_aspect_that_no_encoder_knows_is_refused_with_those_that_there_are(runs):
    with refused(NoEncoderForAspect):
        choose_encoder(runs, None, "place")


def test_a_link_to_a_run_that_is_gone_is_told(runs):
    (runs / "animals" / "current").symlink_to("00009-abcdef/seed-0")
    with refused(RunGone):
        choose_encoder(runs, "animals/current", None)


def test_an_encoder_of_the_project_file_without_a_training_is_told_from_an_unknown_one(runs):
    with refused(EncoderUnfinished):
        choose_encoder(runs, "new", None, among=["animals", "new"])
    with refused(NoEncoderForAspect):
        choose_encoder(runs, None, "place", among=["animals", "new"], for_aspect=["new"])


@pytest.mark.parametrize(
    ("name", "aspect", "fault"),
    [
        ("plain", "animal", WrongRoute),
        ("together", "animal", WrongRoute),
        ("anmals", None, UnknownModel),
        ("owner/name", None, UnknownModel),
        ("current", None, UnknownModel),
    ],
    ids=["no aspect", "two together", "unknown", "of the Hub", "of no encoder"],
)
def test_an_encoder_that_does_not_fit_is_refused(runs, name, aspect, fault):
    with refused(fault):
        choose_encoder(runs, name, aspect)


def test_an_encoder_is_named_by_its_run_by_its_folder_or_by_that_of_its_run(runs, word_encoder):
    run = runs / "together/00001-abcdef/seed-0"
    assert choose_encoder(runs, "together/00001-abcdef/seed-0", None).folder == run / "encoder"
    assert choose_encoder(None, str(run), None).folder == run / "encoder"
    assert choose_encoder(runs, "animals", "animal").task is None
    link = runs / "together/current"
    link.symlink_to("00001-abcdef/seed-0")  # which a promotion may turn to another run while that one is read
    for name in (str(link), str(link / "encoder")):
        assert choose_encoder(runs, name, None).folder == run / "encoder"


def test_without_a_project_or_with_a_folder_of_something_else_it_is_said_what_to_do(tmp_path):
    with refused(NoEncoder):
        choose_encoder(None, None, "animal")
    with refused(NotThisModel):
        choose_encoder(None, str(tmp_path), None)
    with refused(NoEncoder):
        choose_encoder(None, str(tmp_path / "current"), None)  # before a promotion
    (tmp_path / "current").mkdir()
    with refused(NotThisModel):
        choose_encoder(None, str(tmp_path / "current"), None)


def test_routes_are_read_from_the_files_of_an_encoder(routed_encoder, word_encoder, tmp_path):
    assert routes_in(routed_encoder) == aspects_of(routed_encoder) == ("animal", "place")
    assert routes_in(word_encoder) == routes_in(tmp_path) == ()
    for aspect in (None, "colour"):
        with refused(WrongRoute):
            task_of(routed_encoder, aspect)
    (tmp_path / "modules.json").write_text("{")
    with refused(EncoderDamaged):
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
    ("name", "content", "columns", "fault"),
    [
        ("a.txt", b"", (), FileEmpty),
        ("a.txt", b"\n\n", (), FileEmpty),
        ("a.txt", b"\x00\x01", (), NotText),
        ("a.txt", b"a cat\n", ("name",), ColumnMissing),
        ("a.json", b'[\n{"text": "a cat"}\n]\n', (), UnknownFormat),
        ("a.xlsx", b"PK", ("text",), UnknownFormat),
        ("a.tsv", b"name\tabout\na\tb\n", (), ColumnMissing),
        ("a.tsv", b"text\na cat\n", ("text", "text"), ColumnsUnclear),
        ("a.tsv", b"text\n", (), FileEmpty),
        ("a.parquet", b"no parquet", (), UnknownForm),
        ("b.tsv", b"text\tname\na cat\n", (), FileEmpty),
    ],
    ids=[
        "empty",
        "blank",
        "binary",
        "column of lines",
        "document",
        "sheet",
        "missing column",
        "column twice",
        "no row",
        "damaged",
        "wrong rows",
    ],
)
def test_a_file_without_texts_is_refused(tmp_path, name, content, columns, fault):
    (tmp_path / name).write_bytes(content)
    with refused(fault):
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
    writer = threading.Thread(target=pipe.write_text, args=("id\ttext\n007\ta cat\n008\n",), daemon=True)
    writer.start()
    read = texts_of_file(pipe)
    writer.join()
    assert (read.texts, read.ids) == (("a cat",), ("007",))
    assert read.wrong == (f"{str(pipe)!r}, line 3: the row has 1 cell; expected 2",)


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("text\ttext\na\tb\n")
    with refused(ColumnTwice):
        texts_of_file(tmp_path / "a.tsv")


def test_numbers_in_a_column_are_texts(tmp_path):
    pl.DataFrame({"text": [1, 2], "id": [None, 5]}).write_parquet(tmp_path / "a.parquet")
    read = texts_of_file(tmp_path / "a.parquet")
    assert (read.texts, read.ids) == (("1", "2"), ("row 1", "5"))
