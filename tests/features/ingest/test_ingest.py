"""Ingest by example: ids, shards, rejects, changed judgements, and a real corpus."""

import hashlib
from dataclasses import replace

import pytest
from generated import pair_id
from sentences import refused

from features.core.faults import UnknownShard
from features.core.types import RejectCode
from features.corpora.settings import CorpusSettings
from features.ingest import corpus_pairs
from features.ingest.building import ALGORITHM_VERSION
from features.sentences import sentence_id
from tests.features.ingest.ingests import pairs_of, run, write


def test_ids_follow_from_texts_and_repeats_are_kept(four_pairs):
    positives = pairs_of(run(four_pairs)).filter(kind="positive")

    a, b = sentence_id("A."), sentence_id("B.")
    expected = [pair_id("pairs", "train", "positive", a, b, occurrence) for occurrence in (0, 1)]
    assert positives["pair_id"].to_list()[::3] == expected
    assert positives["score"].to_list() == [1, 2, 3, 4]
    assert positives["positive_id"].null_count() == 4


def test_an_earlier_ingest_is_repeated_from_the_files_of_today(tmp_path):
    rows = [("A.", "B.", 1), ("C.", "D.", 2), ("A.", "B.", 3)]
    write(tmp_path / "p.tsv", rows)
    first = run(tmp_path)
    write(tmp_path / "p.tsv", [("X.", "Y.", 1), *rows, ("A.", "B.", 4), ("C.", "Z.", 1)])
    ids = pairs_of(first)["pair_id"].to_list()
    for admitted, expected in ((ids, pairs_of(first)), (ids[2:3], pairs_of(first).clear())):
        again = run(tmp_path, admits={*admitted}.__contains__)
        assert pairs_of(again).equals(expected), "a repeat without the one before it is none"
    assert not again.tables["sentences"]


def test_how_many_rows_are_read_at_once_changes_nothing(tmp_path, monkeypatch):
    rows = [("A.", "B.", 1), ("A.", "B.", "x"), ("", "C.", 2), ("C.", "D.", ""), ("A.", "B.", 3)]
    write(tmp_path / "p.tsv", rows)
    whole = run(tmp_path)
    monkeypatch.setattr(corpus_pairs, "_AT_ONCE", 2)

    parts = run(tmp_path)

    assert [reject.entity_id for reject in parts.rejects] == ["p.tsv:3", "p.tsv:4"]
    assert (parts.rejects, parts.report) == (whole.rejects, whole.report)
    assert pairs_of(parts).equals(pairs_of(whole))


def test_a_sentence_that_is_too_long_is_a_reject(tmp_path):
    write(tmp_path / "p.tsv", [("one two three", "B", 1), ("one two three four", "B", 1), ("C", "D", 1)])

    ingested = run(tmp_path, max_words=3)

    (reject,) = ingested.rejects
    assert reject.code == RejectCode.SENTENCE_TOO_LONG
    assert reject.entity_id == pair_id(
        "pairs", "train", "positive", sentence_id("one two three four"), sentence_id("B"), 0
    )
    told = "p.tsv:3: a sentence has 4 words; expected at most 3"
    assert reject.message.startswith(told)
    write(tmp_path / "p.tsv", [("C", "D", 1), ("B", "one two three four", 1)])
    assert run(tmp_path, max_words=3).rejects[0].message.startswith(told)
    assert ingested.report.splits[0].rejected == 1
    assert sentence_id("one two three four") not in {
        id_ for rows in ingested.tables["sentences"].values() for id_ in rows["sentence_id"]
    }
    assert not run(tmp_path, max_words=10**23).rejects, "a limit beyond 64 bits is none"


def test_rejects_of_the_reader_come_through(tmp_path):
    write(tmp_path / "p.tsv", [("A", "B", "x"), ("C", "", 1), ("C", "D", 1)])

    ingested = run(tmp_path)

    assert [(reject.entity_id, reject.code) for reject in ingested.rejects] == [
        ("p.tsv:2", RejectCode.BAD_SCORE),
        ("p.tsv:3", RejectCode.EMPTY_SENTENCE),
    ]
    assert ingested.report.rejected == 2


