"""Bad input: a wrong row is a reject with file, line and what was expected; a wrong file is one clear sentence."""

import gzip
import json
import os

import pyarrow.parquet
import pytest
from sentences import refused

from features.core.faults import (
    ColumnMissing,
    ColumnTwice,
    Conflict,
    EmptySetting,
    FileEmpty,
    FileMissing,
    GzipWrong,
    NotAFile,
    NothingToScore,
    NotParallel,
    NotText,
    RowWrong,
    SplitUnclear,
    UnknownForm,
    UnknownFormat,
    UnknownKey,
    UnknownName,
    WrongValue,
)
from features.core.types import RejectCode as Code
from features.corpora.reading import read_evaluation
from features.corpora.settings import CorpusSettings, EvaluationSet

STSB = "main-news\theadlines\t2015\t0001\t{}\t{}\t{}\n"


def parquet(row, names):
    buffer = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table([[cell] for cell in row], names), buffer)
    return buffer.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("score", "a", "b", "code", "says"),
    [
        ("five", "A cat.", "A dog.", Code.BAD_SCORE, "'five' is not a number; expected a number from 0 to 5"),
        ("5.1", "A cat.", "A dog.", Code.BAD_SCORE, "'5.1' is out of range"),
        ("-1", "A cat.", "A dog.", Code.BAD_SCORE, "out of range"),
        ("nan", "A cat.", "A dog.", Code.BAD_SCORE, "'nan' is not a number"),
        ("", "A cat.", "A dog.", Code.BAD_SCORE, "the score is empty"),
        ("1_0", "A cat.", "A dog.", Code.BAD_SCORE, "is not a number"),
        ("４", "A cat.", "A dog.", Code.BAD_SCORE, "is not a number"),
        pytest.param("1" * 10**6 + "x", "A cat.", "A dog.", Code.BAD_SCORE, "is not a number", id="in linear time"),
        ("x" * 999, "A cat.", "A dog.", Code.BAD_SCORE, f"the score '{'x' * 299}… is not a number"),
        ("5.0", " ", "A dog.", Code.EMPTY_SENTENCE, "a sentence is empty"),
        ("5.0", "A cat.", "", Code.EMPTY_SENTENCE, "a sentence is empty"),
    ],
)
def test_a_bad_cell_is_a_reject_and_the_file_goes_on(read, score, a, b, code, says):
    good = STSB.format("4.0", "A cat.", "Cats.")
    rows, rejects = read("sts.csv", good + STSB.format(score, a, b) + "\n" + good, "stsb")

    assert [row.origin for row in rows] == ["sts.csv:1", "sts.csv:4"]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("sts.csv:2", code)]
    assert rejects[0].message.startswith("sts.csv:2: ")
    assert says in rejects[0].message


def test_a_row_with_too_few_cells_says_how_many(read):
    _, rejects = read("sts.csv", STSB.format("4", "A cat.", "Cats.") + "main-news\t4\tA cat.\n", "stsb")

    assert [(reject.entity_id, reject.code) for reject in rejects] == [("sts.csv:2", Code.WRONG_COLUMNS)]
    assert "3 cells; expected 7 or more" in rejects[0].message


def test_a_column_that_names_no_images_is_told_before_all_rows_are_paired(read):
    rows = "".join(f"x\t{n}\tText {n}\n" for n in range(2001))
    with refused(UnknownForm):
        read("c.tsv", f"image\tcaption_id\tcaption\n{rows}", "flickr30k")


def test_a_tab_inside_a_sentence_is_a_reject_below_a_header_line(read):
    rows, rejects = read("p.tsv", "sentence_a\tsentence_b\nA\tB\nA\tB\tC\n")

    assert len(rows) == 1
    assert "3 cells; expected 2" in rejects[0].message


