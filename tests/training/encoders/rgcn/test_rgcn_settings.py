"""Settings of SBERT-RGCN that contradict each other, and the paper's as defaults."""

import pytest

from training.encoders.rgcn.settings import RgcnSettings


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"graph": False, "trees": "random"}, "graph is false, and trees is a setting of the graph: leave `trees` out"),
        ({"labels": ["a", "a"]}, "must differ"),
        ({"labels": ["a"]}, "labels has only 'a'"),
        ({"objective": "multiple_negatives", "labels": ["a", "b"]}, "leave `labels` out"),
        ({"objective": "multiple_negatives", "negative_label": "entailment"}, "are both 'entailment'"),
        ({"objective": "distillation", "loop": {"batch_size": 1}}, "at least 2"),
        ({"objective": "distillation", "layers": 1, "layers_tuned": 1}, "of the whole start model: leave `layers` out"),
        ({"graph_layers": 3}, "graph_layers"),
        ({"words_below": 2}, "words_below is 2, but only 2 layers are tuned: raise layers_tuned to at least 3"),
        ({"graph": False, "words_below": 1}, "graph is false, and words_below is a setting of the graph"),
        ({"temperature": 0.1}, 'a setting of the objective "multiple_negatives", but the objective is "softmax"'),
        ({"negative_label": "no"}, "negative_label is a setting of the objective .* leave `negative_label` out"),
        ({"objective": "distillation", "temperature": 0.1}, 'the objective is "distillation": leave `temperature` out'),
        ({"graph_layers": 0, "trees": "random"}, "graph_layers is 0, so no layer reads the edges that trees is about"),
        ({"graph_layers": 0, "relations": "one"}, "leave `relations` out"),
        ({"graph_layers": 0, "direction": "up"}, "leave `direction` out"),
        ({"classifier": ["u", "u"]}, "the parts of classifier must differ"),
        ({"objective": "distillation", "classifier": ["|u-v|"]}, "'distillation' has no classifier"),
        ({"objective": "multiple_negatives", "choose_by": "f1"}, 'choose_by = "f1" needs a classifier'),
        ({"choose_by": "f1", "labels": ["a", "b"]}, "positive_label 'entailment' is not in labels"),
    ],
    ids=[
        "twin",
        "labels twice",
        "one label",
        "labels unread",
        "one for both",
        *("alone", "cut start model"),
        "layers",
        *("words of a frozen layer", "words of a twin"),
        *("temperature of softmax", "negative label of softmax", "temperature of distillation"),
        *("trees without edges", "relations without edges", "direction without edges"),
        *("part twice", "no classifier", "choice without one", "no positive label"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        RgcnSettings.model_validate(given)


def test_the_loop_is_that_of_the_paper_unless_it_is_told_otherwise():
    settings = RgcnSettings.model_validate({"loop": {"epochs": 2}})

    assert (settings.loop.epochs, settings.loop.batch_size, settings.loop.learning_rate) == (2, 16, 2e-5)
    assert (settings.loop.warmup, settings.graph_dropout, settings.loop.evaluate_every) == (0.1, 0.2, 1000)


def test_settings_of_a_job_which_names_all_of_them_are_those_that_it_was_made_of():
    for given in ({}, {"graph": False}, {"graph_layers": 0}, {"objective": "distillation"}):
        settings = RgcnSettings.model_validate(given)
        assert RgcnSettings.model_validate_json(settings.model_dump_json()) == settings
