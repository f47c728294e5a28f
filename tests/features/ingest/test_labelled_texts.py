"""Labels, created at ingest like pairs; shards of one corpus; judged pairs that are ingested whole."""

import tempfile
from pathlib import Path

import polars as pl
import pytest
from generated import pair_id
from hypothesis import given
from hypothesis import strategies as st

from features.core.types import RejectCode
from features.corpora.settings import CorpusSettings, EvaluationSet, LeakageSettings
from features.ingest.report import ShrunkReport
from features.schemas import LABELS
from features.sentences import sentence_id
from tests.features.ingest.ingests import run

NLI = "premise\thypothesis\tlabel\nA cat.\tA pet.\tentailment\nA cat.\tA dog.\tcontradiction\nA hut.\tA tin.\tneutral\n"
NLI_COLUMNS = {"sentence_a": "premise", "sentence_b": "hypothesis", "label": "label"}
PAPERS = "text\tlabel\nWe parse.\ttagging|parsing\nWe wait.\twaiting\nWe parse.\tparsing\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "nli.tsv").write_text(NLI)
    (tmp_path / "papers.tsv").write_text(PAPERS)
    (tmp_path / "mr.txt").write_text("1 a gem .\n0 silly .\n1 a gem .\n")
    (tmp_path / "captions.tsv").write_text("image\tcaption1\tcaption2\n1\tA cat.\tA tomcat.\n2\tA hut.\tA shed.\n")
    return tmp_path


def corpus(dataset, file, **given):
    return CorpusSettings(dataset=dataset, files={"train": file}, **given)


CAPTIONS = corpus("flickr30k", "captions.tsv")
SNLI = corpus("snli", "nli.tsv")
TEXTS = corpus("texts", "papers.tsv")
MR = corpus("mr", "mr.txt")


def rows_of(shards):
    return pl.concat(list(shards.values()))


def test_an_earlier_ingest_is_repeated_from_the_files_of_today(folder):
    first = run(folder, TEXTS)
    (folder / "papers.tsv").write_text(f"{PAPERS}We sleep.\twaiting\nWe wait.\tparsing\n")
    again = run(folder, TEXTS, admits={*rows_of(first.tables["labels"])["label_id"]}.__contains__)
    assert rows_of(again.tables["labels"]).equals(rows_of(first.tables["labels"]))
    assert rows_of(again.tables["sentences"]).equals(rows_of(first.tables["sentences"]))
    assert again.report.splits[0].known == first.report.splits[0].known


def test_a_text_has_a_row_for_each_of_its_labels_once(folder):
    ingested = run(folder, TEXTS)
    rows = rows_of(ingested.tables["labels"])

    assert rows.schema == pl.Schema(LABELS)
    assert rows.select("sentence", "aspect", "label").rows() == [
        (sentence_id("We parse."), "label", "tagging"),
        (sentence_id("We parse."), "label", "parsing"),
        (sentence_id("We wait."), "label", "waiting"),
    ]
    assert rows["label_id"].is_unique().all()
    assert rows["sentence_shard"].unique().to_list() == list(ingested.tables["sentences"]) == ["sentences-00000"]
    counts = ingested.report.splits[0]
    assert (counts.rows, counts.new, counts.known, counts.labels, counts.repeats) == (3, 2, 1, 3, 1)
    assert (ingested.report.new_pairs, ingested.report.new_labels) == (0, 3)
    both = run(folder, CAPTIONS, TEXTS).report
    assert (both.new_pairs, both.new_labels) == (run(folder, CAPTIONS).report.new_pairs, 3)


def test_several_labels_in_a_cell_are_told_until_a_separator_is_set(folder):
    cells = ["United States, India", "India", "United States", "India, France", "France", "Washington, D.C."]
    (folder / "titles.csv").write_text(
        "text,country\n" + "".join(f'Title {n},"{c}"\n' for n, c in enumerate(cells * 2))
    )
    titles = {"aspects": {"country": "country"}}

    told = run(folder, corpus("texts", "titles.csv", **titles)).report.faults
    (told,) = map(str, told)
    assert told.startswith(
        "2 labels of 'texts' in the aspect 'country' (given 4 times) look like several in one cell, such as"
    )
    assert "such as 'United States, India' (2), whose parts" in told
    assert 'set separator = "," for this corpus' in told

    split = run(folder, corpus("texts", "titles.csv", separator=",", **titles))
    assert split.report.faults == []
    assert set(rows_of(split.tables["labels"])["label"]) == {"United States", "India", "France", "Washington", "D.C."}


