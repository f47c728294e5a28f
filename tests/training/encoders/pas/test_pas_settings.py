"""Settings of PAS-SBERT that contradict each other, and the paper's as defaults."""

import pytest

from training.encoders.pas.settings import PasSettings


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"spans": "none", "weights": "equal"}, "weights is a setting of spans: leave `weights` out"),
        ({"spans": "none", "pooled": False}, "leave `pooled` out"),
        ({"spans": "random", "harmed": 0.1}, "harmed corrupts spans of the tagger"),
        ({"spans": "none", "words_below": 1}, "words_below is a setting of spans"),
        ({"layers": 1}, "layers_tuned is 2, but only 1 layers are kept: raise layers, or lower layers_tuned"),
        ({"labels": ["1", "1"]}, "must differ"),
        ({"labels": ["1"]}, "labels has only '1'"),
        ({"labels": ["a", "b"]}, "positive_label '1' is not in labels"),
        ({"classifier": ["u", "u"]}, "must differ"),
        ({"classifier": ["u-v"]}, "classifier"),
        ({"classifier": []}, "classifier"),
        ({"training_share": 0}, "training_share"),
        ({"harmed": 1.1}, "harmed"),
    ],
    ids=[
        *("twin with weights", "twin without pooling", "harmed draws", "words of a twin", "more tuned than kept"),
        *("labels twice", "one label", "no positive"),
        *("part twice", "unknown part", "no part", "no pairs", "more than all"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        PasSettings.model_validate(given)


def test_the_loop_is_that_of_the_paper_unless_it_is_told_otherwise():
    settings = PasSettings.model_validate({"loop": {"epochs": 2}, "search": {"learning_rate": [1e-5, 2e-5, 5e-5]}})

    assert (settings.loop.epochs, settings.loop.batch_size, settings.loop.patience) == (2, 16, 5)
    assert (settings.loop.warmup, settings.max_tokens, settings.classifier) == (0.1, 128, ("|u-v|", "u*v"))
