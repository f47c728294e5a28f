"""Training with predicate-argument spans, with a tiny encoder: trained, repeated, resumed, loaded, refused."""

from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentences import refused
from sklearn.metrics import accuracy_score, f1_score

from features.core.faults import (
    ModelUnfit,
    NothingToLearn,
    NoTrainingData,
    OtherParser,
    OtherText,
    ReleaseLacks,
    SplitsOverlap,
    UnknownName,
    WrongValue,
)
from features.parsers.settings import SrlSettings
from features.parsers.srl.parser import load
from features.sentences import normalise
from training.data.parses import Frames
from training.encoders.backbone import Backbone
from training.encoders.loading import load_encoder
from training.encoders.pair_task import separation_scores
from training.encoders.pas.settings import PasSettings
from training.encoders.pas.train import PasTraining, train
from training.encoders.settings import training_labels
from training.encoders.structures import read_sentences
from training.evaluation.models import Embedder
from training.evaluation.run import evaluate
from training.jobs import EvaluationJob, Source
from training.modules import calibration
from training.modules.pair_classifier import PairClassifier
from training.modules.parse import weights_of
from training.modules.spans import Spans
from training.predicting import PairPredictor

ODD = ["the cat sees two dog", "a \U0001f436 runs", "\u732b", "the red " * 60, "", "...", "no man"]


def start_model(folder, settings, structure):
    return PasTraining(SimpleNamespace(backbone=folder), settings, None, structure).start("cpu")


@pytest.fixture
def untagged(monkeypatch):
    """Make a test fail if it runs a tagger."""
    monkeypatch.setattr(Spans, "_load_tagger", lambda self: pytest.fail("tagged"))


def test_the_classifier_learns_labels_from_the_store_alone_and_is_saved_beside_the_encoder(
    job, judged, frames, caplog, untagged, told
):
    with caplog.at_level("INFO", logger="training"):
        folder = train(job(loop={"epochs": 8}, new_learning_rate=1e-2))

    course = told(folder)
    assert course["dev"]["accuracy"] > 0.6 > 1 / 3
    found = [look["average_precision"] for look in course["history"]]
    assert course["dev"]["average_precision"] == max(found)
    assert course["settings"]["labels"] == ["contradiction", "entailment", "neutral"]
    # Two of 90 are dev pairs as well.
    assert course["corpora"]["nli"] == {"train": 88, "dev": 30, "unit": "pairs", "licence": ""}
    assert (course["tagger"]["identity"], course["tagger"]["tagged"]) == (frames.parser, len(judged.texts) - 1)
    assert course["tagger"]["with_spans"] == len(judged.texts) - 1  # each has a verb, and something before it
    assert f"1 of {len(judged.texts)} sentences have no semantic roles" in caplog.text
    classifier = PairClassifier.load(folder)
    assert classifier.is_symmetric
    card = (folder / "README.md").read_text()
    assert "tags semantic roles, with srl_bert/embedded" in card
    assert "The order of a pair does not count" in card
    assert "Chosen by the dev average precision: loss" in card


@pytest.mark.parametrize(
    "given",
    [
        {"spans": "random", "weights": "equal", "cache_gib": 0.0, "disk_gib": 1.0},
        {"spans": "continuous", "pooled": False, "cache_gib": 0.0, "disk_gib": 0.0},
        {"weights": "by_role", "harmed": 0.4, "harm": "moved", "choose_by": "f1"},
        {"classifier": ["u", "v", "|u-v|"], "layers_tuned": "all", "choose_by": "loss"},
        {"spans": "none", "training_share": 0.5, "layers": 2},
    ],
    ids=["random spans", "spans only", "by role, moved", "in order, all layers", "shallow twin of half of the pairs"],
)
def test_every_way_of_training_gives_the_same_encoder_twice_and_it_loads(job, given, assert_same_weights):
    first, second = (train(job(run=run, loop={"epochs": 1}, **given)) for run in ("first", "second"))

    assert_same_weights(first, second)
    twin = given.get("spans") == "none"
    encoder = SentenceTransformer(str(first), device="cpu") if twin else load_encoder(first, device="cpu")
    assert encoder.encode(ODD).shape == (len(ODD), 48 if twin or given.get("pooled") is False else 96)
    assert encoder.max_seq_length == 32