@pytest.mark.parametrize(
    ("dataset", "header", "row", "says"),
    [
        ("sick", "sentence_A\tsentence_B\trelatedness_score\tentailment_judgment", "A\tB\t3\tYES", "'YES' is unknown"),
        ("snli", "sentence1\tsentence2\tgold_label", "A\tB\tentails", "expected one of entailment, neutral"),
        ("qqp", "question1\tquestion2\tis_duplicate", "A\tB\t", "'' is unknown; expected one of 0, 1"),
        ("twitter_url", "sentence1\tsentence2\tvotes", "A\tB\t(4, 5)", "'(4, 5)' is not a vote; expected (n, 6)"),
        ("twitter_url", "sentence1\tsentence2\tvotes", "A\tB\t(7, 6)", "'(7, 6)' is not a vote; expected (n, 6)"),
    ],
)  # fmt: skip
def test_a_bad_label_is_a_reject(read, dataset, header, row, says):
    _, rejects = read("rows.tsv", f"{header}\n{row}\n", dataset, labels="all")

    assert [(reject.entity_id, reject.code) for reject in rejects] == [("rows.tsv:2", Code.BAD_LABEL)]
    assert says in rejects[0].message


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("empty.tsv", b"", FileEmpty),
        ("header.tsv", b"sentence_a\tsentence_b\n", FileEmpty),
        ("latin.tsv", "sentence_a\tsentence_b\nnaïve\tcafé\n".encode("latin-1"), NotText),
        ("utf16.tsv", "sentence_a\tsentence_b\nA\tB\n".encode("utf-16"), NotText),
        ("columns.tsv", b"text1\ttext2\nA\tB\n", ColumnMissing),
        ("commas.tsv", b"sentence_a,sentence_b\nA,B\n", UnknownForm),
        ("tabs.csv", b"sentence_a\tsentence_b\nA\tB\n", UnknownForm),
        ("sheet.csv", b"sentence_a;sentence_b\nA;B\n", UnknownForm),
        ("json.tsv", b'{"sentence_a": "A"}\n', UnknownForm),
        ("array.jsonl", b'[{"sentence_a": "A"}]\n', UnknownForm),
        ("arrays.jsonl", b'["A", "B"]\n["C", "D"]\n', UnknownForm),
        ("tabs.jsonl", b"sentence_a\tsentence_b\nA\tB\n", UnknownForm),
        ("latin_header.csv", "naïve;b\nA;B\n".encode("latin-1"), UnknownForm),
        ("mac.tsv", b"sentence_a\tb\rA\tB\rC\tD\r", UnknownForm),
        ("zipped.tsv", gzip.compress(b"sentence_a\tsentence_b\nA\tB\n", mtime=0), GzipWrong),
        ("null.tsv", b"sentence_a\tsentence_b\nA\tB\nA\x00\tB\n", NotText),
        ("cased.tsv", b"Sentence_B\tsentence_a\nA\tB\n", ColumnMissing),
        ("alike.tsv", b"Sentence A\tsentence_B\nA\tB\n", ColumnMissing),
        ("numbered.tsv", b"sentence1\tsentence2\tscore\nA\tB\t1\n", ColumnMissing),
        ("sheet.xlsx", b"PK", UnknownFormat),
        ("twice.tsv", b"sentence_a\tsentence_b\tlabel\tlabel\nA\tB\tx\ty\n", ColumnTwice),
        ("pairs.json", b"[]", UnknownFormat),
        ("pairs.xlsx", b"sentence_a\tsentence_b\nA\tB\n", UnknownFormat),
        ("pairs.parquet", b"no parquet", UnknownForm),
        ("twice.parquet", parquet(["A", "B", "C"], ["a", "b", "b"]), ColumnTwice),
        ("pairs.jsonl", b'{"a": 1}\n', ColumnMissing),
        ("cut.tsv.gz", gzip.compress(b"sentence_a\tsentence_b\n" + b"A\tB\n" * 999, mtime=0)[:-20], GzipWrong)],
    ids=lambda value: "data" if isinstance(value, bytes) else None,  # gzip's differ by version of Python
)  # fmt: skip
def test_a_file_that_is_wrong_as_a_whole_is_one_sentence(read, name, data, fault):
    with refused(fault):
        read(name, data)


@pytest.mark.parametrize(
    ("dataset", "name", "data", "fault"),
    [
        ("stsb", "a.csv", b"5.0,A.,B.\n", UnknownForm),
        ("coco", "a.json", b'{"images": []}', UnknownForm),
        ("coco", "a.json", b'{"annotations": {}}', UnknownForm),
        ("coco", "a.json", b'{"annotations": [', UnknownForm),
        ("coco", "a.json", b'{"annotations": ' + b"[" * 100_000, UnknownForm),
        ("flickr30k", "a.token", b"9.jpg One\n", UnknownForm),
        ("flickr30k", "a.tsv", b"image\tcaption1\tcaption2\n", FileEmpty),
        ("flickr30k", "a.tsv", b"file\tcaption1\tcaption2\n9.jpg\tA\tB\n", UnknownForm),
        ("sts12", "STS.input.a.txt", b"A\tB\n", FileMissing),
        ("sts12", "a.txt", b"A\n", UnknownForm),
    ],
)
def test_a_file_in_another_form_says_what_was_expected(read, dataset, name, data, fault):
    with refused(fault):
        read(name, data, dataset)


def test_of_thousands_of_columns_the_first_are_shown(read):
    with refused(UnknownForm):
        read("wide.tsv", "\t".join(f"c{n}" for n in range(5000)) + "\n", "snli")


