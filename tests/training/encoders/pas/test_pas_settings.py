"""Settings of PAS-SBERT that contradict each other, and the paper's as defaults."""

import pytest
from sentences import refused

from features.core.faults import Conflict, RepeatedValue, UnknownName, WrongValue
from training.encoders.pas.settings import PasSettings


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"spans": "none", "weights": "equal"}, Conflict),
        ({"spans": "none", "pooled": False}, Conflict),
        ({"spans": "none", "tagger": "embedded"}, Conflict),
        ({"spans": "none", "tags": "en_core_web_sm"}, Conflict),
        ({"spans": "random", "harmed": 0.1}, Conflict),
        ({"spans": "continuous", "harmed": 0.1}, Conflict),
        ({"spans": "none", "words_below": 1}, Conflict),
        ({"layers": 1}, WrongValue),
        ({"labels": ["1", "1"]}, RepeatedValue),
        ({"labels": ["1"]}, WrongValue),
        ({"labels": ["a", "b"]}, UnknownName),
        ({"classifier": ["u", "u"]}, RepeatedValue),
        ({"classifier": ["u-v"]}, WrongValue),
        ({"classifier": []}, WrongValue),
        ({"training_share": 0}, WrongValue),
        ({"harmed": 1.1}, WrongValue),
        ({"harm": "moved"}, Conflict),
    ],
    ids=[
        *("twin with weights", "twin without pooling", "tagger of a twin", "tags of a twin"),
        *("harmed draws", "harmed runs of words", "words of a twin", "more tuned than kept"),
        *("labels twice", "one label", "no positive"),
        *("part twice", "unknown part", "no part", "no pairs", "more than all", "no harm"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(given, fault):
    with refused(fault):
        PasSettings.model_validate(given)


def test_the_loop_is_that_of_the_paper_unless_it_is_told_otherwise():
    settings = PasSettings.model_validate({"loop": {"epochs": 2}, "search": {"learning_rate": [1e-5, 2e-5, 5e-5]}})

    assert (settings.loop.epochs, settings.loop.batch_size, settings.loop.patience) == (2, 16, 5)
    assert (settings.loop.evaluate_every, settings.weights, settings.choose_by) == (500, "learnt", "average_precision")
    assert (settings.loop.warmup, settings.max_tokens, settings.classifier) == (0.1, 128, ("|u-v|", "u*v"))