def test_changed_judgements_are_reported_and_not_taken_over(tmp_path):
    header = "sentence_a\tsentence_b\tscore\tlabel"
    write(tmp_path / "p.tsv", [("A", "B", 1, "x"), ("C", "D", 2, "y"), ("E", "F", "", "")], header)
    first = run(tmp_path)
    write(tmp_path / "p.tsv", [("A", "B", 1, "x"), ("E", "F", 3, ""), ("C", "D", 2, "z")], header)

    second = run(tmp_path, known=[first])

    assert second.tables["pairs"] == {}
    assert second.report.splits[0].changed == 2
    assert [
        (change.origin, change.stored_score, change.found_score, change.stored_label, change.found_label)
        for change in second.report.changed
    ] == [
        ("p.tsv:3", None, 3.0, None, None),
        ("p.tsv:4", 2.0, 2.0, "y", "z"),
    ]


def test_one_pair_in_two_corpora_is_two_pairs_of_the_same_sentences(four_pairs):
    corpora = [CorpusSettings(dataset="pairs", name=name, files={"train": "p.tsv"}) for name in ("x", "y")]

    ingested = run(four_pairs, *corpora)

    assert ingested.report.new_sentences == 5
    assert pairs_of(ingested)["pair_id"].n_unique() == 16


def test_known_tables_that_contradict_each_other_are_refused(four_pairs):
    first = run(four_pairs)
    lacking = {shard: rows.head(1) for shard, rows in first.tables["sentences"].items()}

    with refused(UnknownShard):
        run(four_pairs, known=[replace(first, tables={**first.tables, "sentences": lacking})])


def test_new_shards_are_numbered_after_the_known_ones(four_pairs):
    first = run(four_pairs)
    names = {"sentences": ["sentences-00041"], "pairs": ["pairs-99999", "pairs-100000"], "labels": []}
    later = {table: dict(zip(names[table], shards.values(), strict=True)) for table, shards in first.tables.items()}
    write(four_pairs / "p.tsv", [("A.", "B.", 1), ("New.", "Newer.", 1)])

    ingested = run(four_pairs, known=[replace(first, tables=later)])

    assert list(ingested.tables["sentences"]) == ["sentences-00042"]
    assert list(ingested.tables["pairs"]) == ["pairs-100001", "pairs-100002"]


def test_the_report_is_data(four_pairs):
    report = run(four_pairs).report

    assert type(report).model_validate_json(report.model_dump_json()) == report
    (split,) = report.splits
    assert (split.corpus, split.split, split.rows, split.new, split.repeats) == ("pairs", "train", 4, 4, 1)


def test_what_a_build_gives_is_pinned(four_pairs):
    """Raise ALGORITHM_VERSION when this changes: stores that were built before hold other ids or negatives."""
    write(four_pairs / "p.tsv", [(f"Sentence {n}.", f"Sentence {n + 7}.", n % 5) for n in range(40)])
    ids = pairs_of(run(four_pairs, pairs_per_shard=16))["pair_id"].to_list()

    assert ALGORITHM_VERSION == "1"
    assert hashlib.sha256(" ".join(ids).encode()).hexdigest()[:16] == "66cb38d92bfdaa9f"


def test_the_repeats_of_the_sts_benchmark_are_kept(shared):
    files = {split: f"bamboo/sts/orig.{split}.txt.gz" for split in ("train", "dev")}
    corpus = CorpusSettings(dataset="stsb", name="sts", files=files)

    ingested = run(shared / "data", corpus)

    train, dev = ingested.report.splits
    assert (train.new, train.repeats, train.negatives) == (5749, 43, 5749)
    assert (dev.new, dev.negatives) == (1500, 0)
    assert pairs_of(ingested)["pair_id"].n_unique() == 5749 * 2 + 1500
    again = run(shared / "data", corpus, known=[ingested])
    assert (again.tables["sentences"], again.tables["pairs"], again.rejects) == ({}, {}, [])
    assert [(split.known, split.changed) for split in again.report.splits] == [(5749, 0), (1500, 0)]