def test_scores_of_a_second_file_must_correspond(tmp_path, read):
    (tmp_path / "STS.input.a.txt").write_text("A\tB\nC\tD\n")
    (tmp_path / "STS.gs.a.txt").write_text("5\n")

    with refused(NotParallel):
        read("STS.input.a.txt", dataset="sts12")


def test_bad_captions_are_rejects_and_the_others_are_paired(read):
    table = "image\tcaption1\tcaption2\tcaption3\n1.jpg\tA\t\tC\n2.jpg\tA\tB\n\tA\tB\tC\n"
    tokens = "1.jpg#0\tÄ\n1.jpg#1\n#2\tB\n1.jpg#3\tÖ\n1.jpg#4\t".encode() + b"\xef\n"
    nowhere = {"image_id": None, "caption": "C"}
    annotations = [{"image_id": 1, "caption": "A"}, {"image_id": 1}, {"image_id": 1, "caption": "B"}, nowhere, nowhere]

    rows, rejects = read("c.tsv", table, "flickr30k")
    assert [(row.text_a, row.text_b) for row in rows] == [("A", "C")]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("c.tsv:2", Code.EMPTY_SENTENCE),
        ("c.tsv:3", Code.WRONG_COLUMNS),
        ("c.tsv:4", Code.WRONG_COLUMNS),
    ]
    rows, rejects = read("c.token", tokens, "flickr30k")
    assert [(row.text_a, row.text_b) for row in rows] == [("Ä", "Ö")]
    assert [reject.entity_id for reject in rejects] == ["c.token:2", "c.token:3", "c.token:5"]
    rows, rejects = read("c.json", json.dumps({"annotations": annotations}), "coco")
    assert [(row.text_a, row.text_b) for row in rows] == [("A", "B")]
    assert [reject.entity_id for reject in rejects] == ["c.json:2", "c.json:4", "c.json:5"]


def test_parsed_pairs_must_be_parallel_and_have_their_sentences(tmp_path, read):
    (tmp_path / "a.amr").write_text("# ::snt A cat.\n(c / cat)\n\n# ::id 2\n(d / dog)\n\n# ::snt A bird.\n(b / bird\n")
    (tmp_path / "b.amr").write_text("# ::snt Cats.\n(c / cat)\n\n# ::snt Dogs.\n(d / dog)\n\n# ::snt Birds.\n(b / b)\n")
    (tmp_path / "short.amr").write_text("# ::snt Cats.\n(c / cat)\n")

    rows, rejects = read(("a.amr", "b.amr"), dataset="penman")
    # A broken graph still has its sentence: the parse stage rejects the graph.
    assert [(row.text_a, row.text_b) for row in rows] == [("A cat.", "Cats."), ("A bird.", "Birds.")]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("a.amr:4", Code.EMPTY_SENTENCE)]
    for both in (("a.amr", "short.amr"), ("short.amr", "a.amr")):
        with refused(NotParallel):
            read(both, dataset="penman")
    with refused(SplitUnclear):
        read("a.amr", dataset="penman")


@pytest.mark.parametrize("sentence", [b"Caf\xe9.", b"A\0B."])
def test_a_sentence_of_a_parsed_pair_that_is_not_utf8_is_a_reject(tmp_path, read, sentence):
    good = b"# ::snt A cat.\n(c / cat)\n\n" * 200
    (tmp_path / "a.amr").write_bytes(good + b"# ::snt " + sentence + b"\n(c / cat)\n")
    (tmp_path / "b.amr").write_bytes(good + b"# ::snt B.\n(c / cat)\n")

    rows, rejects = read(("a.amr", "b.amr"), dataset="penman")

    assert len(rows) == 200
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("a.amr:601", Code.BAD_ENCODING)]


def test_an_unknown_split_in_a_column_is_a_reject(read):
    rows, rejects = read("p.tsv", "sentence_a\tsentence_b\tsplit\nA\tB\ttrain\nA\tB\ttrian\n")

    assert len(rows) == 1
    assert "'trian' is unknown; expected one of train, dev, test" in rejects[0].message


def test_one_file_for_two_splits_needs_a_column_with_the_split(tmp_path, rows_and_rejects):
    (tmp_path / "p.tsv").write_text("sentence_a\tsentence_b\tsplit\nA\tB\ttrain\nC\tD\tdev\n")
    (tmp_path / "q.tsv").write_text("sentence_a\tsentence_b\nA\tB\n")

    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv", "dev": "p.tsv"})
    assert [(row.split, row.text_a) for row in rows] == [("train", "A"), ("dev", "C")]
    with refused(SplitUnclear):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "q.tsv", "dev": "q.tsv"})
    with refused(SplitUnclear):
        rows_and_rejects(tmp_path, dataset="flickr30k", files={"train": "q.tsv", "dev": "q.tsv"})


