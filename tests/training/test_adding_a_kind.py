"""docs/concepts/architecture.md, "How to add an encoder": a toy kind is a folder and a line in `training/kinds.py`."""

import importlib
import json
import sys

import pytest
from sentences import refused

from features.core.faults import UnknownName
from training.kinds import KINDS, Kind, read_encoder_job
from training.runs import find_encoder
from training.train import main

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
from training.encoders.learning import learn
from training.encoders.running import TrainingPlan, train_once
from training.loop.machine import prepare_machine
from training.loop.task import Group, Judgement
from training.runs import ENCODER, TRAINING_FILE
from training.writing import write_json


class ToyTask:
    unit = "numbers"

    def __init__(self, goal):
        self.goal, self.number = goal, torch.nn.Parameter(torch.zeros(1))
        self.groups = [Group({"number": self.number})]

    def batches(self, epoch):
        return [[number] for number in range(5)]

    def train(self):
        pass

    def losses(self, batch):
        return {"loss": (self.number - self.goal).square().mean()}

    @torch.no_grad()
    def judge(self):
        loss = self.losses(0)["loss"].item()
        return Judgement({"loss": loss}, value=-loss)


def train(job):
    plan = TrainingPlan(job, job.settings, data_digest="numbers", backbone_digest="none", source={})

    def complete(learnt):
        (job.output / ENCODER).mkdir()
        made = {"number": learnt.task.number.item(), "chosen": learnt.values, "tried": len(learnt.tried)}
        write_json(job.output / ENCODER / TRAINING_FILE, made)

    def start():
        machine = prepare_machine(job.settings.loop, job.output)
        learn(plan, machine, lambda settings: ToyTask(settings.goal), complete, about="a number")

    return train_once(plan, start)
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Write the folder, on the module path, and the line."""
    (tmp_path / "toy").mkdir()
    for name, text in (("__init__", ""), ("settings", SETTINGS), ("train", TRAIN)):
        (tmp_path / "toy" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    settings = importlib.import_module("toy.settings").ToySettings
    monkeypatch.setitem(KINDS, "toy", Kind(settings=settings, module="toy.train", tables=("labels",)))
    yield
    for name in ("toy.train", "toy.settings", "toy"):
        sys.modules.pop(name, None)


def train_toy(folder, **settings):
    """Train from a job file, as every training process does, and return what the encoder reports about itself."""
    run = folder / "runs" / "first" / "00001-abcdef" / "seed-0"
    loop = {"epochs": 20, "learning_rate": 0.2, "device": "cpu", "threads": 1}
    chosen = {"name": "first", "kind": "toy", "goal": 2.0, "loop": loop, **settings}
    content = {"source": {"store": "store", "release": 1}, "settings": chosen, "output": str(run)}
    (folder / "job.json").write_text(json.dumps(content))
    job = read_encoder_job(folder / "job.json")
    assert (job.settings.kind, job.settings.goal, job.settings.loop.epochs) == ("toy", 2.0, 20)
    assert main(["--settings", str(folder / "job.json"), "--quiet"]) == 0
    assert not (run / "checkpoint.pt").exists()
    return json.loads((find_encoder(folder / "runs", "first") / "training.json").read_text())


@pytest.mark.usefixtures("toy")
def test_a_toy_kind_is_one_folder_and_one_line(tmp_path):
    assert KINDS["toy"].tables == ("labels",)
    assert train_toy(tmp_path)["number"] == pytest.approx(2, abs=0.2)


@pytest.mark.usefixtures("toy")
def test_a_toy_kind_searches_its_settings_as_others_do(tmp_path):
    made = train_toy(tmp_path, search={"learning_rate": [1e-4, 0.2]})
    assert (made["chosen"], made["tried"]) == ({"learning_rate": 0.2}, 2)
    assert made["number"] == pytest.approx(2, abs=0.2)


def test_the_job_of_a_kind_that_is_not_known_here_is_told_by_it(tmp_path):
    (tmp_path / "job.json").write_text(json.dumps({"settings": {"kind": "toy"}}))
    with refused(UnknownName):
        read_encoder_job(tmp_path / "job.json")
