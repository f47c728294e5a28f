"""The suite of labels: accuracy of a classifier, label by label, compared by pairs, and shown wherever scores are."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
import torch
from sentences import refused
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from features.core.faults import EncoderDamaged
from features.metrics.bootstrap import Bootstrap
from training.data.labelled_pairs import LabelledPairs
from training.evaluation.comparison import compare_runs
from training.evaluation.labels import LabelSuite
from training.evaluation.models import Models
from training.evaluation.promotion import compare_scores, on_same_pairs
from training.evaluation.run import FORMAT, evaluate
from training.evaluation.settings import PromotionSettings
from training.evaluation.suites import Subject, suites_of
from training.jobs import EvaluationJob, Source
from training.modules.pair_classifier import PairClassifier

LABELS = ("contradiction", "entailment", "neutral")
ANIMALS = ("cat", "dog", "horse")


def pairs_of(corpus, labels=LABELS, count=60):
    """Return pairs whose label the second sentence tells: its animal is that of the label, six times in seven."""
    rows = []
    for number in range(count):
        split = ("train", "dev", "test")[number % 3]
        label = number // 3 % len(labels)
        animal = ANIMALS[(label + (number % 7 == 6)) % 3]
        texts = f"a man sees {number}", f"a {animal} runs {number}"
        rows.append((f"{corpus}{number}", corpus, split, labels[label], *texts))
    return rows


def alike(texts, _task=None):
    return np.array([[float(animal in text) for animal in ANIMALS] for text in texts], np.float32)


def classifier(labels=LABELS):
    """Return a classifier that gives the label whose animal the second sentence names."""
    made = PairClassifier(len(ANIMALS), labels, ("v",))
    with torch.no_grad():
        made.linear.weight.copy_(torch.eye(len(ANIMALS))[: len(labels)])
        made.linear.bias.zero_()
    return made


@pytest.fixture
def job(tmp_path, tiny_encoder):
    folder = tmp_path / "run"
    shutil.copytree(tiny_encoder, folder / "encoder")
    training = {"settings": {"kind": "rgcn", "objective": "softmax", "splits": ["train", "dev"]}}
    corpora = {"nli": {"train": 20}, "paws": {"train": 20}}
    (folder / "encoder" / "training.json").write_text(json.dumps(training | {"corpora": corpora}))
    classifier().save(folder / "encoder")
    rows = [*pairs_of("nli"), *pairs_of("paws", ("0", "1")), *pairs_of("foreign", ("x", "y", "neutral"))]
    columns = ["pair_id", "corpus", "split", "label", "text_a", "text_b"]
    LabelledPairs.from_table(pl.DataFrame(rows, schema=columns, orient="row"), source={}).export(folder / "p.parquet")
    source = Source(judged=folder / "p.parquet")
    return EvaluationJob(source=source, encoder=folder / "encoder", output=folder, split="test", resamples=100)


def scored(job, **changes):
    suite = LabelSuite.of(Subject(job.model_copy(update=changes)))
    return suite, suite.score(Models(alike, None))


def test_it_scores_encoders_with_a_classifier_on_pairs_with_more_labels_than_two(job):
    assert "labels" in {*suites_of("rgcn")} & {*suites_of("pas")}
    assert "labels" not in {*suites_of("s3bert"), *suites_of("aspect"), *suites_of("")}
    _, result = scored(job)
    assert [(each["name"], each["pairs"]) for each in result["rows"]] == [("nli", 20)]
    for file in job.encoder.glob("classifier.*"):
        file.unlink()
    with refused(EncoderDamaged):
        LabelSuite.of(Subject(job))


def test_grades_that_happen_to_be_called_as_two_labels_are_another_task(job):
    made = classifier(("0", "1", "2"))
    table = pl.read_parquet(job.output / "p.parquet").with_columns(
        label=pl.when(pl.col("corpus") == "nli").then(pl.col("label").replace(dict(zip(LABELS, "012", strict=True))))
    )
    table.with_columns(pl.col("label").fill_null("9")).write_parquet(job.output / "p.parquet")
    made.save(job.encoder)
    assert [each["name"] for each in scored(job)[1]["rows"]] == ["nli"]
    classifier(("0", "1")).save(job.encoder)
    training = json.loads((job.encoder / "training.json").read_text()) | {"corpora": {"paws": {"train": 20}}}
    (job.encoder / "training.json").write_text(json.dumps(training))
    assert LabelSuite.of(Subject(job)) is None


def test_a_classifier_of_two_labels_is_scored_on_the_corpus_of_three_that_it_was_trained_on(job):
    classifier(LABELS[:2]).save(job.encoder)
    _, result = scored(job)
    assert [(each["name"], each["pairs"], each["unknown"]) for each in result["rows"]] == [("nli", 14, 6)]


def test_of_corpora_with_two_labels_those_without_paraphrases_are_scored(job):
    classifier(("0", "1")).save(job.encoder)
    assert LabelSuite.of(Subject(job)) is None  # the suite of paraphrases scores them
    classifier(("con", "pro")).save(job.encoder)
    table = pl.read_parquet(job.output / "p.parquet").with_columns(pl.col("label").replace({"0": "con", "1": "pro"}))
    table.write_parquet(job.output / "p.parquet")
    _, result = scored(job)
    assert [(each["name"], each["pairs"]) for each in result["rows"]] == [("paws", 20)]
    assert [figure.text for figure in LabelSuite.chapter(result, job.output).figures] == [
        "accuracy of the labels of paws"
    ]
    training = json.loads((job.encoder / "training.json").read_text())
    training["settings"]["positive_label"] = "pro"
    (job.encoder / "training.json").write_text(json.dumps(training))
    assert LabelSuite.of(Subject(job)) is None


def test_pairs_with_a_label_that_it_does_not_know_are_left_out_and_counted(job):
    table = pl.read_parquet(job.output / "p.parquet")
    odd = pl.col("pair_id").is_in(["nli2", "nli5"])
    table.with_columns(label=pl.when(odd).then(pl.lit("odd")).otherwise("label")).write_parquet(
        job.output / "p.parquet"
    )
    _, result = scored(job)
    assert [(each["pairs"], each["unknown"]) for each in result["rows"]] == [(18, 2)]
    assert (
        "Left out: 2 pairs of nli with labels that the classifier does not know." in LabelSuite.tables(result)[0].note
    )


def test_the_numbers_are_those_of_scikit_learn(job):
    suite, result = scored(job)
    suite.write(job.output)
    table = pl.read_parquet(job.output / LabelSuite.file)
    (nli,) = result["rows"]
    assert nli["encoder"] == pytest.approx(accuracy_score(table["label"], table["predicted"]))
    assert nli["encoder_interval"]["low"] < nli["encoder"] < nli["encoder_interval"]["high"]
    assert nli["most_frequent"] == pytest.approx(table["label"].value_counts()["count"].max() / 20)
    over = nli["over_most_frequent"]  # the share of that label is drawn anew, too
    assert over["low"] < nli["encoder"] - nli["most_frequent"] < over["high"]
    assert over["high"] - over["low"] > nli["encoder_interval"]["high"] - nli["encoder_interval"]["low"]
    expected = precision_recall_fscore_support(table["label"], table["predicted"], labels=LABELS)
    for place, label in enumerate(nli["labels"]):
        found = [label[measure] for measure in ("precision", "recall", "f1", "pairs")]
        assert found == pytest.approx([of[place] for of in expected])
    accuracy, by_label = LabelSuite.tables(result)
    assert (*accuracy.rows[0][:2], accuracy.rows[0][-1]) == ("nli", "20", "above")
    assert [row[0] for row in by_label.rows] == [f"nli: {label}" for label in LABELS]
    assert LabelSuite.headline(result) == {"labels accuracy": nli["encoder"]}


def test_a_label_that_is_never_said_has_no_precision(job):
    suite = LabelSuite.of(Subject(job))
    result = suite.score(
        Models(lambda texts, _task=None: np.tile([1.0, 0, 0], (len(texts), 1)).astype(np.float32), None)
    )
    never = result["rows"][0]["labels"][1]
    assert (never["predicted"], never["precision"], never["recall"], never["f1"]) == (0, None, 0, 0)


def test_two_encoders_are_compared_on_the_pairs_of_both(job, tmp_path):
    def evaluated(name, embed):
        folder = tmp_path / name
        folder.mkdir()
        suite = LabelSuite.of(Subject(job))
        result = suite.score(Models(embed, None))
        suite.write(folder)
        (folder / "metrics.json").write_text(json.dumps({"format": FORMAT, "suites": {"labels": result}}))
        return folder

    good = evaluated("good", alike)
    bad = evaluated("bad", lambda texts, _task=None: alike(texts)[:, [1, 2, 0]])
    (score,) = compare_runs([bad], [good], Bootstrap(200)).scores
    assert (score.name, score.items, score.difference.verdict) == ("nli", 20, "above")
    new, current = (json.loads((folder / "metrics.json").read_text()) for folder in (bad, good))
    assert on_same_pairs(new, current)
    verdict = compare_scores(new, current, PromotionSettings())
    assert not verdict.holds
    assert verdict.reasons[0].startswith("accuracy of the labels of nli ")


def test_it_is_part_of_an_evaluation(job):
    width = 48
    made = PairClassifier(width, LABELS)
    made.save(job.encoder)
    scores = evaluate(job)
    assert "labels" in scores["suites"]
    assert "Accuracy × 100 of the classifier" in (job.output / "report.html").read_text()
    assert "most frequent label" in (job.encoder / "README.md").read_text()
