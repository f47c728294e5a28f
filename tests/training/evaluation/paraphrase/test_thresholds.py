"""Where the threshold of a set comes from."""

import numpy as np
import pytest

from tests.training.evaluation.paraphrase.conftest import by_name, classifier, exported, pairs_of, scored
from training.evaluation.paraphrase.sets import JudgedPairs, JudgedSet
from training.evaluation.paraphrase.suite import ParaphraseSuite, _Judge


def test_the_threshold_is_that_of_dev_whatever_the_scored_labels_are(job, tmp_path):
    before = by_name(scored(job))["tweets"]
    assert {**before["thresholds"]["encoder"], "value": 0} == {
        "value": 0,
        "by": "dev",
        "corpora": ["tweets"],
        "pairs": 12,
        "same": False,
    }
    swapped = [(*row[:3], "10"[int(row[3])], *row[4:]) if row[2] == "test" else row for row in pairs_of()]
    again = by_name(scored(job, source=exported(tmp_path / "other.parquet", swapped)))["tweets"]
    assert again["positives"] == 8
    assert again["thresholds"]["encoder"] == before["thresholds"]["encoder"]
    assert again["thresholds"]["start"] == before["thresholds"]["start"]


def test_without_dev_pairs_the_threshold_is_of_the_corpora_that_were_learnt_from(job, tmp_path):
    fresh = pairs_of("fresh", (("test", 24),), first=1)
    source = exported(tmp_path / "some.parquet", pairs_of(), fresh)
    found = by_name(scored(job, source=source))
    assert {**found["fresh"]["thresholds"]["encoder"], "value": 0} == {
        "value": 0,
        "by": "learnt",
        "corpora": ["tweets"],
        "pairs": 12,
        "same": False,
    }
    assert found["fresh"]["thresholds"]["encoder"]["value"] == found["tweets"]["thresholds"]["encoder"]["value"]
    note = ParaphraseSuite.tables(scored(job, source=source))[0].note
    assert "fresh: scored by the cosine of the embeddings, threshold" in note
    assert "best for F1 on the 12 dev pairs of tweets, because it has none with both labels" in note


def test_dev_pairs_that_are_scored_otherwise_choose_no_threshold(job, tmp_path):
    classifier().save(job.encoder)
    fresh = pairs_of("fresh", (("test", 24),), labels=("yes", "no"))
    found = by_name(scored(job, source=exported(tmp_path / "some.parquet", pairs_of(), fresh)))["fresh"]
    # The classifier knows 1 and 0: its probabilities say nothing of a cosine. A start model's cosines are all alike.
    own = found["thresholds"]["encoder"]
    assert (found["scored_by"], own["value"], own["by"]) == ("cosine", None, "nothing")
    assert found["thresholds"]["start"]["by"] == "learnt"


def test_without_any_dev_pairs_a_probability_is_cut_at_a_half_and_a_cosine_not_at_all(job, tmp_path, capsys):
    classifier().save(job.encoder)
    source = exported(tmp_path / "none.parquet", pairs_of(counts=(("test", 24),)))
    result = scored(job, source=source)
    (each,) = result["rows"]
    own = each["thresholds"]["encoder"]
    assert (own["value"], own["by"]) == (0.5, "half")
    assert each["thresholds"]["start"]["value"] is None
    assert each["scores"]["f1"]["start"] is None
    assert each["scores"]["auroc"]["start"] is not None
    note = ParaphraseSuite.tables(result)[0].note
    assert (
        "threshold 0.500, because no dev pairs with both labels have such scores; start model by its cosine, without a "
        "threshold" in note
    )


def test_a_threshold_of_the_pairs_that_are_scored_is_told(job):
    result = scored(job, split="dev")
    assert all(each["thresholds"]["encoder"]["same"] for each in result["rows"])
    note = ParaphraseSuite.tables(result)[0].note
    assert "Thresholds of questions, tweets were chosen on the scored pairs themselves" in note
    assert "The model was chosen on the dev pairs of tweets" in note
    assert "--split with test (48 pairs)" in note
    assert result["others"] == {"test": 48}


def judged_by(name, dev):
    """Return a set whose dev pairs have these labels and cosines."""
    positive, cosines = zip(*dev, strict=True) if dev else ((), ())
    dev = JudgedPairs(("a",) * len(dev), tuple(map(str, cosines)), np.array(positive, dtype=bool)) if dev else None
    return JudgedSet(name, "test", ("1", "0"), JudgedPairs(("a",), ("1",), np.array([True])), dev)


def test_dev_pairs_of_several_corpora_choose_together_and_only_those_with_both_labels():
    def embed(texts):
        cosines = np.array([1.0 if text == "a" else float(text) for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)

    judge = _Judge(embed, None)
    learnt = [judged_by("theirs", [(True, 0.4), (False, 0.2)]), judged_by("others", [(True, 0.6)])]
    chosen = judge.threshold(judged_by("mine", [(True, 0.8), (False, 0.2)]), learnt)
    assert chosen == {"value": pytest.approx(0.5), "by": "dev", "corpora": ["mine"], "pairs": 2, "same": False}
    for none in ([], [(True, 0.9)], [(False, 0.9)]):
        chosen = judge.threshold(judged_by("mine", none), learnt)
        assert (chosen["value"], chosen["by"]) == (pytest.approx(0.3), "learnt")
        assert (chosen["corpora"], chosen["pairs"]) == (["theirs", "others"], 3)
        assert judge.threshold(judged_by("mine", none), learnt[1:])["value"] is None
    assert judge.threshold(judged_by("mine", []), [learnt[0], judged_by("itself", [(True, 1)])])["same"]


def test_a_set_whose_pairs_are_the_dev_pairs_that_were_learnt_from_is_told(job, files):
    rated = {"dataset": "paws_qqp", "file": "dev.tsv", "name": "again"}
    result = scored(job, ratings=(rated,), base=files)
    own = by_name(result)["again"]["thresholds"]["encoder"]
    assert (own["by"], own["corpora"], own["same"]) == ("learnt", ["tweets"], True)
    assert "Thresholds of again were chosen on the scored pairs themselves" in ParaphraseSuite.tables(result)[0].note
