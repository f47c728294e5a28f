"""The best model by human ratings: which one is kept, also after an interrupt, and how it is reported."""

import json
import random

import pytest
from scipy.stats import spearmanr
from sentences import refused

from features.core.faults import OtherSettings
from training.encoders.s3bert.train import train
from training.evaluation.run import evaluate
from training.evaluation.suites import score_tables
from training.jobs import EvaluationJob
from training.writing import read_json


@pytest.fixture(scope="module")
def rated(tmp_path_factory, table_of_pairs):
    """A dev set with random ratings, so that its best model is rarely the one of the lowest loss."""
    draw = random.Random(3)
    rows = [(a, b, draw.randrange(6)) for a, b in table_of_pairs.select("text_a", "text_b").head(40).iter_rows()]
    path = tmp_path_factory.mktemp("rated") / "rated.tsv"
    path.write_text("sentence_a\tsentence_b\tscore\n" + "".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows))
    return rows, {"dataset": "pairs", "name": "mine", "split": "dev", "file": str(path)}


@pytest.fixture
def job(job, changed, rated):
    settings = changed(job.settings, choose_by="mine", precision="float32", learning_rate=5e-3)
    return type(job).model_validate(dict(job) | {"settings": settings, "ratings": (rated[1],)})


def test_the_model_that_orders_the_pairs_best_is_kept_and_all_say_so(job, rated, tmp_path):
    from sentence_transformers import SentenceTransformer

    folder = train(job)
    report = read_json(folder / "training.json")
    scores = {look["step"]: look["spearman"] for look in report["history"]}
    losses = {look["step"]: look["total"] for look in report["history"]}
    assert report["best_step"] == max(scores, key=scores.get) != min(losses, key=losses.get)
    assert report["dev"]["spearman"] == max(scores.values())
    encoder = SentenceTransformer(str(folder), device="cpu")
    left, right = (encoder.encode([row[side] for row in rated[0]], normalize_embeddings=True) for side in (0, 1))
    people = [row[2] for row in rated[0]]
    assert spearmanr((left * right).sum(axis=1), people).statistic == pytest.approx(max(scores.values()), abs=1e-3)
    assert {name: report["chosen_by"][name] for name in ("set", "pairs")} == {"set": "mine", "pairs": 40}
    said = f"Chosen by human ratings: Spearman {max(scores.values()):.4f} on the 40 pairs of mine."
    assert said in (folder / "README.md").read_text()

    # The same pairs by another name are the same pairs.
    others = ({**rated[1], "name": "ours"},)
    found = evaluate(
        EvaluationJob(encoder=folder, output=tmp_path / "run", suites=(), ratings=others, source=job.source)
    )
    assert found["suites"]["ratings"]["chosen_by"] == ["ours"]
    assert "The model was chosen by its score on ours" in score_tables(found)[1].note
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<dt>Chosen by</dt><dd>its score on mine (40 rated pairs): the best model of the training</dd>" in page
    assert "Spearman with mine over the steps of the training" in page
    assert found["suites"]["facets"]["seen"] is None


def test_without_dev_pairs_the_ratings_choose_alone(job, changed, caplog):
    alone = job.model_copy(update={"settings": changed(job.settings, splits=("train", "none"))})
    with caplog.at_level("INFO", logger="training"):
        report = read_json(train(alone) / "training.json")
    assert set(report["dev"]) == {"spearman"}
    assert "the best model is chosen by 40 rated pairs of 'mine'" in caplog.text
    assert "to choose the best model by" not in caplog.text


def test_an_encoder_that_was_chosen_by_other_ratings_is_not_taken_for_this_one(job, tmp_path):
    folder = train(job)
    assert train(job) == folder
    other = tmp_path / "other.tsv"
    other.write_text("sentence_a\tsentence_b\tscore\na cat\ta dog\t1\na man\ttwo man\t3\n")
    with refused(OtherSettings):
        train(job.model_copy(update={"ratings": (job.ratings[0].model_copy(update={"file": str(other)}),)}))
    assert json.loads((folder / "training.json").read_text())["chosen_by"]["pairs"] == 40
