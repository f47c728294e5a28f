"""Which weights a training ends with: those with the best dev score, an average of weights, or the last ones.

    best       the weights of the dev evaluation with the best score
    average    the running average at the dev evaluation with the best score: averages are evaluated on dev
    last       those of the last step

Without dev `best` is the last weights, and `average` the last average.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from training.loop.settings import Keep

Weights = dict[str, Tensor]


class Keeper:
    """Keeps the weights that a training ends with; an average covers about `average_over` steps."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], keep: Keep, average_over: int) -> None:
        self._parameters, self._keep, self._over = parameters, keep, average_over
        self._average: Weights = _copied(parameters) if keep == "average" else {}
        self._best: Weights = {}

    def after_step(self, step: int) -> None:
        """Add the weights of a step (from 1) to the average."""
        if self._keep == "average":
            weight = max(1 / self._over, 1 / (step + 1))
            torch._foreach_lerp_(list(self._average.values()), [p.detach() for p in self._parameters.values()], weight)

    def best_so_far(self) -> None:
        """Keep the weights that were just evaluated as the best so far."""
        if self._keep != "last":
            self._best = _copied(self._average or self._parameters, "cpu")

    @contextmanager
    def judged(self) -> Iterator[None]:
        """Use the weights to be evaluated on dev: the average, if that is kept."""
        if self._keep != "average":
            yield
            return
        own = _copied(self._parameters)
        self.put(self._average)
        try:
            yield
        finally:
            self.put(own)

    def finish(self) -> None:
        """Replace the last weights by the kept ones, if there are any."""
        self.put(self._best or self._average)

    def put(self, values: Mapping[str, Tensor]) -> None:
        """Replace weights by name."""
        with torch.no_grad():
            for name, value in values.items():
                self._parameters[name].copy_(value)

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"best": self._best, "average": self._average}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self._best = dict(state["best"])
        self._average = {name: value.to(self._parameters[name].device) for name, value in state["average"].items()}


def _copied(weights: Mapping[str, Tensor], device: str | None = None) -> Weights:
    return {name: value.detach().to(device or value.device, copy=True) for name, value in weights.items()}
