"""A training of a few numbers: just the loop."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from training.loop.loop import Loop
from training.loop.machine import prepare_machine
from training.loop.settings import LoopSettings
from training.loop.task import Group, Judgement


class Line:
    """A line fitted to points, with dropout so that random numbers matter; dev scores are given."""

    unit = "points"

    def __init__(self, scores: Sequence[float] = (), batches: int = 6) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Dropout(0.3), nn.Linear(3, 1))
        self.points, self.values = torch.randn(batches, 4, 3), torch.randn(batches, 4, 1)
        self.groups = [Group(dict(self.model.named_parameters()))]
        self.scores = list(scores)
        self.judged: list[dict[str, Tensor]] = []
        self.spoilt_at: int | None = None

    def batches(self, epoch: int) -> list[list[int]]:
        order = torch.randperm(len(self.points), generator=torch.Generator().manual_seed(epoch)).tolist()
        return [[position] for position in order]

    def train(self) -> None:
        self.model.train()

    def losses(self, batch: list[int]) -> dict[str, Tensor]:
        loss = (self.model(self.points[batch]) - self.values[batch]).square().mean()
        if self.spoilt_at is not None:
            self.spoilt_at -= 1
            if self.spoilt_at < 0:
                loss = loss * float("nan")
        return {"loss": loss}

    def judge(self) -> Judgement | None:
        self.model.eval()
        self.judged.append(self.weights())
        if len(self.judged) > len(self.scores):
            return None
        value = self.scores[len(self.judged) - 1]
        return Judgement({"score": value}, value)

    def weights(self) -> dict[str, Tensor]:
        return {name: value.detach().clone() for name, value in self.model.named_parameters()}


@pytest.fixture
def line() -> type[Line]:
    return Line


@pytest.fixture
def make_loop(tmp_path: Path) -> Callable[..., Loop]:
    def make(task: Line, folder: str = "run", **settings: Any) -> Loop:
        numbers = {"epochs": 3, "learning_rate": 0.1, "threads": 1, "precision": "float32", **settings}
        (tmp_path / folder).mkdir(exist_ok=True)
        chosen = LoopSettings(device="cpu", **numbers)
        return Loop(task, chosen, prepare_machine(chosen, tmp_path / folder), folder=tmp_path / folder, identity="x")

    return make