def test_a_file_that_was_cut_off_is_told(tmp_path):
    rows = [(f"A {n}.", f"B {n}.") for n in range(10)]
    write(tmp_path / "p.tsv", rows, "sentence_a\tsentence_b")
    first = run(tmp_path)
    assert first.report.shrunk == []
    for kept, told in (
        (10, []),
        (9, ["1 of the 10 pairs that the store has of 'pairs' is no longer in its files, or in another split of them"]),
        (
            5,
            ["5 of the 10 pairs that the store has of 'pairs' are no longer in its files, or in another split of them"],
        ),
        (4, ["Of the 10 pairs that the store has of 'pairs', only 4 were read again"]),
    ):
        write(tmp_path / "p.tsv", rows[:kept], "sentence_a\tsentence_b")
        again = run(tmp_path, known=[first])
        assert [str(each).partition(":")[0].partition(", or left")[0] for each in again.report.shrunk] == told


def test_negatives_that_the_settings_no_longer_ask_for_are_told(tmp_path):
    write(tmp_path / "p.tsv", [(f"A {n}.", f"B {n}.") for n in range(4)], "sentence_a\tsentence_b")
    first = run(tmp_path)
    assert first.report.faults == run(tmp_path, known=[first]).report.faults == []
    none = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, negatives=())
    (told,) = run(tmp_path, none, known=[first]).report.faults
    assert str(told).startswith("The store has 4 negatives of 'pairs' in train, which `negatives` no longer names:")


def test_rows_that_repeat_a_pair_are_told(tmp_path):
    rows = [(f"A {n}.", f"B {n}.") for n in range(4)]
    write(tmp_path / "p.tsv", rows, "sentence_a\tsentence_b")
    first = run(tmp_path)
    write(tmp_path / "p.tsv", rows + rows[:3], "sentence_a\tsentence_b")  # an export appended to another
    (told,) = run(tmp_path, known=[first]).report.faults
    assert str(told).startswith("3 rows of 'pairs' repeat pairs of the same split: all are kept")


def test_pairs_that_moved_to_another_split_are_not_called_cut_off(tmp_path):
    write(tmp_path / "p.tsv", [(f"A {n}.", f"B {n}.") for n in range(4)], "sentence_a\tsentence_b")
    first = run(tmp_path)
    moved = CorpusSettings(dataset="pairs", name="pairs", files={"dev": "p.tsv"})
    report = run(tmp_path, moved, known=[first]).report
    for told in (*report.shrunk, *report.settled().shrunk):
        assert "are no longer in its files, or in another split of them" in str(told)


def test_a_corpus_that_the_project_no_longer_names_is_told(tmp_path):
    write(tmp_path / "p.tsv", [("A 1.", "B 1."), ("A 2.", "B 2.")], "sentence_a\tsentence_b")

    def of(name):
        columns = {"sentence_a": "sentence_a", "sentence_b": "sentence_b"}
        return CorpusSettings(dataset="pairs", name=name, files={"train": "p.tsv"}, columns=columns)

    again = run(tmp_path, of("now"), known=[run(tmp_path, of("before"))])
    (told,) = again.report.shrunk
    assert (told.corpus, told.stored, told.named) == ("before", 2, False)
    assert str(told).startswith("The store has 2 pairs of a corpus 'before' that the project file does not name: they")


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["yes", "no", "yes"], []),
        (
            ["yes", "", "no"],
            ["1 pair has no label among the 3 in the files of 'pairs': what learns from it, or is"],
        ),
        (["", "", ""], ["No pair of 'pairs' has a label: check the column that `columns` names for it."]),
        (
            ["yes", "Yes", "no"],
            ["Labels of 'pairs' (2 pairs) differ from another only in case, spaces or a final .0, such as 'Yes' (1)"],
        ),
        (
            ["1.0", "1", "1.5", "-2.00", "-2", "v1.0", "1.0.0"],
            ["Labels of 'pairs' (4 pairs) differ from another only in case, spaces or a final .0, such as '-2' (1)"],
        ),
    ],
)
def test_missing_labels_and_two_spellings_are_told(tmp_path, labels, told):
    rows = [(f"A {n}.", f"B {n}.", label) for n, label in enumerate(labels)]
    write(tmp_path / "p.tsv", rows, "sentence_a\tsentence_b\tmeaning")
    columns = {"sentence_a": "sentence_a", "sentence_b": "sentence_b", "label": "meaning"}
    corpus = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, columns=columns)
    first = run(tmp_path, corpus)
    again = run(tmp_path, corpus, known=[first])
    for ingested in (first, again):
        said = [str(each) for each in ingested.report.faults]
        assert len(said) == len(told)
        assert all(sentence.startswith(start) for sentence, start in zip(said, told, strict=True))


