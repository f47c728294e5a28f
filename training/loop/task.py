"""What a kind of training gives the loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that learn at one rate.

    Args:
        parameters: by name; names are unlike those of other groups.
        factor: their rate as a multiple of the settings' rate.
        decays: whether weight decay is for them.
        clipped: whether their gradients count in the norm that gradients are clipped to.
    """

    parameters: Mapping[str, nn.Parameter]
    factor: float = 1.0
    decays: bool = True
    clipped: bool = True


def decaying_matrices(parameters: Mapping[str, nn.Parameter], factor: float = 1.0) -> list[Group]:
    """Return parameters as two groups: matrices, which decay, and vectors (biases, norms), which do not."""
    matrices = {name: parameter for name, parameter in parameters.items() if parameter.dim() > 1}
    others = {name: parameter for name, parameter in parameters.items() if parameter.dim() <= 1}
    return [Group(matrices, factor), Group(others, factor, decays=False)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What dev says of the model as it is.

    Args:
        scores: for the log and the record of the training.
        value: the best model has the highest.
    """

    scores: Mapping[str, float]
    value: float


class Task(Protocol):
    """A training without its loop. Methods see the whole batch; `training.loop.together` says whose share is whose.

    Args:
        unit: of what a batch holds, for the progress: "pairs".
    """

    unit: str

    @property
    def groups(self) -> Sequence[Group]:
        """The parameters that learn."""
        ...

    def batches(self, epoch: int) -> Sequence[Any]:
        """Return the batches of an epoch (from 0), the same in every process: seed and epoch decide."""
        ...

    def size(self, batch: Any) -> int:
        """Return how many units a batch holds."""
        ...

    def losses(self, batch: Any) -> dict[str, Tensor]:
        """Return the losses of a batch, scalars: the first is minimised, the others are for the progress."""
        ...

    def judge(self) -> Judgement | None:
        """Return what dev says; None where there is no dev. Random numbers are left as they are."""
        ...

    def train(self) -> None:
        """Make ready to learn: dropout is on."""
        ...