@pytest.mark.parametrize(("below", "layers"), [(0, None), (1, None), (0, 2)])
def test_what_is_embedded_in_training_is_what_the_saved_encoder_makes_of_plain_text(
    job, tiny_encoder, tmp_path, below, layers
):
    texts = [normalise(text) for text in ODD]
    tagged = load(SrlSettings(precision="float32")).parse(texts)
    rows = [{"text": text, **found.columns} for text, found in zip(texts, tagged, strict=True)]
    frames = Frames(pl.DataFrame(rows), "srl_bert/embedded", weights_of(SrlSettings()), "tagger", "float32", 512)
    settings = job(weights="by_role", words_below=below, layers_tuned=1 + below, layers=layers).settings
    model = start_model(tiny_encoder, settings, frames)
    backbone = Backbone(model, PasSettings(layers_tuned=1 + below), torch.float32)
    tokens, backbone.beside = read_sentences(model[0], texts, frames)
    assert backbone.keep_states(tokens)
    order = np.array([3, 0, 6, 4, 1, 5, 2])
    made = backbone.embed(tokens, order).detach().cpu().numpy()
    model.save(str(tmp_path / "saved"), create_model_card=False)
    np.testing.assert_allclose(load_encoder(tmp_path / "saved", device="cpu").encode(ODD)[order], made, atol=1e-5)


def test_a_backbone_of_other_modules_is_refused():
    routes = Path(__file__).parents[2] / "evaluation" / "stored" / "routes" / "encoder"
    with refused(ModelUnfit):
        start_model(routes, PasSettings(spans="none"), None)


def test_a_backbone_that_was_saved_in_half_precision_is_trained_in_full(job, tiny_encoder, tmp_path):
    half = tmp_path / "half"
    SentenceTransformer(str(tiny_encoder), device="cpu").half().save_pretrained(str(half))
    folder = train(job(backbone=str(half), loop={"epochs": 1}))
    weights = [value for file in folder.rglob("*.safetensors") for value in load_file(file).values()]
    assert {value.dtype for value in weights} == {torch.float32}


def test_an_encoder_of_the_first_layers_has_no_others(job, tiny_encoder, told):
    with refused(WrongValue):
        train(job(layers=9))
    folder = train(job(layers=2, loop={"epochs": 1}))
    transformer = load_encoder(folder, device="cpu").transformers_model
    assert (transformer.config.num_hidden_layers, len(transformer.encoder.layer)) == (2, 2)
    start = load_encoder(tiny_encoder, device="cpu").transformers_model
    assert transformer.embeddings.word_embeddings.weight.equal(start.embeddings.word_embeddings.weight)
    assert ", from the first 2 layers of " in (folder / "README.md").read_text()


def test_an_evaluation_takes_the_frames_of_its_source_and_tags_only_what_that_has_not(
    job, judged, frames, tmp_path, monkeypatch
):
    folder = train(job(loop={"epochs": 1}))
    source = Source(judged=tmp_path / "judged.parquet", frames=tmp_path / "frames.parquet")
    tagged = []
    monkeypatch.setattr(Spans, "parse_texts", lambda self, texts: tagged.extend(texts) or [None] * len(texts))
    Embedder(folder, "the encoder", source)([f" {judged.texts[3]}", *judged.texts])
    assert tagged == [judged.texts[0]]  # which counts as rejected there
    other = replace(frames, max_words=77)
    other.export(tmp_path / "frames.parquet")
    Embedder(folder, "the encoder", source)(judged.texts[:5])
    assert tagged[1:] != []
    assert set(tagged[1:]) == set(judged.texts[:5])


@pytest.mark.soak
def test_a_killed_training_goes_on_exactly_where_its_checkpoint_is(goes_on_after_a_kill, embeds_alike_elsewhere):
    whole, done = goes_on_after_a_kill(train, {"epochs": 2})
    assert PairClassifier.load(whole).linear.weight.equal(PairClassifier.load(done).linear.weight)
    embeds_alike_elsewhere(done, whole)  # of plain text, with its tagger


@pytest.mark.slow
@pytest.mark.soak
def test_two_processes_learn_what_one_does(job, tmp_path, told):
    alone, together = (
        train(job(run=run, loop={"epochs": 1, "processes": count}, dropout=False))
        for run, count in (("alone", 1), ("together", 2))
    )
    for name, value in told(alone)["dev"].items():
        assert told(together)["dev"][name] == pytest.approx(value, rel=1e-4)


def test_the_best_of_several_rates_is_kept(job, untagged, told):
    course = told(train(job(loop={"epochs": 1}, search={"learning_rate": [1e-5, 1e-3]})))
    tried = course["search"]["tried"]
    assert course["dev"]["average_precision"] == max(one["dev"]["average_precision"] for one in tried)


def resolved(data, **given):
    settings = PasSettings(**given)
    return settings.with_labels(training_labels(data, settings))


