"""Interface between a kind of training and the loop."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters with a common learning rate."""

    parameters: Mapping[str, nn.Parameter]  # by name; names must be unique over all groups
    factor: float = 1.0  # their learning rate as a multiple of the settings' rate
    decays: bool = True  # whether weight decay applies to them
    clipped: bool = True  # whether their gradients are part of the norm for gradient clipping


def parameters_of(groups: Iterable[Group]) -> dict[str, nn.Parameter]:
    """Return the parameters of all groups by name."""
    return {name: parameter for group in groups for name, parameter in group.parameters.items()}


def decaying_matrices(parameters: Mapping[str, nn.Parameter], factor: float = 1.0) -> list[Group]:
    """Return parameters as two groups: matrices, which decay, and vectors (biases, norms), which do not."""
    matrices = {name: parameter for name, parameter in parameters.items() if parameter.dim() > 1}
    others = {name: parameter for name, parameter in parameters.items() if parameter.dim() <= 1}
    return [Group(matrices, factor), Group(others, factor, decays=False)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Evaluation of the current model on dev."""

    scores: Mapping[str, float]  # scores for the log and the record of the training
    value: float  # criterion for the best model; higher is better


class Task(Protocol):
    """A training without its loop. Methods see the whole batch; `training.loop.together` divides it among processes.

    Args:
        unit: unit of a batch's contents, for the progress: "pairs".
    """

    unit: str

    @property
    def groups(self) -> Sequence[Group]:
        """The trained parameters."""

    def batches(self, epoch: int) -> Sequence[Any]:
        """Return the batches of an epoch (from 0), determined by seed and epoch and the same in every process.

        The length of a batch is its number of units.
        """

    def losses(self, batch: Any) -> dict[str, Tensor]:
        """Return the losses of a batch, scalars: the first is minimised, the others are only logged."""

    def judge(self) -> Judgement | None:
        """Evaluate on dev; None if there is no dev split. The state of random numbers must not change."""

    def train(self) -> None:
        """Switch to training mode, with dropout."""
