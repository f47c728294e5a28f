"""Devices of a training: a requested device that is missing is refused."""

import pytest
import torch

from features.errors import SettingsError
from training.loop.machine import prepare_machine
from training.loop.settings import LoopSettings


@pytest.mark.parametrize("name", ["cuda:77", "abacus"])
def test_a_device_that_is_not_here_is_an_error(name, tmp_path):
    with pytest.raises(SettingsError, match=name):
        prepare_machine(LoopSettings(device=name), tmp_path)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ("float32", {torch.float32}),
        ("bfloat16", {torch.bfloat16}),
        ("auto", {torch.float32, torch.bfloat16}),
    ],
    ids=["float32", "bfloat16", "auto"],
)
def test_a_precision_that_is_asked_for_is_taken(asked, taken, tmp_path):
    machine = prepare_machine(LoopSettings(device="cpu", precision=asked), tmp_path)
    assert machine.device.type == "cpu"
    assert machine.precision in taken