def test_the_spans_are_those_of_the_settings(job, tiny_encoder, frames):
    given = {"weights": "by_role", "pooled": False, "harmed": 0.5, "harm": "moved", "words_below": 0}
    tagging, _, spans = start_model(tiny_encoder, job(loop={"seed": 3}, **given).settings, frames)
    seen = tagging.structure
    assert (spans.weights, spans.pooled, seen.harmed, seen.harm) == ("by_role", False, 0.5, "moved")
    assert (seen.seed, seen.max_words, seen.precision) == (3, frames.max_words, frames.precision)
    drawn, _, _ = start_model(tiny_encoder, job(spans="continuous", tags="en_core_web_sm").settings, frames)
    assert (drawn.structure.drawn, drawn.structure.tags) == ("continuous", "en_core_web_sm")


def test_a_smaller_share_of_the_training_pairs_is_within_a_larger_one_and_dev_is_whole(judged):
    ids = {}
    for share in (0.1, 0.3, 0.6, 1.0):
        settings = resolved(judged, positive_label="entailment", training_share=share)
        pairs = PasTraining.learnt_from(judged, settings).pairs
        ids[share] = set(pairs.filter(split="train")["pair_id"])
        assert pairs.filter(split="dev").height == 30
    assert ids[0.1] < ids[0.3] < ids[0.6] < ids[1.0]
    settings = resolved(judged, positive_label="entailment", training_share=0.6, loop={"seed": 1})
    assert {*PasTraining.learnt_from(judged, settings).pairs.filter(split="train")["pair_id"]} != ids[0.6]
    assert len(ids[0.6]) == pytest.approx(54, abs=15)


def test_f1_is_that_of_the_best_threshold_and_both_scores_need_both_kinds():
    positive = np.array([True, True, False, False])
    assert separation_scores(positive, np.array([0.4, 0.3, 0.2, 0.1])) == {"f1": 1.0, "average_precision": 1.0}
    assert separation_scores(positive, np.array([0.1, 0.2, 0.3, 0.4]))["f1"] == pytest.approx(2 / 3)
    assert separation_scores(~(positive | True), np.zeros(4)) == {}
    assert np.isnan([*separation_scores(positive, np.array([0.4, np.nan, 0.2, 0.1])).values()]).all()


def test_a_label_that_means_yes_is_positive_where_no_pair_has_the_default(judged):
    words = pl.col("label").replace_strict({"entailment": "Yes"}, default="no")
    pairs = replace(judged, pairs=judged.pairs.with_columns(label=words))
    settings = resolved(pairs)
    assert (settings.labels, settings.positive_label) == (("Yes", "no"), "Yes")
    assert PasSettings(labels=["Yes", "no"]).positive_label == "1"
    with refused(UnknownName):
        resolved(pairs, positive_label="maybe")


def changed(judged, column, value, split="train"):
    pairs = judged.pairs.with_columns(
        pl.when(pl.col("split") == split).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    )
    return replace(judged, pairs=pairs)


def also_on_dev(judged, *labels):
    both = judged.pairs.filter(pl.col("label").is_in(labels), split="train").with_columns(split=pl.lit("dev"))
    return replace(judged, pairs=pl.concat([judged.pairs, both]))


@pytest.mark.parametrize(
    ("change", "given", "error"),
    [
        (lambda data: changed(data, "label", "neutral"), {}, NothingToLearn),
        (None, {"labels": ["yes", "entailment"]}, UnknownName),
        (None, {"positive_label": "1"}, UnknownName),
        (None, {"corpora": ["qqp"]}, UnknownName),
        (None, {"splits": ["test", "dev"]}, NoTrainingData),
        (None, {"training_share": 1e-6}, NothingToLearn),
        (lambda data: changed(data, "label", "neutral", "dev"), {}, NothingToLearn),
        (lambda data: also_on_dev(data, "entailment", "contradiction"), {}, SplitsOverlap),
        (lambda data: also_on_dev(data, "entailment", "contradiction"), {"training_share": 0.9}, SplitsOverlap),
    ],
    ids=[
        "one label",
        "unknown label",
        "no positive label",
        "unknown corpus",
        "no training pairs",
        "no share",
        "dev",
        "other splits",
        "other splits, whatever the share",
    ],
)
def test_pairs_that_teach_nothing_are_refused(job, judged, tmp_path, change, given, error):
    one = job(**given)
    if change:
        change(judged).export(tmp_path / "judged.parquet")
    with refused(error):
        train(one)


