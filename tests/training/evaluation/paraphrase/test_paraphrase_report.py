"""What an evaluation of judged pairs shows, compares and promotes by; its chapter."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
import torch

from tests.training.evaluation.paraphrase.conftest import alike, by_name, exported, pairs_of, scored, write_training
from training.evaluation.comparison import compare_runs
from training.evaluation.measures import MEASURES, Scored
from training.evaluation.models import Models
from training.evaluation.paraphrase import suite
from training.evaluation.paraphrase.suite import ParaphraseSuite
from training.evaluation.promotion import compare_scores, on_same_pairs
from training.evaluation.run import evaluate, write_report
from training.evaluation.settings import PromotionSettings
from training.evaluation.suites import Subject
from training.modules.calibration import Calibration
from training.modules.pair_classifier import PairClassifier


def test_an_evaluation_shows_compares_and_promotes_by_what_was_found(job, tmp_path, tiny_encoder):
    write_training(job.output, backbone=str(tiny_encoder))
    scores = evaluate(job.model_copy(update={"suites": ()}))
    assert list(scores["suites"]) == ["paraphrase"]
    result = scores["suites"]["paraphrase"]
    json.dumps(result, allow_nan=False)
    mean = np.mean(list(ParaphraseSuite.numbers(result).values()))
    assert ParaphraseSuite.headline(result) == {"paraphrase F1": pytest.approx(mean)}
    assert result["mean"]["encoder"] == pytest.approx(mean)
    items = ParaphraseSuite.items(job.output, result)
    assert [(each.name, each.measure, len(set(each.items)), len(each.texts)) for each in items] == [
        ("questions", "", 24, 0),
        ("tweets", "", 24, 0),
        ("questions", "AUROC", 24, 24),
        ("tweets", "AUROC", 24, 24),
    ], "a page shows the sentences of a pair once"

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
    named = sorted(reason.rsplit(" ", 3)[0] for reason in verdict.reasons)
    assert named == ["paraphrase F1 of questions", "paraphrase F1 of tweets"]
    worse = json.loads(json.dumps(scores))
    worse["suites"]["paraphrase"]["rows"][1]["encoder"] -= 0.03
    refused = compare_scores(worse, scores, PromotionSettings())
    assert not refused.holds
    assert any(r.startswith("paraphrase F1 of tweets") and "less, and 2 is allowed" in r for r in refused.reasons)
    assert compare_scores(worse, scores, PromotionSettings(paraphrase=4)).holds
    worse["suites"]["paraphrase"]["data"]["tweets"] = "other pairs"
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


def test_pairs_of_one_sentence_a_are_an_item_and_models_differ_in_those_that_a_threshold_divides(
    job, tmp_path, monkeypatch
):
    again = [(f"{row[0]}b", *row[1:5], f"{row[5]} again") for row in pairs_of()]
    of_measures = []
    monkeypatch.setattr(suite, "paired_mean", lambda sets: of_measures.append(*sets))
    source = exported(tmp_path / "twice.parquet", pairs_of(), again)
    paraphrases = ParaphraseSuite.of(Subject(job.model_copy(update={"source": source})))
    paraphrases.score(Models(alike, lambda texts, _task=None: alike(texts)[:, :3]))
    divided = paraphrases.items_of_sets[0].filter(pl.col("predicted") != pl.col("start_predicted"))
    assert 0 < divided["text_a"].n_unique() < len(divided)
    drawn = dict(zip(MEASURES, of_measures, strict=True))
    differ = {name: each.differ for name, each in drawn.items() if each.differ is not None}
    assert differ == dict.fromkeys(("accuracy", "f1", "mcc"), divided["text_a"].n_unique())
    assert [name for name, each in drawn.items() if each.mean] == ["accuracy"]
    assert {each.bootstrap.count for each in drawn.values()} == {8}


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


def test_the_chapter_does_not_send_readers_of_one_label_to_measures_that_need_two(job, tmp_path):
    ones = [row for row in pairs_of() if row[2] != "test" or row[3] == "1"]
    evaluate(job.model_copy(update={"source": exported(tmp_path / "ones.parquet", ones), "suites": ()}))
    chapter = write_report(job.output, job.encoder).read_text().partition("<h3>tweets</h3>")[2]
    assert "say more here" not in chapter
    assert "have the label &#39;1&#39;" in chapter


def test_the_probabilities_of_a_classifier_are_held_against_what_is_so(job, browser):
    torch.manual_seed(0)
    made = PairClassifier(48, ("0", "1"), ("|u-v|",))
    made.save(job.encoder)
    result = evaluate(job.model_copy(update={"suites": ()}))["suites"]["paraphrase"]
    found = by_name(result)
    assert found["questions"]["reliability"] is None  # by the cosine
    table = pl.read_parquet(job.output / ParaphraseSuite.file).filter(set="tweets")
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
    (again,) = ParaphraseSuite.tables(evaluate(job.model_copy(update={"suites": ()}))["suites"]["paraphrase"])[2:]
    assert [row[0] for row in again.rows] == ["tweets"]
    assert "calibrated on 969 dev pairs" in again.note
