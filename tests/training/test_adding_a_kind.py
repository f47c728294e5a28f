"""docs/architecture.md, "How to add an encoder": a toy kind is one folder and one line in `training/kinds.py`."""

import importlib
import json
import sys

import pytest

from training.kinds import KINDS, Kind, read_encoder_job
from training.runs import find_encoder

SETTINGS = '''
from typing import Literal

from training.encoders.settings import EncoderSettings


class ToySettings(EncoderSettings):
    """An encoder that learns one number."""

    kind: Literal["toy"] = "toy"
    goal: float = 3.0
'''
TRAIN = """
import torch

from toy.settings import ToySettings
from training.jobs import Source, TrainingJob, read_job
from training.loop.loop import Loop
from training.loop.machine import prepare_machine
from training.loop.task import Group, Judgement
from training.process import run_process
from training.runs import ENCODER, TRAINING_FILE
from training.writing import write_json

ToyJob = TrainingJob[Source, ToySettings]


class ToyTask:
    unit = "numbers"

    def __init__(self, goal):
        self.goal, self.number = goal, torch.nn.Parameter(torch.zeros(1))
        self.groups = [Group({"number": self.number})]

    def batches(self, epoch):
        return list(range(5))

    def size(self, batch):
        return 1

    def train(self):
        pass

    def losses(self, batch):
        return {"loss": (self.number - self.goal).square().mean()}

    @torch.no_grad()
    def judge(self):
        loss = self.losses(0)["loss"].item()
        return Judgement({"loss": loss}, value=-loss)


def train(job):
    (job.output / ENCODER).mkdir(parents=True)
    task = ToyTask(job.settings.goal)
    machine = prepare_machine(job.settings.loop, job.output)
    loop = Loop(task, job.settings.loop, machine, folder=job.output, identity="toy")
    outcome = loop.run()
    write_json(job.output / ENCODER / TRAINING_FILE, {"number": task.number.item(), "best_step": outcome.best_step})
    loop.forget()


def main(arguments=None):
    return run_process("toy.train", "Train a toy.", lambda path: train(read_job(ToyJob, path)), arguments)
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The folder, on the path of modules, and the line."""
    (tmp_path / "toy").mkdir()
    for name, text in (("__init__", ""), ("settings", SETTINGS), ("train", TRAIN)):
        (tmp_path / "toy" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    settings = importlib.import_module("toy.settings").ToySettings
    monkeypatch.setitem(KINDS, "toy", Kind(settings=settings, module="toy.train", tables=("labels",)))
    yield
    for name in ("toy.train", "toy.settings", "toy"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("toy")
def test_a_toy_kind_is_one_folder_and_one_line(tmp_path):
    loop = {"epochs": 20, "learning_rate": 0.2, "device": "cpu", "threads": 1}
    settings = {"name": "first", "kind": "toy", "goal": 2.0, "loop": loop}
    run = tmp_path / "runs" / "first"
    content = {"source": {"store": "store", "release": 1}, "settings": settings, "output": str(run)}
    (tmp_path / "job.json").write_text(json.dumps(content))
    job = read_encoder_job(tmp_path / "job.json")
    assert (job.settings.kind, job.settings.goal, job.settings.loop.epochs) == ("toy", 2.0, 20)
    assert KINDS[job.settings.kind].tables == ("labels",)
    module = importlib.import_module(KINDS[job.settings.kind].module)
    assert module.main(["--settings", str(tmp_path / "job.json"), "--quiet"]) == 0
    made = json.loads((find_encoder(tmp_path / "runs", "first") / "training.json").read_text())
    assert made["number"] == pytest.approx(2, abs=0.2)
    assert not (run / "checkpoint.pt").exists()
