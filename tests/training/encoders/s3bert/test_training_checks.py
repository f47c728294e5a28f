"""Pairs from which a training can learn nothing, or little: what is wrong, and what the source has instead."""

import logging

import polars as pl
import pytest
from sentences import refused

from features.core.faults import NoTrainingData, UnknownMetric, UnknownName
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.data import check_pairs, warn_of_little


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"corpora": ("left", "rigth")}, UnknownName),
        ({"layer_corpora": ("rigth",)}, UnknownName),
        ({"splits": ("training", "dev")}, NoTrainingData),
        ({"corpora": ("left",), "splits": ("t", "dev")}, NoTrainingData),
        ({"facets": ("smash",)}, UnknownMetric),
    ],
)
def test_nothing_to_learn_from_is_refused_with_what_there_is(measured, settings, changes, fault):
    with refused(fault):
        check_pairs(measured, settings.model_copy(update=changes))


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
