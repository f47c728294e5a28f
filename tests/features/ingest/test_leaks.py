"""Sentences of evaluation sets in the training data, and pairs of dev that are in train."""

import pytest
from sentences import refused

from features.core.faults import RowWrong
from features.core.types import RejectCode
from features.corpora.settings import CorpusSettings, EvaluationSet, IngestSettings, LeakageSettings
from features.ingest.building import ingest
from features.ingest.known import Known
from features.sentences import sentence_id
from tests.features.ingest.ingests import pairs_of, run, stored, write


def guarded(mode, **files):
    evaluation = [EvaluationSet(dataset="pairs", name=name, file=file) for name, file in files.items()]
    return LeakageSettings(mode=mode, evaluation=evaluation)


@pytest.fixture
def leaking(tmp_path):
    write(
        tmp_path / "p.tsv", [("A cat sleeps.", "B.", 1), ("C.", "a CAT, sleeps", 2), ("D.", "E.", 3), ("F.", "...", 4)]
    )
    write(tmp_path / "one.tsv", [("A cat sleeps", "Nothing.", 1), ("!", "?", 0), ("a cat SLEEPS", "Nothing.", 0)])
    write(tmp_path / "two.tsv", [("Else.", "E", 1), ("A cat sleeps!", "Nothing.", 1)])
    return tmp_path


def test_pairs_with_a_sentence_of_an_evaluation_set_are_dropped_from_train(leaking):
    ingested = run(leaking, leakage=guarded("drop", one="one.tsv", two="two.tsv"))

    assert {reject.code for reject in ingested.rejects} == {RejectCode.LEAKED}
    assert len({reject.entity_id for reject in ingested.rejects}) == len(ingested.rejects) == 3
    assert "p.tsv:2: 'A cat sleeps.' is a sentence of one, two" in ingested.rejects[0].message
    counts = ingested.report.splits[0]
    assert (counts.rows, counts.new, counts.dropped, counts.leaked) == (4, 1, 3, 3)
    texts = [text for rows in ingested.tables["sentences"].values() for text in rows["text"]]
    assert texts == ["F.", "..."]  # punctuation alone is no sentence that leaks


def test_letters_that_are_not_ascii_count(tmp_path):
    rows = [("Das Café ist groß.", "B.", 1), ("Das Cafe ist groß.", "D.", 2), ("Call a_b.", "E.", 3)]
    write(tmp_path / "p.tsv", rows)
    write(tmp_path / "one.tsv", [("das CAFÉ ist groß", "call A_B!", 1)])
    rejects = run(tmp_path, leakage=guarded("drop", one="one.tsv")).rejects

    found = [reject.message.partition(" is a sentence of ")[0] for reject in rejects]
    assert found == ["p.tsv:2: 'Das Café ist groß.'", "p.tsv:4: 'Call a_b.'"]


def test_leaks_are_only_counted_where_asked(leaking):
    ingested = run(leaking, leakage=guarded("report", one="one.tsv"))

    counts = ingested.report.splits[0]
    assert (counts.new, counts.dropped, counts.leaked, counts.negatives) == (4, 0, 2, 4)
    assert ingested.rejects == []


def test_only_training_splits_are_guarded(leaking):
    corpus = CorpusSettings(dataset="pairs", files={"dev": "p.tsv"})

    ingested = run(leaking, corpus, leakage=guarded("drop", one="one.tsv"))

    assert (ingested.report.splits[0].new, ingested.report.splits[0].leaked) == (4, 0)


def test_a_leak_that_is_stored_already_is_reported(leaking):
    first = run(leaking)

    second = run(leaking, known=[first], leakage=guarded("drop", one="one.tsv", two="two.tsv"))

    counts = second.report.splits[0]
    assert (counts.known, counts.leaked, counts.leaked_stored, counts.dropped) == (4, 3, 3, 0)
    assert second.tables["pairs"] == {}
    assert second.rejects == []


def test_a_leak_that_is_stored_already_gets_no_negative_and_gives_none(leaking):
    write(leaking / "p.tsv", [("A cat sleeps.", "B.", 1), ("C.", "D.", 2), ("E.", "F.", 3)])
    without = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, negatives=())
    first = run(leaking, without)

    second = run(leaking, known=[first], leakage=guarded("drop", one="one.tsv"))

    negatives = pairs_of(second)
    assert negatives.height == 2
    assert set(negatives["sentence_a"]) == {sentence_id("C."), sentence_id("E.")}
    assert not {sentence_id("A cat sleeps."), sentence_id("B.")} & set(negatives["sentence_b"])


