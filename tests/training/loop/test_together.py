"""Processes that train together: the same losses as in one process, and an end for all if one dies."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from sentences import refused

from features.core.faults import TrainingsApart
from features.core.leftovers import _SCRATCH_NAME
from training.encoders.s3bert.train import S3bertJob, train
from training.jobs import Source
from training.loop import together
from training.loop.settings import LoopSettings
from training.loop.together import MEETING, all_processes, average_gradients, gathered, over_all, share


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
@pytest.mark.soak
def test_two_processes_have_the_losses_of_one(make_job):
    one, two = make_job(1), make_job(2)
    for job in (one, two):
        train(job)
    assert len(losses(one, "loss")) == len(losses(two, "loss")) == 54
    assert losses(two, "loss")[:50] == pytest.approx(losses(one, "loss")[:50], abs=1e-4)
    assert losses(two, "dev_loss") == pytest.approx(losses(one, "dev_loss"), abs=1e-4)
    assert "WORLD_SIZE" not in os.environ


def test_the_mean_of_what_processes_return_is_that_of_all_their_items(monkeypatch):
    """As for losses of words, of which each process has its own number."""
    items = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([6.0])
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("torch.distributed.all_reduce", lambda total: total.fill_(4))
    shares = [over_all(mine.mean(), torch.tensor(len(mine))) for mine in items]
    assert torch.stack(shares).mean() == torch.cat(items).mean()
    monkeypatch.setattr("torch.distributed.all_reduce", lambda total: total)
    assert over_all(torch.tensor(3.0), torch.tensor(1)) == 6, "the other process has none"
    assert over_all(torch.tensor(0.0), torch.tensor(0)) == 0


def test_the_gradients_of_two_processes_are_those_of_one(monkeypatch):
    batch = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    first, second, alone = (torch.nn.Parameter(torch.ones(3, 2)) for _ in range(3))
    unused, elsewhere, frozen = (torch.nn.Parameter(torch.ones(1), requires_grad=each) for each in (True, True, False))
    shares = batch[::2], batch[1::2]

    def learn(rows):
        (rows.cumsum(dim=0) ** 2).sum().backward()

    learn(torch.cat(shares) @ alone)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(together, "_all_gathered", lambda _: [(rows @ alone).detach() for rows in shares])
    for rank, own in enumerate((first, second)):
        monkeypatch.setenv("RANK", str(rank))
        assert torch.equal(share(batch), shares[rank])
        learn(gathered(shares[rank] @ own))
    of_second = iter([torch.tensor([1.0, 0.0, 1.0]), torch.cat([second.grad.flatten(), torch.tensor([4.0])])])
    monkeypatch.setattr("torch.distributed.all_reduce", lambda values: values.add_(next(of_second)))
    average_gradients([first, frozen, unused, elsewhere])
    torch.testing.assert_close(first.grad, alone.grad)
    assert elsewhere.grad == 2
    assert unused.grad is None, "an optimiser leaves it as it is"


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
def test_a_process_that_torchrun_started_leaves_the_others_before_it_ends(tmp_path, root):
    (tmp_path / "leaving.py").write_text(LEAVING)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "leaving.py"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / rank).read_text() for rank in ("0", "1")] == ["left", "left"]


@pytest.mark.slow
@pytest.mark.soak
def test_torchrun_starts_them_too(make_job, tmp_path, root):
    job = make_job(1)
    (tmp_path / "job.json").write_text(job.model_dump_json())
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    module = ["-m", "training.train", "--settings", str(tmp_path / "job.json")]
    done = subprocess.run([*command, *module], capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    assert (job.output / "encoder" / "facets.json").exists()
    assert len(losses(job, "loss")) == 54


STRANGER = """
import pickle
import sys
from pathlib import Path

import psutil
import torch
from pydantic import BaseModel

from training.loop import together
from training.loop.together import all_processes
from training.loop.machine import prepare_machine
from training.loop.settings import LoopSettings


class Code:
    def __reduce__(self):
        return Path("ran").touch, ()


class Job(BaseModel):
    pass


def main():
    prepare_machine(LoopSettings(device="cpu"), Path())
    value = {"step": 3, "state": torch.arange(3), "scores": {"loss": 0.5}, "none": None}
    if together.rank() == 0:
        own, other = together.from_each(value)
        assert own["state"].tolist() == other["state"].tolist() == [0, 1, 2]
        assert together.from_first("first") == "first"
        every = {c.laddr.ip for c in psutil.Process().net_connections() if c.status == psutil.CONN_LISTEN}
        assert every <= {"127.0.0.1", "::1"}, every
        try:
            together.from_each(value)
        except pickle.UnpicklingError:
            print("refused")
    else:
        together.from_each(value)
        assert together.from_first("second") == "first"
        torch.save = lambda _, file: pickle.dump(Code(), file)
        try:
            together.from_each(None)
        except pickle.UnpicklingError:
            pass


if __name__ == "__main__":
    if "--settings" in sys.argv:
        main()
    else:
        with all_processes(LoopSettings(processes=2, device="cpu"), "stranger", Job()):
            main()
"""


def test_what_processes_share_is_removed_also_after_a_kill():
    with all_processes(LoopSettings(processes=2, device="cpu"), "this", LoopSettings()):
        folder = Path(os.environ[MEETING]).parent
        assert _SCRATCH_NAME.fullmatch(folder.name)  # which the next build or training looks for
    assert not folder.exists()


def test_a_process_that_failed_is_why_the_connection_of_this_one_closed():
    class ClosedError(RuntimeError):
        pass

    settings = LoopSettings(processes=2, device="cpu")
    with refused(TrainingsApart), all_processes(settings, "no_such_module", settings):
        raise ClosedError
    with pytest.raises(ClosedError), all_processes(settings, "this", settings):  # which ends without a failure
        raise ClosedError


@pytest.mark.slow
@pytest.mark.soak
def test_processes_that_train_together_listen_on_this_machine_only_and_run_no_code_of_a_stranger(tmp_path, root):
    (tmp_path / "stranger.py").write_text(STRANGER)
    environment = {**os.environ, "PYTHONPATH": f"{root}:{tmp_path}"}
    command = [sys.executable, "stranger.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.stdout == "refused\n", done.stderr
    assert not (tmp_path / "ran").exists()