@pytest.mark.parametrize(
    "change", [lambda data: data.select(splits=["train"]), lambda data: changed(data, "label", "x", "dev")]
)
def test_without_dev_pairs_of_its_labels_the_last_model_is_kept_and_it_is_said(job, judged, tmp_path, caplog, change):
    one = job(spans="none", choose_by="loss", loop={"epochs": 1})
    change(judged).export(tmp_path / "judged.parquet")
    with caplog.at_level("WARNING", logger="training"):
        folder = train(one)
    assert "no dev pairs with the label contradiction or entailment or neutral (split 'dev')" in caplog.text
    assert "There were no dev pairs to choose by" in (folder / "README.md").read_text()


def test_the_probabilities_are_put_right_by_the_dev_pairs(job, monkeypatch, caplog, told):
    monkeypatch.setattr(calibration, "LEAST_PAIRS", 30)
    surely = {"loop": {"epochs": 12}, "new_learning_rate": 5e-2}
    with caplog.at_level("INFO", logger="training"):
        folder = train(job(**surely))
    found = PairClassifier.load(folder).calibration
    assert found is not None
    assert told(folder)["calibration"] == {**asdict(found), "biases": list(found.biases)}
    assert found.pairs == 30
    assert found.loss_before == pytest.approx(told(folder)["dev"]["loss"], abs=1e-5)
    assert found.loss < found.loss_before
    assert "its probabilities are calibrated on 30 dev pairs, temperature" in caplog.text
    assert "Its probabilities are calibrated on 30 dev pairs" in (folder / "README.md").read_text()


def test_too_few_dev_pairs_put_no_probability_right_and_it_is_said(job, caplog, told):
    folder = train(job(loop={"epochs": 1}))
    assert told(folder)["calibration"] is None
    assert PairClassifier.load(folder).calibration is None
    assert "calibrating them takes 50 dev pairs, 10 of each label" in caplog.text
    assert "Its probabilities are not calibrated" in (folder / "README.md").read_text()


def test_what_predict_does_is_what_an_evaluation_reports(job, judged, tmp_path, told):
    both = judged.select(labels=("contradiction", "entailment"))
    both.export(tmp_path / "both.parquet")
    source = Source(judged=tmp_path / "both.parquet")
    folder = train(job(source=source, spans="none", loop={"epochs": 3}))
    kept = PairClassifier.load(folder).threshold
    assert told(folder)["threshold"] == asdict(kept)
    assert (
        "With `facetflow predict --threshold dev`: The label is 'entailment' from" in (folder / "README.md").read_text()
    )
    asked = EvaluationJob(source=source, encoder=folder, output=tmp_path / "run", split="train", suites=("paraphrase",))
    (each,) = evaluate(asked.model_copy(update={"resamples": 50}))["suites"]["paraphrase"]["rows"]
    threshold = each["thresholds"]["encoder"]
    assert (threshold["value"], threshold["pairs"]) == (pytest.approx(kept.value, abs=1e-6), kept.pairs)

    scored = both.select(splits=("train",))
    texts = [tuple(scored.texts[place] for place in pair) for pair in zip(scored.first, scored.second, strict=True)]
    expected = (scored.pairs["label"] == "entailment").to_list()
    predictor, predicted = PairPredictor(folder, load_encoder(folder, device="cpu")), {}
    reported = {None: each["more_probable"], "dev": {of: found["encoder"] for of, found in each["scores"].items()}}
    for threshold, measures in reported.items():
        labels = predictor.predict(texts, threshold=threshold).predicted
        predicted[threshold] = [label == "entailment" for label in labels]
        assert measures["accuracy"] == pytest.approx(accuracy_score(expected, predicted[threshold]))
        assert measures["f1"] == pytest.approx(f1_score(expected, predicted[threshold]))
    assert predicted[None] != predicted["dev"]


def test_roles_of_a_tagger_that_is_not_here_are_refused(job, frames, tmp_path):
    one = job()
    replace(frames, weights="0" * 64).export(tmp_path / "frames.parquet")
    with refused(OtherParser):
        train(one)
    replace(frames, parser="srl_bert/mine").export(tmp_path / "frames.parquet")
    with refused(OtherParser):
        train(one)
    assert train(job(tagger="embedded", loop={"epochs": 1})).is_dir()


def test_pairs_without_roles_are_refused_and_the_twin_needs_none(job, judged, tmp_path):
    source = Source(judged=tmp_path / "judged.parquet")
    one = job(source=source)
    with refused(ReleaseLacks):
        train(one)
    assert train(job(source=source, spans="none", loop={"epochs": 1})).is_dir()


def test_frames_of_other_texts_are_refused(job, frames, tmp_path):
    one = job()
    words = pl.Series([["elsewhere", *words[1:]] for words in frames.table["words"].to_list()])
    replace(frames, table=frames.table.with_columns(words=words)).export(tmp_path / "frames.parquet")
    with refused(OtherText):
        train(one)
