"""Training with dependency trees as a whole, with a tiny encoder: trained, repeated, resumed and loaded."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch
from sentences import refused

from features.core.faults import (
    EncoderDamaged,
    NoTrainingData,
    OtherParser,
    OtherSettings,
    ReleaseLacks,
    SplitsOverlap,
    TooFewTexts,
    UnknownName,
)
from features.models import locate
from features.parsers.settings import DependencySettings
from features.sentences import normalise
from training.data.labelled_pairs import LabelledPairs
from training.data.parses import Parses
from training.encoders.backbone import Backbone
from training.encoders.loading import load_encoder
from training.encoders.pair_task import PairTable
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.rgcn.train import RgcnTask, RgcnTraining, train
from training.encoders.settings import training_labels
from training.encoders.structures import read_sentences
from training.jobs import Source
from training.modules import trees
from training.modules.pair_classifier import PairClassifier
from training.modules.parse import weights_of

ODD = [
    "the cat sees two dog",
    "a \U0001f436 runs",
    "see https://example.org/a?b=c",
    "\u732b",
    "the red " * 60,
    "",
    "...",
]


def start_model(folder, settings, structure):
    return RgcnTraining(SimpleNamespace(backbone=folder), settings, None, structure).start("cpu")


def test_the_classifier_learns_labels_and_is_saved_beside_the_encoder(job, judged, parses, caplog, told):
    with caplog.at_level("INFO", logger="training"):
        folder = train(job(loop={"epochs": 8}, new_learning_rate=1e-2))

    course = told(folder)
    assert course["dev"]["accuracy"] > 0.6 > 1 / 3
    assert course["dev"]["loss"] == min(look["loss"] for look in course["history"])
    assert course["settings"]["labels"] == ["contradiction", "entailment", "neutral"]
    # Two of 90 are dev pairs as well.
    assert course["corpora"]["nli"] == {"train": 88, "dev": 30, "unit": "pairs", "licence": ""}
    assert course["parser"] == {
        "identity": parses.parser, "trees": len(judged.texts) - 1, "sentences": len(judged.texts)
    }  # fmt: skip
    assert f"1 of {len(judged.texts)} sentences have no dependency trees" in caplog.text
    classifier, encoder = PairClassifier.load(folder), load_encoder(folder, device="cpu")
    dev = judged.select(splits=["dev"])
    left, right = (torch.from_numpy(encoder.encode([dev.texts[n] for n in side])) for side in (dev.first, dev.second))
    said = classifier(left, right).argmax(dim=1).numpy() == dev.targets(classifier.labels)
    assert said.mean() == pytest.approx(course["dev"]["accuracy"], abs=0.05)
    assert encoder[0].structure.parser_identity == parses.parser
    assert encoder[0].structure.parser_weights == weights_of(DependencySettings())
    card = (folder / "README.md").read_text()
    assert f"parses with spaCy ({parses.parser})" in card
    assert "Chosen by the dev loss: loss" in card


@pytest.mark.parametrize(
    "given",
    [
        {"objective": "multiple_negatives", "direction": "down"},
        {"objective": "distillation", "relations": "one", "graph_layers": 2, "cache_gib": 0.0, "disk_gib": 1.0},
        {"trees": "random", "direction": "up", "bases": "full", "cache_gib": 0.0, "disk_gib": 0.0},
        {"graph_layers": 0, "layers_tuned": "all", "classifier": ["|u-v|", "u*v"], "choose_by": "average_precision"},
        {"words_below": 1, "layers_tuned": 2},
        {"layers": 1, "layers_tuned": 1},
        {"graph": False},
        {"graph": False, "objective": "multiple_negatives", "layers": 2, "layers_tuned": 2},
    ],
    ids=[
        *("multiple negatives", "distillation", "random trees", "no layer", "words of the layer below", "one layer"),
        *("twin", "shallow twin"),
    ],
)
def test_every_way_of_training_gives_the_same_encoder_twice_and_it_loads(job, given, assert_same_weights, told):
    first, second = (train(job(run=run, loop={"epochs": 1}, **given)) for run in ("first", "second"))

    assert_same_weights(first, second)
    assert told(first)["dev"]["loss"] > 0
    assert (first / "classifier.json").exists() == (given.get("objective") is None)
    encoder = load_encoder(first, device="cpu")
    assert encoder.encode(ODD).shape == (len(ODD), 48 if given.get("graph") is False else 64)
    assert encoder.max_seq_length == 32


def test_the_graph_is_that_of_the_settings(job, tiny_encoder, parses):
    given = {"relations": "one", "graph_layers": 2, "direction": "up", "bases": 4, "graph_dropout": 0.5, "width": 32}
    settings = job(trees="random", loop={"seed": 3}, **given).settings
    parsing, _, graph, _ = start_model(tiny_encoder, settings, parses)
    found = graph.labels, graph.layers, graph.direction, graph.bases, graph.dropout, graph.width
    assert (*found, parsing.structure.random_trees) == (1, 2, "up", 4, 0.5, 32, 3)
    assert start_model(tiny_encoder, job(bases="full").settings, parses)[2].bases is None


def test_training_from_a_store_parses_nothing(job, monkeypatch):
    monkeypatch.setattr(trees.Trees, "_load_parser", lambda self: pytest.fail("parsed"))

    train(job(loop={"epochs": 1}))


@pytest.mark.parametrize(
    ("trees", "below", "layers"), [("parsed", 0, None), ("random", 0, None), ("parsed", 1, None), ("parsed", 0, 2)]
)
def test_what_is_embedded_in_training_is_what_the_saved_encoder_makes_of_plain_text(
    job, parser, tiny_encoder, tmp_path, trees, below, layers
):
    texts = [normalise(text) for text in ODD]
    rows = [
        {"text": text, **{name: tree[name] for name in ("tokens", "starts", "heads", "relations")}}
        for text, tree in zip(texts, parser.parse(texts), strict=True)
    ]
    parses = Parses(pl.DataFrame(rows), parser.name, parser.max_words)
    settings = job(trees=trees, words_below=below, layers_tuned=1 + below, layers=layers).settings
    model = start_model(tiny_encoder, settings, parses)
    backbone = Backbone(model, RgcnSettings(layers_tuned=1 + below), torch.float32)
    tokens, backbone.beside = read_sentences(model[0], texts, parses)
    assert backbone.keep_states(tokens)
    order = np.array([3, 0, 6, 4, 1, 5, 2])
    made = backbone.embed(tokens, order).detach().cpu().numpy()
    model.save(str(tmp_path / "saved"), create_model_card=False)
    np.testing.assert_allclose(load_encoder(tmp_path / "saved", device="cpu").encode(ODD)[order], made, atol=1e-5)


def test_trees_directions_and_relations_change_the_embedding(job, tiny_encoder, parses):

    made = [
        start_model(tiny_encoder, job(**given).settings, parses).encode(["the man sees no cat in the park"])
        for given in (
            *({}, {"direction": "down"}, {"direction": "up"}, {"trees": "random"}, {"graph_layers": 0}),
            {"words_below": 1, "layers_tuned": 2},
        )
    ]
    assert all(not np.allclose(one, other) for n, one in enumerate(made) for other in made[:n])


def test_hard_negatives_contradict_the_same_premise_and_no_positive_is_a_negative(judged):
    settings = RgcnSettings(objective="multiple_negatives")
    data = RgcnTraining.learnt_from(judged, settings)
    table = PairTable(data, "train", settings)
    assert (len(table), table.with_hard) == (30, 30)
    batch = table.batch(np.arange(30), np.random.default_rng(0))
    labels = {
        (a, b): label
        for a, b, label in zip(data.first.tolist(), data.second.tolist(), data.pairs["label"], strict=True)
    }
    assert [labels[a, c] for a, c in zip(batch.first, batch.hard, strict=True)] == ["contradiction"] * 30
    masked = table.masked(batch)
    for i, a in enumerate(batch.first):
        for j, candidate in enumerate([*batch.second, *batch.hard]):
            positive = labels.get((a, candidate)) == "entailment" or candidate in {a, batch.second[i]}
            assert masked[i, j] == (positive and i != j)


def test_a_higher_temperature_tells_pairs_apart_less_sharply(judged):
    losses = []
    for temperature in (0.05, 1.0, 1000.0):
        settings = RgcnSettings(objective="multiple_negatives", temperature=temperature)
        table = PairTable(judged, "train", settings)
        batch = table.batch(np.arange(8), np.random.default_rng(0))
        places = torch.arange(len(batch.sentences))
        embeddings = torch.randn(len(places), 16, generator=torch.Generator().manual_seed(0))
        task = SimpleNamespace(classifier=None, teacher=None, settings=settings)
        losses.append(float(RgcnTask.loss(task, batch, embeddings, places)))
    candidates = (~table.masked(batch)).sum(axis=1)
    assert losses[0] > losses[1]
    assert losses[2] == pytest.approx(np.log(candidates).mean(), abs=1e-2)


def test_a_pair_that_is_left_over_without_negatives_is_left_out(job, judged, tmp_path, told, caplog):
    entailed = replace(judged, pairs=judged.pairs.filter(label="entailment"))
    losses = []
    for seed in (0, 1):
        make = job(
            f"run{seed}",
            graph=False,
            objective="multiple_negatives",
            new_learning_rate=1e-12,
            loop={"seed": seed, "batch_size": 9, "epochs": 1, "learning_rate": 1e-12},
        )
        entailed.export(tmp_path / "judged.parquet")
        course = told(train(make))
        assert course["pairs"] == {"train": 28, "dev": 10, "with_hard": 0}
        assert course["steps"] == 3
        losses.append(course["dev"]["loss"])
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)  # the same batches for every seed
    assert 0 < losses[0] < 9
    for kept, said in ((1, {}), (2, {"loss"})):
        few = pl.concat([entailed.pairs.filter(split="train"), entailed.pairs.filter(split="dev").head(kept)])
        make = job(f"few{kept}", graph=False, objective="multiple_negatives", loop={"batch_size": 9, "epochs": 1})
        replace(entailed, pairs=few).export(tmp_path / "judged.parquet")
        caplog.clear()
        assert set(told(train(make))["dev"] or {}) == set(said)
        assert ("only one dev pair, with none to be told from, (split 'dev')" in caplog.text) == (kept == 1)
    alone = job("alone", graph=False, objective="multiple_negatives")
    replace(entailed, pairs=entailed.pairs.head(1)).export(tmp_path / "judged.parquet")
    with refused(TooFewTexts):
        train(alone)


def test_that_nothing_contradicts_is_said_by_its_reason(judged, caplog):
    settings = RgcnSettings(objective="multiple_negatives")
    contradicts = pl.col("label") == "contradiction"
    texts = {"text_a": pl.Series(judged.texts)[judged.first], "text_b": pl.Series(judged.texts)[judged.second]}
    table = judged.pairs.select("pair_id", "corpus", "split", "label").with_columns(**texts)
    for pairs, said in (
        (table.filter(~contradicts), "no training pair has the `negative_label` 'contradiction': there are no hard"),
        (
            table.with_columns(pl.when(contradicts).then("text_b").otherwise("text_a").alias("text_a")),
            "no training pair with the label 'contradiction' shares its sentence a with a pair to train on",
        ),
    ):
        data = LabelledPairs.from_table(pairs, source={})
        learnt = RgcnTraining.learnt_from(data, settings.with_labels(training_labels(data, settings)))
        PairTable(learnt, "train", settings).warn_of_no_negatives(settings)
        assert caplog.messages[-1].startswith(said)


def test_distillation_begins_where_the_start_model_is_right_and_the_twin_stays_there(job, tiny_encoder, judged):
    twin = load_encoder(train(job(objective="distillation", graph=False, loop={"epochs": 1, "learning_rate": 1e-6})))
    start = load_encoder(tiny_encoder)
    texts = list(judged.texts[:20])
    own, before = (model.similarity(made := model.encode(texts), made).cpu().numpy() for model in (twin, start))
    assert np.abs(own - before).max() < 0.05


@pytest.mark.soak
def test_a_killed_training_goes_on_exactly_where_its_checkpoint_is(goes_on_after_a_kill, embeds_alike_elsewhere):
    whole, done = goes_on_after_a_kill(train, {"epochs": 2})
    assert PairClassifier.load(whole).linear.weight.equal(PairClassifier.load(done).linear.weight)
    embeds_alike_elsewhere(done, whole)  # of plain text, with its parser


def test_the_best_model_by_ratings_is_kept_and_only_their_sentences_are_parsed(
    job, parses, tmp_path, told, monkeypatch
):
    parsed, parse = [], trees.Trees.parse_texts
    monkeypatch.setattr(trees.Trees, "parse_texts", lambda self, texts: parsed.extend(texts) or parse(self, texts))
    path = tmp_path / "rated.tsv"
    rows = [("a cat sleeps", "the cat sleeps", 5), ("two dog runs", "no man eats", 0), ("a horse", "the red horse", 3)]
    path.write_text("sentence_a\tsentence_b\tscore\n" + "".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows))
    rated = {"dataset": "pairs", "name": "mine", "split": "dev", "file": str(path)}
    folder = train(job(choose_by="mine", ratings=(rated,), loop={"epochs": 3}))

    assert sorted(parsed) == sorted({text for pair in rows for text in pair[:2]} - {*parses.table["text"]})
    course = told(folder)
    assert course["dev"]["spearman"] == max(look["spearman"] for look in course["history"])
    assert course["chosen_by"]["pairs"] == 3
    assert "Chosen by Spearman on the 3 pairs of mine: spearman" in (folder / "README.md").read_text()


def test_other_data_and_the_record_of_another_version_are_refused(job, told):
    again = job(graph=False, loop={"epochs": 1})
    folder = train(again)
    course = told(folder)
    (folder / "training.json").write_text(json.dumps(course | {"data_digest": "of more pairs"}))
    with refused(OtherSettings):
        train(again)
    (folder / "training.json").write_text(json.dumps({k: v for k, v in course.items() if k != "files"}))
    with refused(EncoderDamaged):
        train(again)


def test_trees_of_a_parser_that_is_not_here_are_refused(job, parses, tmp_path):
    for identity in ("spacy/en_core_web_md-1.0.0", "spacy/xx_nobody_has-1.0.0"):
        replace(parses, parser=identity).export(tmp_path / "parses.parquet")
        with refused(OtherParser):
            train(job())


def test_trees_of_a_pipeline_of_the_same_name_with_other_weights_are_refused(job, parser, tmp_path, monkeypatch):
    own = shutil.copytree(locate("en_core_web_md"), tmp_path / "pipe")
    (own / "further").write_text("trained further")
    digest = weights_of(DependencySettings(model=str(own)))
    read = Source.read_parses
    monkeypatch.setattr(Source, "read_parses", lambda *given: replace(read(*given), weights=digest))

    with refused(OtherParser):
        train(job())
    folder = train(job(parser=str(own), loop={"epochs": 1}))
    transformer = load_encoder(folder, device="cpu")[0]
    assert (transformer.structure.parser, transformer.structure.parser_weights) == (str(own), digest)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"corpora": ["snli"]}, UnknownName),
        ({"labels": ["entailment", "maybe"]}, UnknownName),
        ({"splits": ["learn", "dev"]}, NoTrainingData),
        ({"objective": "multiple_negatives", "positive_label": "yes"}, UnknownName),
        ({"objective": "multiple_negatives", "negative_label": "contradicts"}, UnknownName),
    ],
    ids=["corpus", "label", "split", "positive", "negative"],
)
def test_what_cannot_be_learnt_is_said_in_one_sentence(job, given, error):
    with refused(error):
        train(job(**given))


def test_a_label_alone_teaches_a_classifier_nothing_but_other_objectives_something(job, judged, tmp_path):
    others = judged.pairs.filter(pl.col("label") != "entailment").with_columns(split=pl.lit("test"))
    make = {objective: job(objective, graph=False, objective=objective) for objective in ("softmax", "distillation")}
    replace(judged, pairs=pl.concat([judged.pairs, others])).export(tmp_path / "judged.parquet")
    with refused(SplitsOverlap):
        train(make["softmax"])
    assert train(make["distillation"]).is_dir()


def test_sentences_without_any_tree_are_refused(job, tmp_path, parses):
    Parses(parses.table.with_columns(text=parses.table["text"] + " x"), parses.parser, 512).export(
        tmp_path / "parses.parquet"
    )
    with refused(ReleaseLacks):
        train(job())
    assert train(job(graph=False, source=Source(judged=tmp_path / "judged.parquet"))).is_dir()
