"""Settings of SBERT-RGCN that contradict each other, and the paper's as defaults."""

import pytest
from sentences import refused

from features.core.faults import Conflict, RepeatedValue, UnknownName, WrongValue
from training.encoders.rgcn.settings import RgcnSettings


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"graph": False, "trees": "random"}, Conflict),
        ({"labels": ["a", "a"]}, RepeatedValue),
        ({"labels": ["a"]}, WrongValue),
        ({"objective": "multiple_negatives", "labels": ["a", "b"]}, Conflict),
        ({"objective": "multiple_negatives", "negative_label": "entailment"}, Conflict),
        ({"objective": "distillation", "loop": {"batch_size": 1}}, WrongValue),
        ({"objective": "multiple_negatives", "loop": {"batch_size": 1}}, WrongValue),
        ({"objective": "distillation", "layers": 1, "layers_tuned": 1}, Conflict),
        ({"graph_layers": 3}, WrongValue),
        ({"words_below": 2}, WrongValue),
        ({"words_below": 2, "layers": 2, "layers_tuned": "all"}, WrongValue),
        ({"graph": False, "words_below": 1}, Conflict),
        ({"temperature": 0.1}, Conflict),
        ({"negative_label": "no"}, Conflict),
        ({"objective": "distillation", "temperature": 0.1}, Conflict),
        ({"graph_layers": 0, "trees": "random"}, Conflict),
        ({"graph_layers": 0, "relations": "one"}, Conflict),
        ({"graph_layers": 0, "direction": "up"}, Conflict),
        ({"classifier": ["u", "u"]}, RepeatedValue),
        ({"objective": "distillation", "classifier": ["|u-v|"]}, Conflict),
        ({"objective": "multiple_negatives", "choose_by": "f1"}, Conflict),
        ({"choose_by": "f1", "labels": ["a", "b"]}, UnknownName),
        ({"graph_layers": 0, "bases": 4}, Conflict),
        ({"graph_layers": 0, "graph_dropout": 0.1}, Conflict),
        ({"graph": False, "parser": "en_core_web_sm"}, Conflict),
    ],
    ids=[
        "twin",
        "labels twice",
        "one label",
        "labels unread",
        "one for both",
        *("alone", "alone without negatives", "cut start model"),
        "layers",
        *("words of a frozen layer", "words of a layer that is not kept", "words of a twin"),
        *("temperature of softmax", "negative label of softmax", "temperature of distillation"),
        *("trees without edges", "relations without edges", "direction without edges"),
        *("part twice", "no classifier", "choice without one", "no positive label", "bases without layers"),
        *("dropout without layers", "parser of a twin"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(given, fault):
    with refused(fault):
        RgcnSettings.model_validate(given)


def test_the_label_that_stands_for_the_positive_one_is_not_the_negative_one():
    with refused(Conflict):
        RgcnSettings(objective="multiple_negatives", negative_label="yes").with_labels({"no": 3, "yes": 3})


@pytest.mark.parametrize(
    ("name", "value"),
    {"direction": "up", "relations": "one", "graph_layers": 2, "width": 64, "bases": 4, "graph_dropout": 0.1}.items(),
)
def test_a_twin_without_a_graph_has_none_of_its_settings(name, value):
    with refused(Conflict):
        RgcnSettings.model_validate({"graph": False, name: value})


def test_the_loop_is_that_of_the_paper_unless_it_is_told_otherwise():
    settings = RgcnSettings.model_validate({"loop": {"epochs": 2}})

    assert (settings.loop.epochs, settings.loop.batch_size, settings.loop.learning_rate) == (2, 16, 2e-5)
    assert (settings.loop.warmup, settings.graph_dropout, settings.loop.evaluate_every) == (0.1, 0.2, 1000)
    assert (settings.width, settings.bases, settings.temperature) == (256, 8, 0.05)


def test_settings_of_a_job_which_names_all_of_them_are_those_that_it_was_made_of():
    for given in (
        {"loop": {"batch_size": 1}},
        {"graph": False},
        {"graph_layers": 0},
        {"objective": "distillation", "labels": ["a"], "loop": {"batch_size": 2}},
        {"objective": "multiple_negatives", "temperature": 0.1, "negative_label": "no"},
        {"choose_by": "f1", "labels": ["entailment", "neutral"]},
        {"choose_by": "f1", "labels": ["duplicate", "other"]},
        {"labels": ["a", "b"]},
    ):
        settings = RgcnSettings.model_validate(given)
        assert RgcnSettings.model_validate_json(settings.model_dump_json()) == settings
