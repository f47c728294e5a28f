"""Settings of a training: the paper's numbers, presets, what is refused."""

import pytest
from pydantic import ValidationError

from features.schemas import METRIC_NAMES
from training.settings import PRESETS, TrainingSettings


def test_without_a_word_the_numbers_are_the_papers():
    settings = TrainingSettings()
    assert settings.facets is None  # every metric of the pairs
    assert (settings.facet_dimensions, settings.layers_tuned, settings.batch_size) == (16, 2, 64)
    assert (settings.learning_rate, settings.warmup_steps, settings.epochs) == (1e-5, 100, 8)
    assert (settings.evaluate_every, settings.alpha, settings.consistency) == (1000, 1, 1)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_its_numbers_and_what_is_said_beside_it_wins(name):
    settings = TrainingSettings(preset=name, epochs=3)
    assert settings.epochs == 3
    for field, value in PRESETS[name].items():
        if field != "epochs":
            assert getattr(settings, field) == value


def test_the_released_configuration_differs_from_the_paper_where_the_authors_code_does():
    settings = TrainingSettings(preset="released")
    assert (settings.learning_rate, settings.epochs) == (2e-5, 2)
    assert (settings.similarity, settings.targets, settings.consistency) == ("manhattan", "minmax", 25)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"preset": "papers"}, "preset"),
        ({"facets": ["smatch", "smatch"]}, "differ"),
        ({"facets": []}, "must name"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": -1}, "learning_rate"),
        ({"learning_rte": 1}, "Extra inputs"),
    ],
)
def test_wrong_settings_are_refused(wrong, reason):
    with pytest.raises(ValidationError, match=reason):
        TrainingSettings(**wrong)


def test_facets_that_were_not_measured_are_known():
    assert TrainingSettings().unknown_facets(()) == []
    assert TrainingSettings(facets=["srl", "sembleu"]).unknown_facets(METRIC_NAMES) == ["sembleu"]


def test_settings_survive_json():
    settings = TrainingSettings(preset="released", seed=3)
    assert TrainingSettings.model_validate_json(settings.model_dump_json()) == settings