def test_labels_cannot_be_chosen_from_a_file_without_them(read):
    with refused(ColumnMissing):
        read("p.tsv", "sentence_a\tsentence_b\nA\tB\n", labels=["1"])


def test_a_missing_file_is_named_with_the_key_that_names_it(tmp_path, rows_and_rejects):
    with refused(FileMissing):
        rows_and_rejects(tmp_path, dataset="pairs", name="mine", files={"dev": "dev.tsv"})
    evaluation = EvaluationSet(dataset="stsb", file="sts-test.csv")
    with refused(FileMissing):
        read_evaluation(evaluation, tmp_path)


@pytest.mark.parametrize("name", ["a.tsv", "a*.tsv"])
def test_a_link_to_a_file_that_is_gone_is_named(tmp_path, read, name):
    (tmp_path / name).symlink_to("gone.tsv")
    for named in (name, "*.tsv"):
        with refused(FileMissing):
            read(named)


def test_a_folder_in_place_of_a_file_is_named(tmp_path, read):
    (tmp_path / "données 猫").mkdir()
    with refused(NotAFile):
        read("données 猫")
    (tmp_path / "spark.parquet").mkdir()
    with refused(NotAFile) as error:
        read("spark.parquet")
    assert "'spark.parquet/*.parquet'" in str(error.value)


def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "pairs.tsv")
    with refused(NotAFile):
        read("pairs.tsv")


def test_a_pattern_that_finds_nothing_is_named(tmp_path, rows_and_rejects):
    with refused(FileMissing):
        rows_and_rejects(tmp_path, dataset="sts12", files={"test": "sts/*.tsv"})


def test_an_evaluation_set_with_a_bad_row_or_without_scores_is_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("sentence_a\tsentence_b\tscore\nA\tB\t1\nA\tB\tx\n")
    (tmp_path / "b.tsv").write_text("sentence_a\tsentence_b\nA\tB\n")
    (tmp_path / "c.tsv").write_text("sentence_a\tsentence_b\tscore\nA\tB\t1\n\tB\t1\n")

    for name in ("a.tsv", "c.tsv"):
        with refused(RowWrong):
            read_evaluation(EvaluationSet(dataset="pairs", file=name), tmp_path)
    with refused(NothingToScore):
        read_evaluation(EvaluationSet(dataset="pairs", file="b.tsv"), tmp_path)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"dataset": "stsx", "files": {"train": "a"}}, UnknownName),
        ({"dataset": "stsb"}, EmptySetting),
        ({"dataset": "stsb", "files": {"train": "a"}, "seed": 1}, UnknownKey),
        ({"dataset": "stsb", "files": {"valid": "a"}}, WrongValue),
        ({"dataset": "snli", "files": {"train": "a"}, "labels": ["entails"]}, UnknownName),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {"sentence_a": 0, "sentence_b": "b"}}, Conflict),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {"sentence_a": 0}}, Conflict),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {"text": "b"}}, WrongValue),
        ({"dataset": "pairs", "files": {"train": "a"}, "name": "my/pairs"}, WrongValue),
        ({"dataset": "coco", "files": {"train": "a"}, "caption_pairs": 0}, WrongValue),
        ({"dataset": "texts", "files": {"train": "a"}, "aspects": {}}, EmptySetting),
        ({"dataset": "texts", "files": {"train": "a"}, "text": []}, EmptySetting),
        ({"dataset": "texts", "files": {"train": "a"}, "text": ""}, EmptySetting),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {}}, EmptySetting),
        ({"dataset": "pairs", "files": {"train": "a"}, "labels": []}, EmptySetting),
        ({"dataset": "pairs", "files": {"train": []}}, EmptySetting),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {"sentence_a": 0, "sentence_b": -1}}, WrongValue),
        ({"dataset": "texts", "files": {"train": "a"}, "neighbours": 8}, Conflict),
        ({"dataset": "pairs", "files": {"train": "a"}, "caption_pairs": 2}, Conflict),
        ({"dataset": "coco", "files": {"train": "a"}, "labels": ["yes"]}, Conflict)],
)  # fmt: skip
def test_wrong_settings_say_what_is_wrong(settings, fault):
    with refused(fault):
        CorpusSettings(**settings)


def test_an_evaluation_set_needs_a_file():
    with refused(EmptySetting):
        EvaluationSet(dataset="stsb")
    with refused(EmptySetting):
        EvaluationSet(dataset="sst2", files={"train": "a", "dev": "", "test": "b"})
