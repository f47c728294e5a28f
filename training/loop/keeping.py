"""Which weights a training ends with: those with the best dev score, a running average, or the last ones."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

Weights = dict[str, Tensor]


class Keeper:
    """Keeps weights beside those that learn.

    Args:
        parameters: that learn, by name.
        keep: which weights the training ends with.
        average_over: steps that the average reaches back, about.
    """

    def __init__(
        self, parameters: Mapping[str, nn.Parameter], keep: Literal["best", "average", "last"], average_over: int
    ) -> None:
        self._parameters, self._keep, self._over = parameters, keep, average_over
        self._kept: Weights = self._copy() if keep == "average" else {}
        self._has_best = False

    def after_step(self, step: int) -> None:
        """Take the weights of a step (from 1) into the average."""
        if self._keep == "average":
            weight = max(1 / self._over, 1 / (step + 1))
            torch._foreach_lerp_(list(self._kept.values()), [p.detach() for p in self._parameters.values()], weight)

    def best_so_far(self) -> None:
        """Keep the weights as they are: none before had a better score."""
        if self._keep == "best":
            self._kept, self._has_best = self._copy("cpu"), True

    @contextmanager
    def judged(self) -> Iterator[None]:
        """Put the weights in place that a dev score is about: the average, where that is kept."""
        if self._keep != "average":
            yield
            return
        own = self._copy()
        self.put(self._kept)
        try:
            yield
        finally:
            self.put(own)

    def finish(self) -> None:
        """Put the weights that are kept in the place of the last ones; the last ones stay where nothing was judged."""
        if self._keep == "average" or self._has_best:
            self.put(self._kept)

    def put(self, values: Mapping[str, Tensor]) -> None:
        """Put values in the place of the weights of their names."""
        with torch.no_grad():
            for name, value in values.items():
                self._parameters[name].copy_(value)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint needs."""
        return {"kept": self._kept, "has_best": self._has_best}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` gave."""
        self._has_best = state["has_best"]
        self._kept = {
            name: value.to(self._parameters[name].device if self._keep == "average" else "cpu")
            for name, value in state["kept"].items()
        }

    def _copy(self, device: str | None = None) -> Weights:
        return {name: p.detach().to(device or p.device, copy=True) for name, p in self._parameters.items()}
