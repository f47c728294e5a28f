"""Signals: a training writes its checkpoint first, reports truthfully what it keeps, and resumes exactly."""

import json
import os
import random
import re
import signal
import subprocess
import sys

import pytest
import torch

from training.encoders.s3bert import train as training
from training.encoders.s3bert.train import train
from training.loop import checkpoints, loop
from training.train import main


@pytest.fixture
def job(job, changed):
    """27 steps, with checkpoints only on a signal and at the end."""
    return job.model_copy(update={"settings": changed(job.settings, checkpoint_every=10**6, log_every=1, dropout=True)})


@pytest.fixture
def settings_file(job, tmp_path):
    (tmp_path / "job.json").write_text(job.model_dump_json())
    return str(tmp_path / "job.json")


@pytest.fixture(autouse=True)
def heard():
    """Enable interrupts, which a shell ignores for tests that it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def kept_step(folder):
    return torch.load(folder / checkpoints.FILE_NAME, weights_only=True)["outcome"]["steps"]


@pytest.mark.slow
@pytest.mark.soak
def test_a_real_signal_at_any_step_loses_nothing(job, changed, tmp_path, assert_same_weights):
    """Many steps, so that even a late signal comes long before the end."""
    longer = changed(job.settings, epochs=30, evaluate_every=50)
    whole = train(job.model_copy(update={"settings": longer, "output": tmp_path / "whole"}))
    stopped = job.model_copy(update={"settings": longer})
    (tmp_path / "job.json").write_text(stopped.model_dump_json())
    command = [sys.executable, "-m", "training.train", "--settings", str(tmp_path / "job.json")]
    for number, first in ((signal.SIGINT, 0), (signal.SIGTERM, 100)):
        asked_at = first + random.randrange(1, 80)
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:
                if f" step {asked_at} of 270," in line:
                    process.send_signal(number)
                last = line
        assert process.returncode == 128 + number
        said = re.fullmatch(
            r"interrupted: Interrupted; run the same command to continue after step (\d+) of 270\.\n", last
        )
        assert said is not None, last
        assert asked_at <= int(said[1]) == kept_step(stopped.output) < 270
    done = train(stopped)
    assert_same_weights(whole, done)
    histories = [json.loads((folder / "training.json").read_text())["history"] for folder in (whole, done)]
    assert histories[0] == histories[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_before_the_first_step_nothing_is_promised(job, settings_file, number, monkeypatch, capsys):
    monkeypatch.setattr(training, "load_backbone", lambda *_: os.kill(os.getpid(), number))
    assert main(["--settings", settings_file]) == 128 + number
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted: Interrupted; run the same command again."
    assert not (job.output / checkpoints.FILE_NAME).exists()


def test_a_second_signal_does_not_wait(job, settings_file, monkeypatch, capsys):
    def interrupted_twice(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second signal waits")

    monkeypatch.setattr(loop.Loop, "_learn", interrupted_twice)
    assert main(["--settings", settings_file]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        "interrupted: Interrupted before the first checkpoint; run the same command again."
    )
    assert not (job.output / checkpoints.FILE_NAME).exists()


def test_a_training_that_is_stopped_while_its_encoder_is_written_is_not_lost(
    job, settings_file, monkeypatch, capsys, assert_same_weights
):
    with monkeypatch.context() as patched:
        patched.setattr(training, "write_encoder", lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM))
        assert main(["--settings", settings_file]) == 143
    assert capsys.readouterr().err.splitlines()[-1] == (
        "interrupted: Interrupted; run the same command to continue after step 27 of 27."
    )
    monkeypatch.setattr(loop.Loop, "_learn", lambda *_, **__: pytest.fail("it has learnt all steps"))
    stopped = train(job)
    monkeypatch.undo()
    assert_same_weights(train(job.model_copy(update={"output": job.output.parent / "whole"})), stopped)


def test_handlers_are_put_back(settings_file, monkeypatch):
    monkeypatch.setattr(training, "train", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    assert main(["--settings", settings_file]) == 143
    assert signal.getsignal(signal.SIGTERM) is before
