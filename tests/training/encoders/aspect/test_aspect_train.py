"""Training of aspects as a whole, with a tiny encoder: it learns, is reproducible, survives a kill, loads anywhere."""

import importlib
import sys

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentences import refused

from features.core.faults import OtherSettings
from training.data.labelled_texts import LabelledTexts
from training.data.shared_labels import SharedLabels
from training.encoders.aspect.train import score_neighbours, train
from training.encoders.loading import load_encoder


def gain(folder, zoo, aspect, **given):
    texts = np.arange(len(zoo))
    vectors = SentenceTransformer(str(folder), device="cpu").encode(list(zoo.texts), **given)
    return score_neighbours(vectors, SharedLabels(zoo.labels, [aspect], "any", len(zoo)), texts)["ndcg"]


def test_similarity_comes_to_mean_the_aspect_and_the_best_model_is_kept(job, zoo, tiny_encoder, told):
    folder = train(job(loop={"epochs": 6}))

    assert gain(folder, zoo, "animal") > gain(tiny_encoder, zoo, "animal") + 0.1
    course = told(folder)
    assert len(course["history"]) == 6
    best = max(course["history"], key=lambda look: look["mrr"])
    assert (course["dev"]["mrr"], course["best_step"]) == (best["mrr"], best["step"])
    labelled = zoo.labels.filter(aspect="animal").group_by("split").agg(pl.col("text").n_unique())
    texts = {split: count for split, count in labelled.iter_rows() if split != "test"}
    assert course["corpora"]["zoo"] == {**texts, "unit": "texts", "licence": ""}
    card = (folder / "README.md").read_text()
    assert "is trained to be high if they share a label in the aspect `animal`" in card
    assert "Chosen by MRR." in card


def test_only_texts_with_a_label_of_the_aspect_count_as_trained_on_and_chosen_by(job, zoo, told, tmp_path):
    has_none = (pl.col("split") == "dev") | (pl.col("text") % 4 == 0)
    labels = zoo.labels.filter(~((pl.col("aspect") == "animal") & has_none))
    LabelledTexts(zoo.texts, labels).export(tmp_path / "few.parquet")
    with_one = labels.filter(aspect="animal", split="train").height
    assert 0 < with_one < labels.filter(split="train")["text"].n_unique()

    folder = train(job(source=tmp_path / "few.parquet", loop={"epochs": 1}))
    counts = told(folder)["corpora"]["zoo"]
    assert (counts["train"], counts["dev"]) == (with_one, 0)


def test_each_route_of_one_encoder_means_its_aspect(job, zoo, told):
    folder = train(job(aspects=["animal", "place"], combine="routes", loop={"epochs": 5}, route_learning_rate=1e-2))

    for aspect, other in (("animal", "place"), ("place", "animal")):
        assert gain(folder, zoo, aspect, task=aspect) > gain(folder, zoo, aspect, task=other)
    assert told(folder)["routes"] == ["animal", "place"]
    assert {"mrr", "mrr_animal", "mrr_place"} <= told(folder)["dev"].keys()


@pytest.mark.parametrize("routes", [{}, {"aspects": ["animal", "place"], "combine": "routes"}])
def test_without_tuned_layers_a_linear_map_of_the_start_models_embeddings_is_learnt(
    job, zoo, tiny_encoder, routes, caplog
):
    caplog.set_level("INFO", logger="training")
    loop = {"epochs": 12, "precision": "bfloat16"}
    folder = train(job(layers_tuned=0, loop=loop, route_learning_rate=1e-2, **routes))
    assert "float32 on cpu" in caplog.text

    task = {"task": "animal"} if routes else {}
    assert gain(folder, zoo, "animal", **task) > gain(tiny_encoder, zoo, "animal") + 0.1
    before, after = (load_file(path / "model.safetensors") for path in (tiny_encoder, folder))
    assert all(torch.equal(value, before[name]) for name, value in after.items()), "the transformer stays as it was"
    start, encoder = (SentenceTransformer(str(path), device="cpu") for path in (tiny_encoder, folder))
    own = "animal.0.linear.weight" if routes else ".linear.weight"
    (matrix,) = (value for name, value in encoder.named_parameters() if name.endswith(own))
    mapped = start.encode(list(zoo.texts)) @ matrix.detach().cpu().numpy().T
    mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
    np.testing.assert_allclose(encoder.encode(list(zoo.texts), normalize_embeddings=True, **task), mapped, atol=1e-5)


