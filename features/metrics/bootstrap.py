"""How bootstrap intervals are drawn; apart from the metrics, which are slow to import."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Self

import numpy as np
import numpy.typing as npt

from features.core.draws import seed_of
from features.core.faults import WrongValue
from features.metrics.arrays import Numbers

FEWEST = 6
"""Items, or groups of items, that an interval needs."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made."""

    resamples: int = 1000  # number of draws; 0 for no intervals
    seed: int = 0  # seed of the draws
    confidence: float = 0.95  # share of the draws that lies within an interval

    def __post_init__(self) -> None:
        for what, number in (("number of resamples", self.resamples), ("seed", self.seed)):
            if not isinstance(number, Integral) or number < 0:
                raise WrongValue(f"the {what} cannot be {number!r}; give a whole number from 0")
        if not 0 < self.confidence < 1:
            raise WrongValue(f"a confidence of {self.confidence!r} is out of range; give a number between 0 and 1")

    def draws(self, items: int) -> Iterator[npt.NDArray[np.int64]]:
        """Yield how often each of `items` items occurs in each draw, (items,); the same in every call."""
        random = np.random.default_rng(self.seed)
        for _ in range(self.resamples):
            yield np.bincount(random.integers(items, size=items), minlength=items)

    def of(self, items: str) -> Self:
        """Return a bootstrap for items of some name, whose draws do not depend on those for others."""
        return replace(self, seed=seed_of(f"{self.seed} {items}"))

    def ends(self, values: Numbers) -> tuple[float, float]:
        """Return the ends of the interval that contains the share `confidence` of some values, one per draw."""
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(values, [tail, 1 - tail])
        return float(low), float(high)
