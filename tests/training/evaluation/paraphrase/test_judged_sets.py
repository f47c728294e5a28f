"""Which pairs are scored, and what is said of the others."""

import numpy as np
from sentences import refused

from features.core.faults import NothingToScore
from tests.training.evaluation.paraphrase.conftest import by_name, exported, pairs_of, scored, write_training
from training.evaluation.paraphrase.sets import JudgedPairs
from training.evaluation.paraphrase.suite import ParaphraseSuite
from training.evaluation.suites import Subject

NLI = [
    (f"n{n}", "nli", "test", ("entailment", "neutral", "contradiction")[n % 3], "a cat", f"a dog {n}") for n in range(6)
]


def test_what_is_not_scored_is_told_beside_what_is(job, tmp_path):
    odd = [(f"o{n}", "odd", "test", "ab"[n % 2], "a cat", f"a dog {n}") for n in range(4)]
    result = scored(
        job, source=exported(tmp_path / "more.parquet", pairs_of(), NLI, odd, pairs_of("late", (("train", 6),)))
    )
    assert list(by_name(result)) == ["tweets"]
    said = " ".join(result["skipped"])
    assert "pairs of nli have the labels 'contradiction', 'entailment', 'neutral'" in said
    assert "Not scored: odd, with the labels 'a' and 'b': not exactly one of them means a paraphrase" in said
    assert "Not scored: late, which has no pair in test; it has train (6)." in said
    write_training(job.output, positive_label="b")
    assert by_name(scored(job, source=exported(tmp_path / "odd.parquet", odd)))["odd"]["labels"]["positive"] == "b"


def test_inference_alone_is_no_reason_for_a_word_unless_the_suite_is_asked_for(job, tmp_path, caplog):
    only = job.model_copy(update={"source": exported(tmp_path / "nli.parquet", NLI)})
    for learnt in ([], ["true", "false", "unknown"]):
        write_training(job.output, labels=learnt)
        assert ParaphraseSuite.of(Subject(only)) is None
        assert not caplog.records
    with refused(NothingToScore):
        ParaphraseSuite.of(Subject(only.model_copy(update={"suites": ("paraphrase",)})))
    assert ParaphraseSuite.of(Subject(job.model_copy(update={"source": None}))) is None


def test_a_stray_label_beside_the_two_of_the_encoder_is_told(job, tmp_path, caplog):
    stray = ("s", "tweets", "train", "maybe", "a cat", "a dog")
    only = job.model_copy(update={"source": exported(tmp_path / "stray.parquet", [*pairs_of(), stray])})
    write_training(job.output, labels=["0", "1"])
    assert ParaphraseSuite.of(Subject(only)) is None
    (said,) = caplog.messages
    assert "'maybe'" in said


def test_judged_sets_under_evaluation_are_scored_whatever_the_split(job, files):
    rated = {"dataset": "paws_qqp", "file": "test.tsv"}
    task = {"dataset": "paws_wiki", "files": {split: f"{split}.tsv" for split in ("train", "dev", "test")}}
    result = scored(job, ratings=(rated,), tasks=(task,), base=files, split="dev")
    assert result["data"]["paws_qqp-test"] == result["data"]["paws_wiki"], "the pairs of one file"
    found = by_name(result)
    assert list(found) == ["questions", "tweets", "paws_qqp-test", "paws_wiki"]
    assert found["paws_qqp-test"]["pairs"] == found["paws_wiki"]["pairs"] == 24
    assert found["paws_qqp-test"]["positives"] == found["paws_wiki"]["positives"] == 16
    assert found["paws_qqp-test"]["thresholds"]["encoder"]["corpora"] == ["tweets"]
    assert {**found["paws_wiki"]["thresholds"]["encoder"], "value": 0} == {
        "value": 0,
        "by": "dev",
        "corpora": ["paws_wiki"],
        "pairs": 12,
        "same": False,
    }
    assert list(by_name(scored(job, source=None, ratings=(rated,), base=files))) == ["paws_qqp-test"]
    of_texts = {"dataset": "mr", "files": {"train": "mr-train", "test": "mr-test"}}
    for file in of_texts["files"].values():
        (files / file).write_text("1 a film\n0 a bore\n")
    assert list(by_name(scored(job, tasks=(of_texts,), base=files))) == ["questions", "tweets"]
    named = {**rated, "name": "tweets"}
    assert list(by_name(scored(job, ratings=(named,), base=files)))[1:] == ["tweets", "tweets (evaluation set)"]
    alone = scored(job, source=None, ratings=(named,), base=files, split="dev")
    assert alone["seen"] is None, "it has the name of a corpus that was learnt from, not its pairs"


def test_rated_pairs_of_which_some_have_no_label_are_not_judged(job, tmp_path):
    rows = [
        "sentence_a\tsentence_b\tscore\tlabel",
        "the cat\ta cat\t1\t1",
        "the dog\ta man\t2\t0",
        "the man\ta dog\t3\t",
    ]
    (tmp_path / "some.tsv").write_text("\n".join(rows) + "\n")
    rated = {"dataset": "pairs", "name": "some", "file": "some.tsv"}
    assert list(by_name(scored(job, ratings=(rated,), base=tmp_path))) == ["questions", "tweets"]


def test_a_training_that_chose_by_the_split_that_is_scored_takes_no_threshold_from_it(job):
    write_training(job.output, splits=["train", "test"])
    own = by_name(scored(job))["tweets"]["thresholds"]["encoder"]
    assert (own["pairs"], own["same"]) == (12, False)


def test_pairs_have_the_digest_of_others_only_where_no_text_and_no_judgement_differs():
    pairs = [("ab", "c", True), ("a", "bc", True), ("ab", "d", True), ("e", "c", True), ("ab", "c", False)]
    digests = [JudgedPairs((a,), (b,), np.array([positive])).digest() for a, b, positive in pairs]
    assert len(set(digests)) == len(pairs)
    assert JudgedPairs(("ab",), ("c",), np.array([True])).digest() == digests[0]


def test_a_suite_that_is_asked_for_without_any_pairs_is_none_of_the_job(job):
    assert ParaphraseSuite.of(Subject(job.model_copy(update={"source": None, "suites": ("paraphrase",)}))) is None