def test_what_a_classifier_is_trained_on_is_not_guarded(leaking):
    for split, text in (("train", "A cat sleeps."), ("test", "A dog.")):
        (leaking / f"{split}.tsv").write_text(f"text\tlabel\n{text}\tx\nA bird.\ty\n")
    classes = EvaluationSet(dataset="texts", files={"train": "train.tsv", "test": "test.tsv"})
    assert run(leaking, leakage=LeakageSettings(evaluation=(classes,))).report.splits[0].leaked == 0


def test_an_evaluation_set_that_cannot_be_read_stops_the_ingest(leaking):
    write(leaking / "bad.tsv", [("A", "B", "x")])

    with refused(RowWrong):
        run(leaking, leakage=guarded("drop", bad="bad.tsv"))


def test_the_leaks_of_captions_into_the_test_sets_are_found(shared):
    corpus = CorpusSettings(
        dataset="flickr30k", files={"train": "flickr30k/train.tsv.gz"}, caption_pairs=1, negatives=()
    )
    leakage = LeakageSettings(
        evaluation=[
            EvaluationSet(dataset="stsb", file="bamboo/sts/orig.test.txt.gz"),
            EvaluationSet(dataset="sick", file="sick/SICK_test_annotated.txt.gz"),
        ]
    )

    ingested = run(shared / "data", corpus, leakage=leakage)
    report = ingested.report

    assert report.splits[0].rows == 29000
    sets = {reject.message.rpartition(" is a sentence of ")[2] for reject in ingested.rejects}
    assert sets >= {"stsb-test", "sick-test"}
    assert report.splits[0].dropped == report.splits[0].leaked > 50


@pytest.mark.parametrize(
    ("dev", "said"),
    [
        ([("B.", "A."), ("C.", "D.")], "All 2 pairs of dev of 'two' are also in train of 'pairs'"),
        ([("B.", "A.")], "The only pair of dev of 'two' is also in train of 'pairs'"),
        ([("A.", "B."), ("C.", "D."), ("G.", "H.")], "2 of 3 pairs of dev of 'two' are also in train of 'pairs'"),
        ([("A.", "B."), ("G.", "H.")], None),
        ([("A.", "B."), ("B.", "A."), ("G.", "H.")], None),
        ([("A.", "D.")], None),
    ],
)
def test_a_dev_that_is_mostly_train_is_told(tmp_path, dev, said):
    write(tmp_path / "train.tsv", [("A.", "B."), ("C.", "D."), ("E.", "F.")], "sentence_a\tsentence_b")
    write(tmp_path / "dev.tsv", dev, "sentence_a\tsentence_b")
    corpora = [
        CorpusSettings(dataset="pairs", files={"train": "train.tsv"}),
        CorpusSettings(dataset="pairs", name="two", files={"dev": "dev.tsv"}),
    ]

    first = run(tmp_path, *corpora)
    again = run(tmp_path, *corpora, known=[first])
    # Pairs of corpora that are not read again are told of once, too.
    unread = ["pairs", "two"]
    other = ingest([], LeakageSettings(), IngestSettings(), tmp_path, Known(*stored(first)), unread=unread)
    beside = other.report.beside(first.report, unread, unread)
    assert other.report.shrunk == []

    for report in (first.report, again.report, beside):
        assert [str(overlap).partition(":")[0] for overlap in report.overlaps] == ([said] if said else [])


def test_a_dev_pair_that_was_drawn_as_a_negative_of_train_is_none_of_train(tmp_path):
    write(tmp_path / "train.tsv", [("A.", "B."), ("C.", "D."), ("E.", "F.")], "sentence_a\tsentence_b")
    corpora = [CorpusSettings(dataset="pairs", files={"train": "train.tsv"})]
    negatives = pairs_of(run(tmp_path, *corpora)).filter(kind="negative")
    text = {sentence_id(f"{letter}."): f"{letter}." for letter in "ABCDEF"}
    dev = [(text[a], text[b]) for a, b in negatives.select("sentence_a", "sentence_b").iter_rows()]
    write(tmp_path / "dev.tsv", dev, "sentence_a\tsentence_b")
    first = run(tmp_path, *corpora, CorpusSettings(dataset="pairs", name="two", files={"dev": "dev.tsv"}))
    known = Known(*stored(first))
    other = ingest([], LeakageSettings(), IngestSettings(), tmp_path, known, unread=["pairs", "two"])
    assert first.report.overlaps == other.report.overlaps == []
