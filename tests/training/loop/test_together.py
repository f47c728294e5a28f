"""Processes that train together: the same losses as in one process, and an end for all if one dies."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from training.encoders.s3bert.train import S3bertJob, train
from training.jobs import Source


@pytest.fixture
def make_job(measured, settings, changed, tmp_path):
    measured.export(tmp_path / "pairs.parquet")

    def make(processes):
        numbers = {"precision": "float32", "device": "cpu", "log_every": 1, "epochs": 6, "evaluate_every": 20}
        chosen = changed(settings, dropout=False, processes=processes, checkpoint_every=10**6, **numbers)
        output = tmp_path / f"run{processes}"
        return S3bertJob(source=Source(pairs=tmp_path / "pairs.parquet"), settings=chosen, output=output)

    return make


def losses(job, name):
    lines = [json.loads(line) for line in (job.output / "progress.jsonl").read_text().splitlines()]
    return [line[name] for line in lines if name in line]


@pytest.mark.slow
def test_two_processes_have_the_losses_of_one(make_job):
    one, two = make_job(1), make_job(2)
    for job in (one, two):
        train(job)
    assert len(losses(one, "loss")) == len(losses(two, "loss")) == 54
    assert losses(two, "loss")[:50] == pytest.approx(losses(one, "loss")[:50], abs=1e-4)
    assert losses(two, "dev_loss") == pytest.approx(losses(one, "dev_loss"), abs=1e-4)
    assert "WORLD_SIZE" not in os.environ


LEAVING = """
from pathlib import Path
import torch
from training.loop.machine import prepare_machine
from training.loop.settings import LoopSettings
import atexit
import os
said = Path(os.environ["RANK"])
atexit.register(lambda: said.write_text("still connected" if torch.distributed.is_initialized() else "left"))
prepare_machine(LoopSettings(device="cpu"), Path("."))
assert torch.distributed.is_initialized()
"""


@pytest.mark.slow
@pytest.mark.soak
def test_a_process_that_torchrun_started_leaves_the_others_before_it_ends(tmp_path):
    (tmp_path / "leaving.py").write_text(LEAVING)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "leaving.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / rank).read_text() for rank in ("0", "1")] == ["left", "left"]


@pytest.mark.slow
@pytest.mark.soak
def test_torchrun_starts_them_too(make_job, tmp_path):
    job = make_job(1)
    (tmp_path / "job.json").write_text(job.model_dump_json())
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    module = ["-m", "training.encoders.s3bert.train", "--settings", str(tmp_path / "job.json")]
    done = subprocess.run([*command, *module], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (job.output / "encoder" / "facets.json").exists()
    assert len(losses(job, "loss")) == 54