def test_names_with_a_comma_are_no_several_labels(folder):
    cells = ["Food, drinks and tobacco", "Arms, defence", "Food", "Washington, D.C.", "Paris, France"]
    (folder / "t.csv").write_text("text,industry\n" + "".join(f'Text {n},"{c}"\n' for n, c in enumerate(cells * 2)))
    assert run(folder, corpus("texts", "t.csv", aspects={"industry": "industry"})).report.faults == []


def test_chosen_labels_that_no_row_has_are_told(folder):
    chosen = (
        corpus("pairs", "nli.tsv", columns=NLI_COLUMNS, labels=["entails"]),
        corpus("texts", "papers.tsv", labels=["waiting", "tagged"]),
    )
    told = run(folder, *chosen).report.faults
    assert [each.corpus for each in told][:2] == ["pairs", "texts"]
    assert str(told[0]).startswith("No row of 'pairs' has the label 'entails', which `labels` of this corpus names: ")
    assert str(told[1]).startswith("No row of 'texts' has the label 'tagged', which ")


def test_an_example_that_is_there_twice_is_two_examples_of_its_class(folder):
    rows = rows_of(run(folder, MR).tables["labels"])

    assert rows["label"].to_list() == ["1", "0", "1"]
    assert (rows["sentence"].n_unique(), rows["label_id"].n_unique()) == (2, 3)


@pytest.mark.parametrize(
    "corpora", [(TEXTS,), (MR,), (SNLI,), (CAPTIONS, SNLI, TEXTS, MR)], ids=lambda one: one[-1].name
)
def test_what_is_known_is_not_taken_again(folder, corpora):
    first = run(folder, *corpora)
    second = run(folder, *corpora, known=[first])

    assert second.tables == {"sentences": {}, "pairs": {}, "labels": {}}
    assert (second.report.new_sentences, second.report.changed) == (0, [])


def test_new_labels_get_a_new_shard_and_known_ids_stay(folder):
    first = run(folder, TEXTS)
    (folder / "papers.tsv").write_text(PAPERS + "We wait.\tpatience\n")

    second = run(folder, TEXTS, known=[first])
    assert [*second.tables["labels"]] == ["labels-00001"]
    assert (second.tables["sentences"], rows_of(second.tables["labels"])["label"].to_list()) == ({}, ["patience"])


def test_a_class_that_is_corrected_at_the_source_is_reported_and_makes_no_second_one(folder):
    first = run(folder, MR)
    (folder / "mr.txt").write_text("1 a gem .\n1 silly .\n1 a gem .\n")

    second = run(folder, MR, known=[first])
    assert second.tables["labels"] == {}
    (changed,) = second.report.changed
    assert (changed.origin, changed.stored_label, changed.found_label) == ("mr.txt:2", "0", "1")


def test_a_label_that_is_corrected_at_the_source_stays_beside_the_new_one_and_that_is_told(folder):
    first = run(folder, TEXTS)
    assert first.report.faults == []
    (folder / "papers.tsv").write_text(PAPERS.replace("waiting", "patience"))

    second = run(folder, TEXTS, known=[first])
    assert rows_of(second.tables["labels"])["label"].to_list() == ["patience"]
    (gone,) = second.report.faults
    assert str(gone) == (
        "1 text of 'texts' lost a label in the aspect 'label' since it was stored, such as 'waiting': stored rows "
        "do not change, so it stays in addition to those of the file; if it was wrong, build a new store."
    )
    (folder / "papers.tsv").write_text("text\tlabel\nWe parse.\ttagging|parsing\n")  # a text that is gone says nothing
    said = map(str, run(folder, TEXTS, known=[first, second]).report.faults)
    assert not any("lost a label" in sentence for sentence in said)


