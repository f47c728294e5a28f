"""Reading corpora: options, evaluation sets, identifying copies of a file."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import polars as pl

from features.corpora.reading import BadRow, PairRow, Skip, read_evaluation, read_outcomes
from features.corpora.settings import CorpusSettings, EvaluationSet
from features.corpora.sources import Digests, locate


def texts(folder, **settings):
    outcomes = read_outcomes(CorpusSettings(**settings), folder)
    return [(row.text_a, row.text_b) for row in outcomes if isinstance(row, PairRow)]


def test_the_name_is_that_of_the_dataset_unless_given():
    assert CorpusSettings(dataset="sick", files={"train": "a"}).name == "sick"
    assert CorpusSettings(dataset="sick", name="mine", files={"train": "a"}).name == "mine"
    assert EvaluationSet(dataset="sick", file="a").name == "sick-test"
    assert EvaluationSet(dataset="sick", split="dev", file="a").name == "sick-dev"


def test_a_table_of_ones_own_in_every_format_with_its_own_columns(tmp_path):
    frame = pl.DataFrame({"q1": ["A", "C"], "q2": ["B", "D"], "rating": [1.0, 2.5], "kind": ["x", "y"]})
    frame.write_csv(tmp_path / "p.tsv", separator="\t")
    frame.write_csv(tmp_path / "p.csv")
    frame.write_ndjson(tmp_path / "p.jsonl")
    frame.write_parquet(tmp_path / "p.parquet")
    for name in ("p.tsv", "p.csv", "p.jsonl"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    columns = {"sentence_a": "q1", "sentence_b": "q2", "score": "rating", "label": "kind"}

    for path in sorted(tmp_path.iterdir()):
        settings = CorpusSettings(dataset="pairs", files={"dev": path.name}, columns=columns)
        first = 2 if ".tsv" in path.name or ".csv" in path.name else 1
        assert list(read_outcomes(settings, tmp_path)) == [
            PairRow("dev", "A", "B", 1.0, "x", f"{path.name}:{first}"),
            PairRow("dev", "C", "D", 2.5, "y", f"{path.name}:{first + 1}"),
        ]


def test_columns_by_position_and_columns_of_a_known_dataset(tmp_path):
    (tmp_path / "p.tsv").write_text("7\tA\tB\n8\tC\tD\n")
    (tmp_path / "nli.tsv").write_text("p\th\tgold\nA\tB\tentailment\nA\tC\tneutral\n")

    positions = {"sentence_a": 1, "sentence_b": 2}
    assert texts(tmp_path, dataset="pairs", files={"train": "p.tsv"}, columns=positions) == [("A", "B"), ("C", "D")]
    names = {"sentence_a": "p", "sentence_b": "h", "label": "gold"}
    assert texts(tmp_path, dataset="snli", files={"train": "nli.tsv"}, columns=names) == [("A", "B"), ("A", "C")]


def test_votes_are_read_in_columns_of_any_name(tmp_path):
    (tmp_path / "t.tsv").write_text("q1\tq2\tv\nA\tB\t(4, 6)\nC\tD\t(1, 6)\nE\tF\t1\n")
    (tmp_path / "p.tsv").write_text("A\tB\t(3, 2)\nC\tD\t1\n")
    named, placed = (
        {"sentence_a": "q1", "sentence_b": "q2", "label": "v"},
        {"sentence_a": 0, "sentence_b": 1, "label": 2},
    )
    for dataset, file, columns, labels in (
        ("twitter_url", "t.tsv", named, ["1", "0", "1"]),
        ("pit2015", "p.tsv", placed, ["1", "0"]),
    ):
        settings = CorpusSettings(dataset=dataset, files={"train": file}, columns=columns)
        assert [row.label for row in read_outcomes(settings, tmp_path)] == labels


def test_a_column_split_counts_where_columns_name_only_the_sentences(tmp_path):
    (tmp_path / "p.tsv").write_text("q1\tq2\tsplit\nA\tB\ttrain\nA\tC\ttest\n")
    (tmp_path / "all.tsv").write_text("q1\tq2\nA\tB\nA\tC\n")
    columns = {"sentence_a": "q1", "sentence_b": "q2"}

    assert texts(tmp_path, dataset="pairs", files={"train": "p.tsv"}, columns=columns) == [("A", "B")]
    assert texts(tmp_path, dataset="pairs", files={"train": "all.tsv"}, columns=columns) == [("A", "B"), ("A", "C")]


def test_labels_choose_the_rows(tmp_path):
    (tmp_path / "nli.tsv").write_text("premise\thypothesis\tlabel\nA\tB\tentailment\nA\tC\tneutral\nA\tD\t-\n")
    files = {"train": "nli.tsv"}

    assert texts(tmp_path, dataset="snli", files=files) == [("A", "B"), ("A", "C")]
    assert texts(tmp_path, dataset="snli", files=files, labels=["neutral"]) == [("A", "C")]
    assert texts(tmp_path, dataset="snli", files=files, labels="all") == [("A", "B"), ("A", "C")]
    outcomes = read_outcomes(CorpusSettings(dataset="snli", files=files, labels=["entailment"]), tmp_path)
    assert [row.reason for row in outcomes if isinstance(row, Skip)] == ["label neutral", "no gold label"]


def test_fewer_pairs_of_captions_are_drawn_by_image(tmp_path):
    rows = [f"{image}.jpg#{n}\tcaption {n} of {image}" for image in range(20) for n in range(5)]
    (tmp_path / "few.token").write_text("\n".join(rows[:50]))
    (tmp_path / "all.token").write_text("\n".join(reversed(rows[50:])) + "\n" + "\n".join(rows[:50]))

    few = texts(tmp_path, dataset="flickr30k", files={"train": "few.token"}, caption_pairs=3)
    more = texts(tmp_path, dataset="flickr30k", files={"train": "all.token"}, caption_pairs=3)

    assert len(few) == len(set(few)) == 30
    assert len(more) == 60
    assert set(few) <= set(more)
    assert all(a != b and a.split()[-1] == b.split()[-1] for a, b in more)
    assert len({(a[8], b[8]) for a, b in few}) > 5  # not the same three places for every image
    assert len(texts(tmp_path, dataset="flickr30k", files={"train": "few.token"}, caption_pairs=99)) == 100
    assert len(texts(tmp_path, dataset="flickr30k", files={"train": "few.token"})) == 100


def test_several_files_and_patterns_make_one_split(tmp_path):
    (tmp_path / "sts").mkdir()
    for name in ("b", "a", "c"):
        (tmp_path / "sts" / f"{name}.tsv").write_text(f"5\t{name}\tB\n")

    everything = texts(tmp_path, dataset="sts12", files={"test": "sts/*.tsv"})
    assert everything == [("a", "B"), ("b", "B"), ("c", "B")]
    named = list(read_outcomes(CorpusSettings(dataset="sts12", files={"test": ["sts/c.tsv", "sts/a.tsv"]}), tmp_path))
    assert [row.origin for row in named if isinstance(row, PairRow)] == ["sts/c.tsv:1", "sts/a.tsv:1"]


def test_the_folder_of_the_project_is_no_pattern(tmp_path):
    (folder := tmp_path / "data [v2]").mkdir()
    pl.DataFrame({"sentence_a": ["a"], "sentence_b": ["b"]}).write_parquet(folder / "a.parquet")
    assert texts(folder, dataset="pairs", files={"train": "*.parquet"}) == [("a", "b")]


def test_absolute_paths_and_patterns_are_taken(tmp_path):
    (tmp_path / "a.tsv").write_text("5\tA\tB\n")
    elsewhere = tmp_path / "elsewhere"

    for name in (str(tmp_path / "a.tsv"), str(tmp_path / "*.tsv")):
        assert texts(elsewhere, dataset="sts12", files={"test": name}) == [("A", "B")]


def test_a_pattern_of_any_depth_finds_files_of_every_depth(tmp_path):
    (tmp_path / "d" / "e" / "f").mkdir(parents=True)
    for number, folder in enumerate(("d", "d/e", "d/e/f")):
        (tmp_path / folder / "x.tsv").write_text(f"5\t{number}\tB\n")
    read = texts(tmp_path, dataset="sts12", files={"test": "d/**/*.tsv"})
    assert sorted(read) == [("0", "B"), ("1", "B"), ("2", "B")]


def test_a_link_is_read_by_its_own_name_and_its_file_once(tmp_path):
    (tmp_path / "blob").write_text("5\tA\tB\n")
    (tmp_path / "a.tsv").symlink_to("blob")
    files = {"test": ["a.tsv", "*.tsv", "blob"]}

    assert texts(tmp_path, dataset="sts12", files={"test": ["a.tsv", "*.tsv"]}) == [("A", "B")]
    assert texts(tmp_path, dataset="pairs", files={"train": "a.tsv"}, columns={"sentence_a": 1, "sentence_b": 2}) == [
        ("A", "B")
    ]
    found = locate(CorpusSettings(dataset="sts12", files=files), files, tmp_path)
    assert [source.name for source in found] == ["blob"]


def test_a_pattern_begins_below_the_project_and_names_each_file_with_its_folder(tmp_path):
    project = tmp_path / "corpora [2024]"
    for folder in ("a", "b"):
        (project / folder).mkdir(parents=True)
        (project / folder / "x.tsv").write_text("5\tA\tB\n")

    named = list(read_outcomes(CorpusSettings(dataset="sts12", files={"test": "*/x.tsv"}), project))

    assert [row.origin for row in named if isinstance(row, PairRow)] == ["a/x.tsv:1", "b/x.tsv:1"]


def test_a_name_of_a_file_that_is_not_utf8_can_be_written_in_a_reject(tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.tsv")).write_text("5\tA\tB\n9\tC\tD\n")

    rows = list(read_outcomes(CorpusSettings(dataset="sts12", files={"test": "*.tsv"}), tmp_path))

    assert [row.reject.entity_id for row in rows if isinstance(row, BadRow)] == ["caf\ufffd.tsv:2"]


def test_evaluation_scores_are_in_the_official_range_and_unrated_pairs_left_out(tmp_path):
    (tmp_path / "STS.input.x.txt").write_text("A\tB\nC\tD\nE\tF\n\n")  # the last line is empty in both
    (tmp_path / "STS.gs.x.txt").write_text("4.5\n\n0\n\n")
    (tmp_path / "ukp.tsv").write_text("topic\tsentence_1\tsentence_2\tlabel\nt\tA\tB\tSS\nt\tC\tD\tDTORCD\n")

    rated = read_evaluation(EvaluationSet(dataset="sts15", file="STS.input.x.txt"), tmp_path)
    assert (rated.name, rated.texts_a, rated.texts_b) == ("sts15-test", ["A", "E"], ["B", "F"])
    assert rated.scores.dtype == np.float64
    assert rated.scores.tolist() == [4.5, 0.0]
    arguments = read_evaluation(EvaluationSet(dataset="ukp_aspect", file="ukp.tsv"), tmp_path)
    assert arguments.scores.tolist() == [0.5, 0.0]
    assert arguments.labels == ["SS", "DTORCD"]


def test_an_evaluation_set_takes_its_split_of_a_file_with_all(tmp_path):
    (tmp_path / "p.jsonl").write_text(
        "".join(
            json.dumps({"sentence_a": split, "sentence_b": "B", "score": 1, "split": split}) + "\n"
            for split in ("train", "dev", "test")
        )
    )

    assert read_evaluation(EvaluationSet(dataset="pairs", split="dev", file="p.jsonl"), tmp_path).texts_a == ["dev"]


def test_the_digest_of_a_file_is_that_of_what_it_holds_whether_compressed_or_not(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"some text")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"some text"))
    digests = Digests({})
    assert digests.of(tmp_path / "a.txt.gz") == digests.of(tmp_path / "a.txt")


def test_sources_are_found_once_each(tmp_path):
    for name in ("a.tsv", "b.tsv"):
        (tmp_path / name).write_text("x")
    settings = CorpusSettings(dataset="pairs", files={"train": ["a.tsv", "*.tsv"], "dev": "b.tsv"})

    found = locate(settings, settings.files, tmp_path)

    assert [(source.name, source.splits) for source in found] == [("a.tsv", ("train",)), ("b.tsv", ("train", "dev"))]
