"""Devices of a training: a requested device that is missing is refused."""

import os

import pytest
import torch
from sentences import refused

from features.core.faults import DeviceMissing
from training.loop import machine
from training.loop.machine import prepare_machine, restore_random_state
from training.loop.settings import LoopSettings
from training.loop.together import all_processes


def test_a_device_that_is_not_here_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)  # the sentence names how many there are
    with refused(DeviceMissing):
        prepare_machine(LoopSettings(device="cuda:77"), tmp_path)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ("float32", torch.float32),
        ("bfloat16", torch.bfloat16),
    ],
    ids=["float32", "bfloat16"],
)
def test_a_precision_that_is_asked_for_is_taken(asked, taken, tmp_path):
    prepared = prepare_machine(LoopSettings(device="cpu", precision=asked), tmp_path)
    assert prepared.device.type == "cpu"
    assert prepared.precision == taken


@pytest.mark.parametrize(("fast", "taken"), [(True, torch.bfloat16), (False, torch.float32)])
def test_auto_takes_bfloat16_where_the_machine_computes_in_it(fast, taken, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "computes_in_bfloat16", lambda precision, device: precision == "auto" and fast)
    assert prepare_machine(LoopSettings(device="cpu", precision="auto"), tmp_path).precision == taken


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with refused(DeviceMissing), all_processes(LoopSettings(processes=2), "training.train", LoopSettings()):
        pytest.fail("started")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with all_processes(LoopSettings(processes=2), "this", LoopSettings()):
        assert os.environ["WORLD_SIZE"] == "2"


def test_processes_share_the_threads_that_this_one_may_use(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 6)
    used = []
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    for threads in (None, 5):
        with all_processes(LoopSettings(processes=2, device="cpu", threads=threads), "this", LoopSettings()):
            assert os.environ["OMP_NUM_THREADS"] == str(threads or 3)
    assert used == [3, 6, 5, 6], "and afterwards all again"


def test_gradients_of_repeated_sentences_are_the_same_whatever_the_threads_do(tmp_path):
    prepare_machine(LoopSettings(device="cpu", threads=2), tmp_path)
    assert torch.get_num_threads() == 2
    random = torch.Generator().manual_seed(0)
    embeddings = torch.randn(380, 864, generator=random, requires_grad=True)
    places, weights = torch.randint(0, 380, (3000,), generator=random), torch.randn(3000, 864, generator=random)

    def gradient():
        embeddings.grad = None
        (embeddings[places] * weights).sum().backward()
        return embeddings.grad

    first = gradient()
    assert all(torch.equal(first, gradient()) for _ in range(10))


def test_a_seed_of_any_length_is_taken_on_another_machine_and_each_step_and_process_draws_anew(monkeypatch):
    for seed in (3, 20261129122500):
        found = []
        for step, rank in ((10, 0), (10, 0), (11, 0), (10, 1)):
            monkeypatch.setenv("RANK", str(rank))
            restore_random_state([{}, {}], torch.device("cpu"), seed=seed, step=step)
            found.append(torch.rand(3))
        assert torch.equal(found[0], found[1])
        assert not any(torch.equal(found[0], other) for other in found[2:])