def test_a_stored_text_that_is_rejected_now_is_left_out_and_lost_no_label(folder):
    first = run(folder, TEXTS)
    report = run(folder, TEXTS, known=[first], max_words=1).report

    assert report.faults == []
    assert [(told.stored, told.found) for told in report.shrunk] == [(2, 0)]


def test_texts_that_are_too_long_or_of_an_evaluation_set_are_rejects(folder):
    guard = LeakageSettings(evaluation=[EvaluationSet(dataset="mr", file="mr.txt")])
    (folder / "t.tsv").write_text("text\tlabel\nA gem!\tx\none two three four\tx\nfine\tx\n")

    ingested = run(folder, corpus("texts", "t.tsv"), leakage=guard, max_words=3)
    assert [reject.code for reject in ingested.rejects] == [RejectCode.LEAKED, RejectCode.SENTENCE_TOO_LONG]
    counts = ingested.report.splits[0]
    assert (counts.rows, counts.new, counts.dropped, counts.rejected) == (3, 1, 1, 1)
    dev = CorpusSettings(dataset="texts", files={"dev": "t.tsv"})
    assert run(folder, dev, leakage=guard).report.splits[0].leaked == 0, "only what is trained on is guarded"


def test_a_text_that_was_stored_before_the_guard_knew_it_stays(folder):
    guard = LeakageSettings(evaluation=[EvaluationSet(dataset="mr", file="mr.txt")])
    (folder / "t.tsv").write_text("text\tlabel\nA gem!\tx\nfine\tx\n")
    first = run(folder, corpus("texts", "t.tsv"))
    (folder / "t.tsv").write_text("text\tlabel\nA gem!\tx\nfine\tx\nSilly!\tx\n")
    second = run(folder, corpus("texts", "t.tsv"), known=[first], leakage=guard)
    counts = second.report.splits[0]
    assert (counts.known, counts.leaked, counts.leaked_stored, counts.dropped) == (2, 2, 1, 1)
    assert [reject.code for reject in second.rejects] == [RejectCode.LEAKED]


def test_texts_that_are_gone_are_told_with_those_that_are_new(folder):
    first = run(folder, TEXTS)
    assert run(folder, TEXTS, known=[first]).report.shrunk == []
    (folder / "papers.tsv").write_text("text\tlabel\nWe parse.\tparsing\nWe sleep.\twaiting\nWe run.\twaiting\n")
    gone = {"corpus": "texts", "stored": 2, "what": "texts"}
    assert run(folder, TEXTS, known=[first]).report.shrunk == [ShrunkReport(**gone, found=1, added=2)]
    assert run(folder, MR, known=[first]).report.shrunk == [ShrunkReport(**gone, found=0, named=False)]
    (folder / "papers.tsv").write_text(f"{PAPERS}We sleep.\twaiting\n")
    assert run(folder, TEXTS, known=[first]).report.shrunk == []
    cut_off = [ShrunkReport(**gone, found=0, added=added).was_cut_off for added in (0, 1)]
    assert cut_off == [True, False], "what has moved is there"


@pytest.mark.parametrize("corpora", [(TEXTS,), (MR,), (SNLI,), (CAPTIONS, SNLI, TEXTS)], ids=len)
def test_a_settled_report_is_that_of_the_same_files_read_again(folder, corpora):
    guard = LeakageSettings(evaluation=[EvaluationSet(dataset="sick", file="sick.txt")])
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    (folder / "sick.txt").write_text(f"{head}\n1\tWe wait.\tA shed.\t3\tNEUTRAL\n")
    first = run(folder, *corpora, leakage=guard)
    assert run(folder, *corpora, known=[first], leakage=guard).report == first.report.settled()


