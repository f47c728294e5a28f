"""The suite of judged pairs: its scores and how they are made, its thresholds, its sentences, its chapter."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.metrics import f1_score

from features.errors import InputError, ModelError
from training.data.labelled_pairs import LabelledPairs
from training.evaluation.comparison import compare_runs
from training.evaluation.measures import Scored
from training.evaluation.models import Models
from training.evaluation.paraphrase.suite import PAIRS_FILE, ParaphraseSuite
from training.evaluation.paraphrase.tables import paraphrase_tables
from training.evaluation.promotion import compare_scores, on_same_pairs
from training.evaluation.run import evaluate, write_report
from training.evaluation.settings import PromotionSettings
from training.evaluation.subject import Subject
from training.evaluation.suites import suites_of
from training.jobs import EvaluationJob, Source
from training.modules.calibration import Calibration
from training.modules.pair_classifier import PairClassifier

WORDS = ("cat", "dog", "horse", "man", "woman", "child", "park", "house")


def pairs_of(corpus="tweets", counts=(("train", 12), ("dev", 12), ("test", 24)), labels=("1", "0"), first=0):
    """Return judged pairs: a paraphrase has the words of its first sentence, <b> included, in another order."""
    rows = []
    for split, count in counts:
        for number in range(count):
            one, two = WORDS[number % 8], WORDS[(number * 3 + first) % 8]
            same = number % 3 > 0
            other = f"{two} sees the <b>{one}" if same else f"no {WORDS[(number + 4) % 8]} runs {number}"
            row = (
                f"{corpus}{split}{number}",
                corpus,
                split,
                labels[0 if same else 1],
                f"the <b>{one} sees {two}",
                other,
            )
            rows.append(row)
    return rows


def exported(path, *rows):
    columns = ["pair_id", "corpus", "split", "label", "text_a", "text_b"]
    table = pl.DataFrame([row for some in rows for row in some], schema=columns, orient="row")
    LabelledPairs.from_table(table, source={}).export(path)
    return Source(judged=path)


def alike(texts, _task=None):
    """Embed a text by its words: texts with the same words have the same embedding."""
    return np.array([[float(word in text) + 0.01 for word in WORDS] for text in texts], np.float32)


def classifier(parts=("|u-v|",), labels=("0", "1"), weight=-1.0, bias=2.0):
    """Return a classifier that by default is the surer of a paraphrase, the closer the embeddings are."""
    made = PairClassifier(len(WORDS), labels, parts)
    with torch.no_grad():
        made.linear.weight.zero_()
        made.linear.weight[labels.index("1"), : len(WORDS)] = weight
        made.linear.bias.copy_(torch.tensor([bias if label == "1" else 0.0 for label in labels]))
    return made


@pytest.fixture
def job(tmp_path, tiny_encoder):
    """Return a job about an encoder without a classifier, of a kind of the future."""
    folder = tmp_path / "run"
    shutil.copytree(tiny_encoder, folder / "encoder")
    write_training(folder)
    source = exported(folder / "judged.parquet", pairs_of(), pairs_of("questions", labels=("duplicate", "other")))
    return EvaluationJob(
        source=source, encoder=folder / "encoder", output=folder, split="test", resamples=100, project="zoo"
    )


def write_training(folder, **settings):
    training = {
        "settings": {"kind": "hyperbolic", "splits": ["train", "dev"], **settings},
        "corpora": {"tweets": {"train": 12, "dev": 12}},
        "best_step": 1,
    }
    (folder / "encoder" / "training.json").write_text(json.dumps(training))


def scored(job, models=None, **changes):
    suite = ParaphraseSuite.of(Subject(job.model_copy(update=changes)))
    return suite.score(models or Models(alike, alike))


def by_name(result):
    return {each["name"]: each for each in result["corpora"]}


def test_an_encoder_of_any_kind_is_scored_where_there_are_judged_pairs_in_the_split(job):
    assert all("paraphrase" in suites_of(kind) for kind in ("", "s3bert", "rgcn", "aspect"))
    found = by_name(scored(job))
    assert {name: (each["pairs"], each["positives"]) for name, each in found.items()} == {
        "questions": (24, 16),
        "tweets": (24, 16),
    }
    assert found["questions"]["labels"] == {"positive": "duplicate", "negative": "other"}
    assert list(by_name(scored(job, corpora=("tweets",)))) == ["tweets"]
    assert {each["scored_by"] for each in found.values()} == {"cosine"}
    assert {each["swapped"] for each in found.values()} == {0}  # a cosine knows no order
    for each in found.values():
        assert each["scores"]["f1"]["encoder"] == each["scores"]["f1"]["start"]
        assert each["scores"]["f1"]["difference"] == {"low": 0, "high": 0, "verdict": "unclear"}


def test_a_classifier_decides_where_it_tells_both_labels_apart_and_the_cosine_elsewhere(job):
    classifier().save(job.encoder)
    found = by_name(scored(job))
    assert {name: each["scored_by"] for name, each in found.items()} == {"questions": "cosine", "tweets": "classifier"}
    suite = ParaphraseSuite.of(Subject(job))
    result = suite.score(Models(alike, None))
    suite.write(job.output)
    table = pl.read_parquet(job.output / PAIRS_FILE).filter(corpus="tweets")
    expected = classifier().probabilities(alike(table["text_a"]), alike(table["text_b"]))[:, 1]
    assert table["score"].to_numpy() == pytest.approx(expected)
    each = by_name(result)["tweets"]
    called = table["score"] >= each["threshold"]
    assert (table["predicted"] == "1").to_list() == called.to_list()
    assert each["scores"]["f1"]["encoder"] == pytest.approx(f1_score(table["label"] == "1", called))
    assert "start" not in [name for name in table.columns if not name.startswith("start_")]
    assert table["start_score"].null_count() == table.height


def test_a_classifier_that_its_training_made_and_that_is_lost_is_no_reason_for_the_cosine(job):
    write_training(job.output, kind="pas")
    with pytest.raises(ModelError, match=r"lacks classifier.json and classifier.safetensors of its classifier; delete"):
        ParaphraseSuite.of(Subject(job))
    write_training(job.output, kind="rgcn", objective="softmax")
    classifier().save(job.encoder)
    assert by_name(scored(job))["tweets"]["scored_by"] == "classifier"
    (job.encoder / "classifier.json").unlink()
    with pytest.raises(ModelError, match=r"lacks classifier.json of its classifier; delete the folder"):
        ParaphraseSuite.of(Subject(job))


def test_of_more_labels_than_the_two_of_a_set_the_classifier_shares_the_probability_among_these(job):
    known = classifier(labels=("0", "1", "neutral"))
    known.save(job.encoder)
    left, right = alike(["the cat"]), alike(["the dog"])
    all_three, two = known.probabilities(left, right)[0], known.probabilities(left, right, ("1", "0"))[0]
    assert two == pytest.approx(
        [all_three[1] / (all_three[0] + all_three[1]), all_three[0] / (all_three[0] + all_three[1])]
    )
    assert by_name(scored(job))["tweets"]["scored_by"] == "classifier"


def test_a_classifier_without_an_order_changes_no_prediction_by_a_swap_and_another_is_counted(job):
    classifier(("|u-v|", "u*v")).save(job.encoder)
    each = by_name(scored(job))["tweets"]
    assert (each["swapped"], each["changed"]) == (0, 0)
    ordered = classifier(("v",), weight=1.0, bias=-1.5)  # counts the words of the second sentence
    ordered.save(job.encoder)
    each = by_name(scored(job))["tweets"]
    suite = ParaphraseSuite.of(Subject(job))
    result = suite.score(Models(alike, None))
    suite.write(job.output)
    table = pl.read_parquet(job.output / PAIRS_FILE).filter(corpus="tweets")
    changed = (table["predicted"] != table["swapped_predicted"]).sum()
    assert changed == each["changed"] > 0
    assert each["swapped"] == changed / 24
    swapped = ordered.probabilities(alike(table["text_b"]), alike(table["text_a"]))[:, 1]
    assert table["swapped_score"].to_numpy() == pytest.approx(swapped)
    note = "\n".join(table.note for table in ParaphraseSuite.tables(result))
    assert f"Predictions that change when the sentences are swapped: tweets {changed} of 24." in note


def test_what_is_to_be_had_without_looking_at_the_pairs_is_shown_and_told(job):
    result = scored(job)
    each = by_name(result)["tweets"]
    f1 = f1_score([1] * each["positives"] + [0] * (each["pairs"] - each["positives"]), [1] * each["pairs"])
    _, measures = ParaphraseSuite.tables(result)[:2]
    (row,) = [row for row in measures.rows if row[0] == "tweets: every pair"]
    assert row == ("tweets: every pair", "66.7", f"{100 * f1:.1f}", "66.7", "0.0", "50.0", "")
    told = f"tweets: F1 is not clearly above that of calling every pair a paraphrase ({100 * f1:.1f})"
    for low, said in ((f1 - 0.01, True), (f1 + 0.01, False)):
        each["scores"]["f1"]["encoder_interval"] = {"low": low, "high": 1.0}
        assert (told in ParaphraseSuite.tables(result)[0].note) == said


def test_the_threshold_is_that_of_dev_whatever_the_scored_labels_are(job, tmp_path):
    before = by_name(scored(job))["tweets"]
    assert before["threshold_from"] == {"by": "dev", "corpora": ["tweets"], "pairs": 12, "same": False}
    swapped = [(*row[:3], "10"[int(row[3])], *row[4:]) if row[2] == "test" else row for row in pairs_of()]
    again = by_name(scored(job, source=exported(tmp_path / "other.parquet", swapped)))["tweets"]
    assert again["positives"] == 8
    assert again["threshold"] == before["threshold"]
    assert again["start_threshold"] == before["start_threshold"]


def test_without_dev_pairs_the_threshold_is_of_the_corpora_that_were_learnt_from(job, tmp_path):
    fresh = pairs_of("fresh", (("test", 24),), first=1)
    source = exported(tmp_path / "some.parquet", pairs_of(), fresh)
    found = by_name(scored(job, source=source))
    assert found["fresh"]["threshold_from"] == {"by": "learnt", "corpora": ["tweets"], "pairs": 12, "same": False}
    assert found["fresh"]["threshold"] == found["tweets"]["threshold"]
    note = ParaphraseSuite.tables(scored(job, source=source))[0].note
    assert "fresh: scored by the cosine of the embeddings, threshold" in note
    assert "best on the 12 dev pairs of tweets, because it has none with both labels" in note


def test_dev_pairs_that_are_scored_otherwise_choose_no_threshold(job, tmp_path):
    classifier().save(job.encoder)
    fresh = pairs_of("fresh", (("test", 24),), labels=("yes", "no"))
    found = by_name(scored(job, source=exported(tmp_path / "some.parquet", pairs_of(), fresh)))["fresh"]
    # The classifier knows 1 and 0: its probabilities say nothing of a cosine. A start model's cosines are all alike.
    assert (found["scored_by"], found["threshold"], found["threshold_from"]["by"]) == ("cosine", None, "nothing")
    assert found["start_threshold_from"]["by"] == "learnt"


def test_without_any_dev_pairs_a_probability_is_cut_at_a_half_and_a_cosine_not_at_all(job, tmp_path, capsys):
    classifier().save(job.encoder)
    source = exported(tmp_path / "none.parquet", pairs_of(counts=(("test", 24),)))
    result = scored(job, source=source)
    (each,) = result["corpora"]
    assert (each["threshold"], each["threshold_from"]["by"]) == (0.5, "half")
    assert each["start_threshold"] is None
    assert each["scores"]["f1"]["start"] is None
    assert each["scores"]["auroc"]["start"] is not None
    note = ParaphraseSuite.tables(result)[0].note
    assert (
        "threshold 0.500, because no dev pairs with both labels have such scores; start model by its cosine, without a "
        "threshold" in note
    )


def test_a_threshold_of_the_pairs_that_are_scored_is_told(job):
    result = scored(job, split="dev")
    assert all(each["threshold_from"]["same"] for each in result["corpora"])
    note = ParaphraseSuite.tables(result)[0].note
    assert "Thresholds of questions, tweets were chosen on the scored pairs themselves" in note
    assert "The model was chosen on the dev pairs of tweets" in note
    assert "--split with test (48 pairs)" in note


def test_pairs_of_one_label_leave_what_compares_two_undefined_and_say_so(job, tmp_path):
    ones = [row for row in pairs_of() if row[2] != "test" or row[3] == "1"]
    result = scored(job, source=exported(tmp_path / "ones.parquet", ones))
    (each,) = result["corpora"]
    assert each["scores"]["auroc"]["encoder"] is None
    assert each["scores"]["f1"]["encoder"] > 0
    assert "All 16 pairs of tweets have the label '1': AP, MCC and AUROC" in ParaphraseSuite.tables(result)[0].note
    (row,) = [row for row in ones if row[2] == "test"][:1]
    result = scored(job, source=exported(tmp_path / "one.parquet", [*(r for r in ones if r[2] != "test"), row]))
    assert "The only pair of tweets has the label '1': AP, MCC and AUROC" in ParaphraseSuite.tables(result)[0].note


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
    assert ParaphraseSuite.of(Subject(only)) is None
    assert not caplog.records
    with pytest.raises(InputError, match=r"^Paraphrases cannot be scored\. Not scored, because a paraphrase judgement"):
        ParaphraseSuite.of(Subject(only.model_copy(update={"suites": ("paraphrase",)})))
    assert ParaphraseSuite.of(Subject(job.model_copy(update={"source": None}))) is None


@pytest.fixture
def files(tmp_path):
    """Write the pairs of an evaluation set, as one file and as train, dev and test."""
    for split, count in (("train", 12), ("dev", 12), ("test", 24)):
        rows = pairs_of("paws_qqp", ((split, count),))
        lines = "".join(f"{n}\t{row[4]}\t{row[5]}\t{row[3]}\n" for n, row in enumerate(rows))
        (tmp_path / f"{split}.tsv").write_text(f"id\tsentence1\tsentence2\tlabel\n{lines}")
    return tmp_path


def test_judged_sets_under_evaluation_are_scored_whatever_the_split(job, files):
    rated = {"dataset": "paws_qqp", "file": "test.tsv"}
    task = {"dataset": "paws_wiki", "files": {split: f"{split}.tsv" for split in ("train", "dev", "test")}}
    found = by_name(scored(job, ratings=(rated,), tasks=(task,), base=files, split="dev"))
    assert list(found) == ["questions", "tweets", "paws_qqp-test", "paws_wiki"]
    assert found["paws_qqp-test"]["pairs"] == found["paws_wiki"]["pairs"] == 24
    assert found["paws_qqp-test"]["threshold_from"]["corpora"] == ["tweets"]
    assert found["paws_wiki"]["threshold_from"] == {"by": "dev", "corpora": ["paws_wiki"], "pairs": 12, "same": False}
    assert list(by_name(scored(job, source=None, ratings=(rated,), base=files))) == ["paws_qqp-test"]


def test_an_evaluation_shows_compares_and_promotes_by_what_was_found(job, tmp_path, tiny_encoder):
    write_training(job.output, backbone=str(tiny_encoder))
    scores = evaluate(job.model_copy(update={"suites": ()}))
    assert list(scores["suites"]) == ["paraphrase"]
    result = scores["suites"]["paraphrase"]
    json.dumps(result, allow_nan=False)
    mean = np.mean(list(ParaphraseSuite.numbers(result).values()))
    assert ParaphraseSuite.headline(result) == {"paraphrase F1": pytest.approx(mean)}
    assert result["averages"]["f1"]["encoder"] == pytest.approx(mean)
    items = ParaphraseSuite.items(job.output, result)
    assert [(each.name, each.measure, len(set(each.items))) for each in items] == [
        ("questions", "", 24),
        ("tweets", "", 24),
        ("questions", "AUROC", 24),
        ("tweets", "AUROC", 24),
    ]

    other = tmp_path / "other"
    shutil.copytree(job.output, other)
    compared = {(score.name, score.measure): score for score in compare_runs([job.output], [other]).scores}
    assert len(compared) == 5
    assert compared["tweets", "F1"].a.mean == pytest.approx(ParaphraseSuite.numbers(result)["tweets"])
    of_tweets = by_name(result)["tweets"]["scores"]["auroc"]["encoder"]
    assert compared["tweets", "AUROC"].a.mean == pytest.approx(of_tweets)
    assert compared["mean F1", "F1"].a.mean == pytest.approx(mean)
    assert compared["mean F1", "F1"].difference.verdict == "unclear"

    assert on_same_pairs(scores, scores)
    verdict = compare_scores(scores, scores, PromotionSettings())
    assert verdict.holds
    assert sorted(reason.split(" 1")[0].rsplit(" ", 3)[0] for reason in verdict.reasons)
    worse = json.loads(json.dumps(scores))
    worse["suites"]["paraphrase"]["corpora"][1]["scores"]["f1"]["encoder"] -= 0.03
    refused = compare_scores(worse, scores, PromotionSettings())
    assert not refused.holds
    assert any(r.startswith("paraphrase F1 of tweets") and "less, and 2 is allowed" in r for r in refused.reasons)
    assert compare_scores(worse, scores, PromotionSettings(paraphrase=4)).holds
    worse["suites"]["paraphrase"]["corpora"][1]["digest"] = "other pairs"
    assert not on_same_pairs(worse, scores)


def test_sets_without_a_threshold_are_compared_by_auroc(job, tmp_path, tiny_encoder):
    write_training(job.output, backbone=str(tiny_encoder))
    source = exported(tmp_path / "test.parquet", pairs_of(counts=(("test", 24),)))
    result = evaluate(job.model_copy(update={"source": source, "suites": ()}))["suites"]["paraphrase"]
    assert ParaphraseSuite.numbers(result) == {"tweets": None}
    (found,) = compare_runs([job.output], [job.output]).scores
    assert (found.name, found.measure, found.items) == ("tweets", "AUROC", 24)
    assert found.a.mean == pytest.approx(by_name(result)["tweets"]["scores"]["auroc"]["encoder"])


def test_the_sets_of_a_mean_are_drawn_independently_whatever_their_size(job, monkeypatch):
    draw, drawn = Scored.draw, []
    monkeypatch.setattr(Scored, "draw", lambda self, bootstrap: drawn.append(bootstrap) or draw(self, bootstrap))
    scored(job)
    of_questions, of_tweets = drawn[:2], drawn[2:]
    assert of_questions[0] == of_questions[1] != of_tweets[0] == of_tweets[1]  # encoder and start model, on the same


def test_the_chapter_draws_curves_and_names_the_worst_mistakes_escaped(job, tmp_path, browser):
    wrong = [
        (*row[:3], "10"[int(row[3])], *row[4:]) if row[0] in {"tweetstest0", "tweetstest1"} else row
        for row in pairs_of()
    ]
    evaluate(job.model_copy(update={"source": exported(tmp_path / "wrong.parquet", wrong)}))
    page = write_report(job.output, job.encoder)
    text = page.read_text()
    assert "<h2>Paraphrase or not</h2>" in text
    assert "tweets: precision over recall of encoder" in text
    assert "share of paraphrases over the probability" not in text  # by the cosine
    assert "Predicted as paraphrases, judged as not" in text
    assert "Judged as paraphrases, predicted as not" in text
    assert "the &lt;b&gt;cat sees" in text
    assert "<b>cat" not in text
    assert browser.find_faults(page) == []


def test_the_probabilities_of_a_classifier_are_held_against_what_is_so(job, browser):
    torch.manual_seed(0)
    made = PairClassifier(48, ("0", "1"), ("|u-v|",))
    made.save(job.encoder)
    result = evaluate(job.model_copy(update={"suites": ()}))["suites"]["paraphrase"]
    found = by_name(result)
    assert found["questions"]["reliability"] is None  # by the cosine
    table = pl.read_parquet(job.output / PAIRS_FILE).filter(corpus="tweets")
    reliable = found["tweets"]["reliability"]
    assert reliable["said"] == pytest.approx(table["score"].mean())
    assert reliable["so"] == pytest.approx(16 / 24)
    assert sum(each["pairs"] for each in reliable["bins"]) == 24
    text = write_report(job.output, job.encoder).read_text()
    assert "tweets: share of paraphrases over the predicted probability" in text
    assert "They were not calibrated, because there were too few dev pairs" in text
    assert browser.find_faults(job.output / "report.html") == []
    made.calibration = Calibration(2.0, (0.0, 0.0), 969, 1.0, 0.9)
    made.save(job.encoder)
    (again,) = paraphrase_tables(evaluate(job.model_copy(update={"suites": ()}))["suites"]["paraphrase"])[2:]
    assert [row[0] for row in again.rows] == ["tweets"]
    assert "calibrated on 969 dev pairs" in again.note
