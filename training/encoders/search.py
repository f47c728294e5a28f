"""Trying several values of a setting in one training: what is tried, and which of it was best.

search = { learning_rate = [1e-5, 2e-5], epochs = [2, 4] }  ──>  4 points, each a whole set of settings
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from training.loop.settings import Trainable

SettingsT = TypeVar("SettingsT", bound=Trainable)

OF_LOOP: tuple[str, ...] = ("learning_rate", "epochs", "warmup", "weight_decay")
"""Settings of the loop that may be searched. Their dev scores can be compared; those of other batch sizes cannot where
the texts of a batch are each other's negatives."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One choice of the values that are searched.

    Args:
        values: by setting; empty where nothing is searched.
        settings: the encoder's, with these values.
    """

    values: Values
    settings: Any

    @property
    def name(self) -> str:
        """The values in words, which are also the name of a folder: `learning_rate=2e-05,epochs=4`."""
        return ",".join(f"{name}={value!r}" for name, value in self.values.items())


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a point.

    Args:
        values: that were tried.
        value: what dev says of the best model: the more the better, as `Judgement.value`.
        dev: its scores.
        steps: that were done.
        best_step: the step with the best dev score.
        seconds: in the loop.
    """

    values: Values
    value: float
    dev: Mapping[str, float]
    steps: int
    best_step: int
    seconds: float


def points_of(settings: SettingsT, search: Mapping[str, Sequence[float]]) -> list[Point]:
    """Return every combination of the values, the last setting's changing fastest; one point where nothing is searched.

    Args:
        settings: of an encoder.
        search: setting → its values.

    Raises:
        ValidationError: when a value is none that the setting may have.
    """
    if not search:
        return [Point({}, settings)]
    every = [dict(zip(search, chosen, strict=True)) for chosen in itertools.product(*search.values())]
    return [Point(values, with_values(settings, values)) for values in every]


def with_values(settings: SettingsT, values: Values) -> SettingsT:
    """Return settings with some values, and without a search.

    Args:
        settings: of an encoder.
        values: by setting.

    Raises:
        ValidationError: when a value is none that the setting may have.
    """
    written = settings.model_dump(exclude={"search"})
    loop = {name: value for name, value in values.items() if name in OF_LOOP}
    own = {name: value for name, value in values.items() if name not in OF_LOOP}
    return type(settings).model_validate({**written, **own, "loop": {**written["loop"], **loop}})


def check_search(settings: SettingsT, search: Mapping[str, Sequence[float]], own: Sequence[str]) -> None:
    """Refuse a search that cannot be done.

    Args:
        settings: of an encoder.
        search: setting → its values.
        own: settings beside those of the loop that the kind can search.

    Raises:
        ValueError: when it cannot; a sentence without a full stop.
    """
    for name, values in search.items():
        if name not in (*OF_LOOP, *own):
            raise ValueError(f"search names {name!r}, which is not searched; there are: {', '.join((*OF_LOOP, *own))}")
        if not values or len(set(values)) < len(values):
            raise ValueError(f"search.{name} must be a list of values that differ from one another, got {list(values)}")
    try:
        points_of(settings, search)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][-1]) if first["loc"] else "a value"
        raise ValueError(f"search: {name} {first.get('input')!r} cannot be tried ({first['msg']})") from error