def test_new_shards_hold_one_corpus_each(folder):
    ingested = run(folder, CAPTIONS, SNLI, TEXTS, MR)

    for shards in (ingested.tables["pairs"], ingested.tables["labels"]):
        assert all(rows["corpus"].n_unique() == 1 for rows in shards.values())
    texts = {shard: rows["text"].to_list() for shard, rows in ingested.tables["sentences"].items()}
    assert texts == {
        "sentences-00000": ["A cat.", "A tomcat.", "A hut.", "A shed."],
        "sentences-00001": ["A pet.", "A dog.", "A tin."],
        "sentences-00002": ["We parse.", "We wait."],
        "sentences-00003": ["a gem .", "silly ."],
    }
    # A premise that came as a caption stays where it was seen first.
    nli = rows_of(ingested.tables["pairs"]).filter(corpus="snli")
    assert nli.select("shard_a", "shard_b").rows() == [("sentences-00000", "sentences-00001")] * 3


def test_shards_of_one_corpus_are_as_large_as_was_asked_for(folder):
    ingested = run(folder, CAPTIONS, SNLI, sentences_per_shard=3, pairs_per_shard=2)

    assert [rows.height for rows in ingested.tables["sentences"].values()] == [3, 1, 3]
    assert [rows.height for rows in ingested.tables["pairs"].values()] == [2, 2, 1, 2]


def test_judged_pairs_come_in_whole_without_drawn_negatives(folder):
    rows = rows_of(run(folder, SNLI).tables["pairs"])

    assert rows["label"].to_list() == ["entailment", "contradiction", "neutral"]
    assert rows["kind"].unique().to_list() == ["positive"]


def test_a_corpus_that_was_taken_in_part_keeps_its_ids_when_it_comes_in_whole(folder):
    part = run(folder, corpus("snli", "nli.tsv", labels=["entailment"], negatives=["train"]))
    before = pair_id("snli", "train", "positive", sentence_id("A cat."), sentence_id("A pet."), 0)
    assert rows_of(part.tables["pairs"])["pair_id"].to_list() == [before]

    whole = run(folder, SNLI, known=[part])
    assert rows_of(whole.tables["pairs"])["label"].to_list() == ["contradiction", "neutral"]
    assert before in set(rows_of(run(folder, SNLI).tables["pairs"])["pair_id"])


def test_chosen_labels_are_similar_pairs_that_get_negatives(folder):
    chosen = corpus("snli", "nli.tsv", labels=["entailment", "neutral"])

    kinds = rows_of(run(folder, chosen).tables["pairs"])["kind"]
    assert sorted(kinds) == ["negative", "negative", "positive", "positive"]


def test_a_pair_keeps_its_score_and_its_label(folder):
    (folder / "sick.txt").write_text(
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\tA cat\tA pet\t4.5\tENTAILMENT\n"
    )
    rows = rows_of(run(folder, corpus("sick", "sick.txt")).tables["pairs"])

    assert rows.select("score", "label").rows()[0] == (4.5, "ENTAILMENT")


words = st.sampled_from(["A cat.", "A dog.", "A hut.", "A tin.", "A pet."])
judged = st.lists(st.tuples(words, words, st.sampled_from(["entailment", "neutral"])), min_size=1, max_size=8)


@given(judged, judged, st.integers(1, 4))
def test_ids_do_not_change_with_what_is_taken(first, second, size):
    with tempfile.TemporaryDirectory() as base:
        for name, rows in (("a.tsv", first), ("b.tsv", second)):
            lines = ["\t".join(row) for row in (("premise", "hypothesis", "label"), *rows)]
            (Path(base) / name).write_text("\n".join(lines) + "\n")
        whole = [corpus("snli", name, name=name) for name in ("a.tsv", "b.tsv")]
        part = [corpus("snli", name, name=name, labels=["neutral"], negatives=[]) for name in ("a.tsv", "b.tsv")]
        ingested = [
            run(Path(base), *corpora, sentences_per_shard=size, pairs_per_shard=size) for corpora in (whole, part)
        ]

    ids = [[*rows_of(one.tables["pairs"])["pair_id"]] if one.tables["pairs"] else [] for one in ingested]
    # The n-th repeat of a pair is counted among the rows that are taken.
    assert len(ids[1]) == sum(row[2] == "neutral" for row in [*first, *second])
    if len({row[:2] for row in first}) == len(first) and len({row[:2] for row in second}) == len(second):
        assert set(ids[1]) <= set(ids[0])
