"""Pairs from which a training can learn nothing, or little: what is wrong, and what the source has instead."""

import logging
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import NoTrainingData, UnknownName
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.data import DrawnPairs, check_pairs, warn_of_little
from training.encoders.s3bert.settings import Finish, S3bertSettings


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"corpora": ("left", "rigth")}, UnknownName),
        ({"layer_corpora": ("rigth",)}, UnknownName),
        ({"layer_shares": {"rigth": 0.5}}, UnknownName),
        ({"finish": Finish(steps=1, layer_corpora=("rigth",))}, UnknownName),
        ({"finish": Finish(steps=1, ordering=0.1, ordered_facets=("smash",))}, UnknownName),
        ({"splits": ("training", "dev")}, NoTrainingData),
        ({"corpora": ("left",), "splits": ("t", "dev")}, NoTrainingData),
        ({"facets": ("smash",)}, UnknownName),
        ({"kinds": ("neighbour",)}, NoTrainingData),
    ],
)
def test_nothing_to_learn_from_is_refused_with_what_there_is(measured, settings, changes, fault):
    with refused(fault):
        check_pairs(measured, settings.model_copy(update=changes))


def test_layers_cannot_be_tuned_on_a_corpus_of_dev_pairs_alone(measured, settings):
    rows = (pl.col("corpus") != "left") | (pl.col("split") == "dev")
    data = MeasuredPairs(measured.texts, measured.pairs.filter(rows))
    with refused(UnknownName):
        check_pairs(data, settings.model_copy(update={"layer_corpora": ("left",)}))


def test_layers_cannot_be_tuned_on_neighbours_alone(measured, settings):
    data = MeasuredPairs(measured.texts, measured.pairs.with_columns(kind=pl.lit("neighbour")))
    check_pairs(data, settings.model_copy(update={"layers_tuned": 0}))
    with refused(NoTrainingData):
        check_pairs(data, settings)


def test_a_corpus_that_is_named_twice_is_drawn_once(measured, settings):
    train = np.flatnonzero((measured.pairs["split"] == "train").to_numpy())
    once, twice = (
        DrawnPairs.of(measured, train, settings.model_copy(update={"layer_corpora": names}))
        for names in (("left",), ("left", "left"))
    )
    assert once.all.tolist() == twice.all.tolist()


def warnings(caplog, data, settings):
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="training"):
        warn_of_little(data, settings)
    return caplog.messages


def test_a_metric_that_never_changes_is_named(measured, settings, caplog):
    (told,) = warnings(caplog, measured, settings)
    assert told.startswith("all training pairs have the same value of named_entities, so its facets learn nothing")
    other = settings.model_copy(update={"facets": ("smatch", "root")})
    assert warnings(caplog, measured, other) == []


def test_few_pairs_and_no_dev_pairs_are_named(measured, settings, caplog):
    few = MeasuredPairs(measured.texts, measured.pairs.filter(pl.col("split") == "train").head(3))
    told = warnings(caplog, few, settings.model_copy(update={"facets": ("smatch",)}))
    assert told == [
        "few pairs to train on: 3 in split 'train', less than one batch (8)",
        "no pairs in split 'dev' to choose the best model by: the last one is kept",
    ]


@given(share=st.floats(0.01, 1), seed=st.integers(0, 99), kinds=st.lists(st.booleans(), min_size=1, max_size=40))
def test_an_epoch_has_its_share_of_a_corpus_and_every_pair_has_its_turn(share, seed, kinds):
    table = pl.DataFrame({"corpus": ["large"] * len(kinds) + ["small"], "kind": [*kinds, True]})
    table = table.with_columns(kind=pl.when("kind").then(pl.lit("positive")).otherwise(pl.lit("neighbour")))
    settings = S3bertSettings(layer_shares={"large": share}, loop={"seed": seed})
    pairs = DrawnPairs.of(MeasuredPairs((), table), np.arange(len(table)), settings)
    large = [n for n, positive in enumerate(kinds) if positive]
    count = math.ceil(share * len(large))
    epochs = [pairs.of_epoch(epoch).tolist() for epoch in range(len(kinds) + 1)]
    assert {len(epoch) for epoch in epochs} == {count + 1}
    assert all(sorted({*epoch}) == epoch and epoch[-1] == len(kinds) for epoch in epochs)
    times = np.bincount(np.concatenate(epochs[: math.ceil(len(large) / max(1, count)) + 1]), minlength=len(table))
    assert all(times[n] >= 1 for n in large), "in as many epochs as its share asks for, each pair was drawn"
    assert pairs.all.tolist() == [*large, len(kinds)]
