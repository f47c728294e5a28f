"""Settings of a training: presets and the paper's numbers, refused values, and settings of the previous version."""

import pytest
from sentences import refused

from features.core.faults import Conflict, EmptySetting, RepeatedValue, UnknownKey, WrongValue
from features.metrics.registry import METRIC_NAMES
from training.encoders.s3bert.settings import PRESETS, S3bertSettings
from training.loop.settings import LoopSettings

ORDERING = {"alpha": 0, "consistency": 0, "ordering": 1.0, "map_epochs": 0}


def test_the_papers_preset_has_the_papers_numbers():
    settings = S3bertSettings(preset="paper")
    assert settings.facets is None  # every metric of the pairs
    assert (settings.facet_dimensions, settings.layers_tuned, settings.loop.batch_size) == (16, 2, 64)
    assert (settings.loop.learning_rate, settings.loop.warmup_steps, settings.loop.epochs) == (1e-5, 100, 8)
    assert (settings.loop.evaluate_every, settings.alpha, settings.consistency) == (1000, 1, 1)


def test_without_a_word_the_numbers_suit_the_pairs_that_people_start_with():
    assert S3bertSettings() == S3bertSettings(preset="laptop")
    assert (S3bertSettings().loop.epochs, S3bertSettings().map_epochs, S3bertSettings().consistency) == (2, 20, 10)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_its_numbers_and_what_is_said_beside_it_wins(name):
    settings = S3bertSettings(preset=name, alpha=0.5, loop={"epochs": 3})
    assert (settings.alpha, settings.loop.epochs) == (0.5, 3)
    assert settings == S3bertSettings(preset=name, alpha=0.5, loop=LoopSettings(epochs=3))
    expected = {f"loop.{field}": value for field, value in PRESETS[name]["loop"].items() if field != "epochs"}
    expected |= {field: value for field, value in PRESETS[name].items() if field != "loop"}
    for field, value in expected.items():
        table, _, key = field.rpartition(".")
        assert getattr(settings.loop if table else settings, key) == value


def test_the_released_configuration_differs_from_the_paper_where_the_authors_code_does():
    settings = S3bertSettings(preset="released")
    assert (settings.loop.learning_rate, settings.loop.epochs) == (2e-5, 2)
    assert (settings.similarity, settings.targets, settings.consistency) == ("manhattan", "minmax", 25)


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"preset": "papers"}, WrongValue),
        ({"preset": ["paper"]}, WrongValue),
        ({"kind": "sbert"}, WrongValue),
        ({"facets": ["smatch", "smatch"]}, RepeatedValue),
        ({"facets": []}, EmptySetting),
        ({"loop": {"epochs": 0}}, WrongValue),
        ({"loop": {"learning_rate": -1}}, WrongValue),
        ({"loop": {"batch_size": 1}}, WrongValue),
        ({"loop": {"learning_rte": 1}}, UnknownKey),
        ({"loop": 3}, WrongValue),
        ({"epochs": 3}, UnknownKey),
        ({"layers_tuned": 0, "layer_shares": {"captions": 0.1}}, Conflict),
        ({"layers_tuned": 0, "map_epochs": 0}, WrongValue),
        ({"alpha": 0, "consistency": 0}, WrongValue),
        (ORDERING, WrongValue),  # there is no dev loss to choose the model by
        (ORDERING | {"map_epochs": 1, "loop": {"keep": "last"}}, WrongValue),  # nor one that teaches a map
        ({"layers_tuned": 0, "ordering": 1.0}, Conflict),
        ({"layers_tuned": 0, "map_epochs": 1, "finish": {"steps": 1}}, Conflict),
        ({"layers_tuned": 0, "map_epochs": 1, "share": 0.5}, Conflict),
        ({"finish": {"steps": 1}, "search": {"learning_rate": (1e-3, 2e-3)}}, Conflict),
        ({"share": 0.5, "search": {"learning_rate": (1e-3, 2e-3)}}, Conflict),
        ({"layers_tuned": 0, "search": {"learning_rate": (1e-3, 2e-3)}}, Conflict),
        ({"layers_tuned": 2, "search": {"map_learning_rate": (1e-3, 2e-3)}}, Conflict),
        ({"ordered_facets": ("srl",)}, Conflict),
        ({"ordering": 1.0, "facets": ("smatch",), "ordered_facets": ("srl",)}, Conflict),
        ({"ordering": 1.0, "facets": ("smatch",), "finish": {"steps": 1, "ordered_facets": ("srl",)}}, Conflict),
        ({"finish": {"steps": 1, "ordered_facets": ("srl",)}}, Conflict),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(wrong, fault):
    with refused(fault):
        S3bertSettings(**wrong)


def test_facets_that_were_not_measured_are_known():
    assert S3bertSettings().unknown_facets(()) == []
    assert S3bertSettings(facets=["srl", "sembleu"]).unknown_facets(METRIC_NAMES) == ["sembleu"]


def test_settings_survive_json():
    settings = S3bertSettings(preset="released", loop=LoopSettings(seed=3))
    assert S3bertSettings.model_validate_json(settings.model_dump_json()) == settings
