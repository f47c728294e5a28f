"""Hardware of a training: device, precision, threads, and the processes that train together (accelerate)."""

import atexit
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

from features.core.faults import DeviceMissing, LibraryMissing, UnknownName
from features.parsers.devices import computes_in_bfloat16, resolve_device, use_threads
from training.loop.settings import LoopSettings
from training.loop.together import join, leave, rank, world


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a training runs."""

    device: torch.device  # device of this process
    precision: torch.dtype  # dtype that layers compute in: float32 or bfloat16
    accelerator: Accelerator  # accelerator of this process, connected to the others and with the trackers


def prepare_machine(settings: LoopSettings, folder: Path) -> Machine:
    """Set the threads, join the other processes if there are any, and choose device and precision.

    Trackers keep their files in the folder of the run.
    """
    name = resolve_device(settings.device)
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise DeviceMissing(
            f"device {settings.device!r} cannot be used here: {error}; set device to 'auto' or 'cpu'"
        ) from error
    _check_trackers(settings.trackers)
    # Accelerate remembers the number of processes of the previous training; there is no public function to reset it.
    AcceleratorState._reset_state(reset_partial_state=True)
    join(on_gpu=name != "cpu")
    # Kinds use lower precision where that is safe, so accelerate must not.
    accelerator = Accelerator(
        cpu=name == "cpu", mixed_precision="no", log_with=list(settings.trackers) or None, project_dir=folder
    )
    # A process that is still connected when Python ends may be aborted by the threads of its connections: torchrun then
    # ends all others and reports a failure of a training that was finished (torch 2.13 with gloo: 7 of 18 processes).
    atexit.register(leave)
    use_threads(settings.threads)  # accelerate changes them as well
    # Several threads sum gradients of the same embedding in any order, so that a resumed training would end with other
    # weights. On a GPU some operations have no such form.
    torch.use_deterministic_algorithms(name == "cpu", warn_only=True)
    # Filling memory before it is used takes time, and only finds bugs.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    device = accelerator.device if world() > 1 else torch.device(name)
    bfloat16 = computes_in_bfloat16(settings.precision, device.type)
    return Machine(device, torch.bfloat16 if bfloat16 else torch.float32, accelerator)


def random_state(device: torch.device) -> dict[str, Any]:
    """Return the state of this process's random generators."""
    on_gpu = device.type == "cuda"
    return {"cpu": torch.get_rng_state(), "gpu": torch.cuda.get_rng_state(device) if on_gpu else None}


def restore_random_state(states: Sequence[dict[str, Any]], device: torch.device, *, seed: int, step: int) -> str:
    """Restore the random generators from those of a checkpoint, or reseed them if these do not fit, and say why not.

    States from another number of processes, or another kind of device, cannot be restored: then seed, step and process
    determine the random numbers, so that resuming in the same way always gives the same weights.
    """
    state = states[rank()] if len(states) == world() else None
    if state is not None and (state["gpu"] is not None) == (device.type == "cuda"):
        torch.set_rng_state(state["cpu"])
        if device.type == "cuda":
            torch.cuda.set_rng_state(state["gpu"], device)
        return ""
    torch.manual_seed(((seed * 1_000_003 + step) * 1_009 + rank()) % 2**63)
    if state is None:
        return f"the checkpoint is of another number of processes, {len(states)}, than this training, {world()}"
    written = "a CPU" if state["gpu"] is None else "a GPU"
    return f"the checkpoint was written on {written}, but this training is on {device.type!r}"


def _check_trackers(names: tuple[str, ...]) -> None:
    for name in names:
        if name not in LOGGER_TYPE_TO_CLASS:
            trackers = ", ".join(map(str, LOGGER_TYPE_TO_CLASS))
            raise UnknownName(f"loop.trackers names {name!r}, which is not a tracker; choose from {trackers}")
        if name not in map(str, get_available_trackers()):
            package = "'facetflow[tensorboard]'" if name == "tensorboard" else name
            raise LibraryMissing(f"the tracker {name!r} is not installed: pip install {package}, or leave it out")