def test_plain_sentence_transformers_loads_it_without_this_project(job, monkeypatch):
    aspects, texts = ("animal", "place"), ["the cat in the park", "a red dog"]
    one = train(job(run="one", loop={"epochs": 1}, pooling="cls"))
    routes = train(job(run="routes", loop={"epochs": 1}, pooling="cls", aspects=aspects, combine="routes"))
    ours = [
        name for name in sys.modules if name.split(".")[0] in {"facetflow", "features", "flows", "tasks", "training"}
    ]
    asked = [(one, {}), *((routes, {"task": aspect}) for aspect in aspects)]
    expected = [load_encoder(folder, device="cpu").encode(texts, **given) for folder, given in asked]

    for name in ours:
        monkeypatch.setitem(sys.modules, name, None)  # no import finds it, however it is written
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("training.kinds")
    for (folder, given), vectors in zip(asked, expected, strict=True):
        np.testing.assert_allclose(
            SentenceTransformer(str(folder), device="cpu").encode(texts, **given), vectors, atol=1e-5
        )


@pytest.mark.parametrize(
    "given",
    [
        {"objective": "multiple_negatives"},
        {"objective": "multiple_negatives", "masked": False},
        {"objective": "simcse"},
        {"aspects": ["animal", "place"], "combine": "intersection"},
        {"aspects": ["animal", "place"], "combine": "union", "negatives": "any", "choose_by": "loss"},
        {"layers_tuned": "all", "pooling": "mean", "triplets_per_text": 2, "choose_by": "ndcg"},
        {"cache_gib": 0.0, "disk_gib": 1.0, "embed_at_once": 5},
    ],
    ids=[
        "multiple negatives",
        "without a mask",
        "simcse",
        "intersection",
        "union",
        "all layers",
        "in pieces from disk",
    ],
)
def test_every_way_of_training_gives_the_same_encoder_twice(job, given, assert_same_weights, told):
    first, second = (train(job(run=run, loop={"epochs": 1}, **given)) for run in ("first", "second"))

    assert_same_weights(first, second)
    assert told(first)["dev"]["mrr"] > 0


@pytest.mark.soak
def test_a_killed_training_goes_on_exactly_where_its_checkpoint_is(goes_on_after_a_kill):
    goes_on_after_a_kill(train, {"epochs": 5})


def test_what_is_done_is_left_alone_and_other_settings_do_not_replace_it(job):
    folder = train(job(loop={"epochs": 1}))
    before = (folder / "training.json").stat().st_mtime_ns

    assert train(job(loop={"epochs": 1})) == folder
    with refused(OtherSettings):
        train(job(loop={"epochs": 1}, temperature=0.1))
    assert (folder / "training.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(("keep", "told"), [("best", True), ("last", False)])
def test_a_model_that_is_chosen_by_what_it_learns_from_is_told(job, caplog, keep, told):
    with caplog.at_level("WARNING", logger="training"):
        folder = train(job(splits=["train", "train"], loop={"epochs": 1, "keep": keep}))
    card = (folder / "README.md").read_text()
    assert ("Chosen by MRR." in card, "The model of the last step was kept" in card) == (told, not told)
    assert ("names 'train' twice: the best model is chosen on its own training data" in caplog.text) is told


@pytest.mark.slow
@pytest.mark.soak
def test_two_processes_learn_the_routes_as_one_does(job):
    # A batch takes one route: the layer of the other has no gradient, and must not be moved by its momentum.
    given = {"aspects": ["animal", "place"], "combine": "routes", "dropout": False, "route_learning_rate": 1e-2}
    one, two = (
        train(job(run=f"run{count}", loop={"processes": count, "epochs": 4, "keep": "last"}, **given))
        for count in (1, 2)
    )
    files = sorted(path.relative_to(one) for path in one.rglob("*.safetensors"))
    assert len(files) >= 3  # the backbone and both routes
    for file in files:
        first, second = load_file(one / file), load_file(two / file)
        for name, weights in first.items():
            assert weights.float().numpy() == pytest.approx(second[name].float().numpy(), abs=2e-3), (file, name)