@pytest.mark.parametrize("german", [0, 2, 20])
def test_a_corpus_that_is_not_english_is_told(tmp_path, german):
    rows = [(f"The dog number {n} sleeps.", f"Der Hund Nummer {n} schläft auf dem Sofa.") for n in range(20)]
    rows = [(a, b if n < german else f"{a[:-1]} well.") for n, (a, b) in enumerate(rows)]
    write(tmp_path / "p.tsv", rows, "sentence_a\tsentence_b")
    told = [str(fault) for fault in run(tmp_path).report.faults]
    assert len(told) == (german == 20)
    assert all(said.startswith("20 of 40 texts looked at in 'pairs' seem not to be English (German: ") for said in told)


@pytest.mark.parametrize(
    ("judgement", "told"),
    [
        (("label", ["yes", "no", "yes", "", "yes"]), "labels, such as 'A.' with 'B.' ('yes' and 'no'): all are kept"),
        (("score", ["3", "3.5", "3.0", "", "2"]), "scores, such as 'A.' with 'B.' (3 and 3.5): all are kept, and what"),
        (("label", ["yes", "yes", "yes", "", "no"]), None),
    ],
)
def test_two_judgements_of_one_pair_are_told(tmp_path, judgement, told):
    name, values = judgement
    pairs = [("A.", "B."), ("A. ", "B."), ("A.", "B."), ("A.", "B."), ("B.", "A.")]
    write(tmp_path / "p.tsv", [(*pair, value) for pair, value in zip(pairs, values, strict=True)], f"a\tb\t{name}")
    columns = {"sentence_a": "a", "sentence_b": "b", name: name}
    corpus = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, columns=columns, negatives=())
    first = run(tmp_path, corpus)
    for ingested in (first, run(tmp_path, corpus, known=[first])):
        said = [str(each) for each in ingested.report.faults if "more than once" in str(each)]
        start = "1 pair of sentences is in 'pairs' more than once with different "
        assert [sentence.removeprefix(start)[: len(told or "")] for sentence in said] == ([told] if told else [])


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (["yes", "no", "no"], ["yes", "", "no"], []),
        (["yes", "no", "no"], ["", "", ""], []),
        (
            ["yes", "", "no"],
            ["", "", ""],
            ["1 pair has no label among the 3 in the files of 'pairs': what learns from it"],
        ),
        (
            ["yes", "", "no"],
            ["yes", "no", "no"],
            ["1 pair has no label among the 3 in the files of 'pairs': what learns from it"],
        ),
        (
            ["", "", ""],
            ["yes", "no", "no"],
            ["3 pairs have no label among the 3 in the files of 'pairs': what learns from it"],
        ),
        (
            ["yes", "no"],
            ["", "no", ""],
            ["1 pair has no label among the 3 in the files of 'pairs': what learns from it"],
        ),
    ],
    ids=["emptied", "all emptied", "emptied more", "filled in", "all filled in", "new without"],
)
def test_a_stored_label_that_is_emptied_in_the_file_is_not_missing(tmp_path, before, now, told):
    columns = {"sentence_a": "sentence_a", "sentence_b": "sentence_b", "label": "meaning"}
    corpus = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, columns=columns)
    ingested = None
    for labels in (before, now):
        rows = [(f"A {n}.", f"B {n}.", label) for n, label in enumerate(labels)]
        write(tmp_path / "p.tsv", rows, "sentence_a\tsentence_b\tmeaning")
        ingested = run(tmp_path, corpus, known=[ingested] if ingested else ())
    said = [str(each) for each in ingested.report.faults]
    assert len(said) == len(told)
    assert all(sentence.startswith(start) for sentence, start in zip(said, told, strict=True))
