"""Searching over several values of settings in one training: the points to try, and their results.

search = { learning_rate = [1e-5, 2e-5], epochs = [2, 4] }  ──>  4 points, each a whole set of settings
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from features.core.faults import RepeatedValue, UnknownName, WrongValue
from training.loop.settings import Trainable

SettingsT = TypeVar("SettingsT", bound=Trainable)

OF_LOOP: tuple[str, ...] = ("learning_rate", "epochs", "warmup", "weight_decay")
"""Settings of the loop that may be searched. Their dev scores are comparable; those of different batch sizes are not
when the texts of a batch are each other's negatives."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of the searched values."""

    values: Values  # by setting; empty when nothing is searched
    settings: Any  # settings of the encoder with these values

    @property
    def name(self) -> str:
        """The values as text, which is also a folder name: `learning_rate=2e-05,epochs=4`."""
        return ",".join(f"{name}={value!r}" for name, value in self.values.items())


@dataclass(frozen=True, slots=True)
class Tried:
    """Result of a point."""

    values: Values  # values that were tried
    value: float  # dev score of the best model; higher is better, as in `Judgement.value`
    dev: Mapping[str, float]  # all its dev scores
    steps: int  # number of steps done
    best_step: int  # step with the best dev score
    seconds: float  # time in the loop


def points_of(settings: SettingsT, search: Mapping[str, Sequence[float]]) -> list[Point]:
    """Return every combination of the searched values, the last setting varying fastest; one point for no search."""
    if not search:
        return [Point({}, settings)]
    every = [dict(zip(search, chosen, strict=True)) for chosen in itertools.product(*search.values())]
    return [Point(values, with_values(settings, values)) for values in every]


def with_values(settings: SettingsT, values: Values) -> SettingsT:
    """Return settings with some values replaced, and without a search."""
    written = settings.model_dump(exclude={"search"})
    loop = {name: value for name, value in values.items() if name in OF_LOOP}
    own = {name: value for name, value in values.items() if name not in OF_LOOP}
    return type(settings).model_validate({**written, **own, "loop": {**written["loop"], **loop}})


def check_search(settings: SettingsT, search: Mapping[str, Sequence[float]], own: Sequence[str]) -> None:
    """Check that the settings of the loop and a kind's own, with these values, can be searched."""
    for name, values in search.items():
        if name not in (*OF_LOOP, *own):
            raise UnknownName(f"search cannot vary {name!r}; it can vary: {', '.join((*OF_LOOP, *own))}")
        if not values or len(set(values)) < len(values):
            raise RepeatedValue(
                f"search.{name} must be a list of values that differ from one another, got {list(values)}"
            )
    try:
        points_of(settings, search)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][-1]) if first["loc"] else "a value"
        raise WrongValue(f"search: {name} {first.get('input')!r} cannot be tried ({first['msg']})") from error
