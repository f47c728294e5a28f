"""What a training computes on: device, precision, threads, and the processes that train together (accelerate)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features.errors import SettingsError
from features.parsers.devices import computes_in_bfloat16, resolve_device, use_threads
from training.loop.settings import LoopSettings
from training.loop.together import rank, world

if TYPE_CHECKING:
    import torch
    from accelerate import Accelerator


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a training runs.

    Args:
        device: of this process.
        precision: that layers compute in: float32 or bfloat16.
        accelerator: of this process; it has made the connection to the others, and has the trackers.
    """

    device: "torch.device"
    precision: "torch.dtype"
    accelerator: "Accelerator"


def prepare_machine(settings: LoopSettings, folder: Path) -> Machine:
    """Set the threads, join the other processes where there are any, and choose device and precision.

    Args:
        settings: of the loop.
        folder: of the run; trackers that keep files keep them there.

    Raises:
        SettingsError: when there is no such device here, or a tracker is not installed.
    """
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    name = resolve_device(settings.device)
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise SettingsError(
            f"device {settings.device!r} cannot be used here: {error}; set device to 'auto' or 'cpu'"
        ) from error
    _check_trackers(settings.trackers)
    # Accelerate remembers how many processes there were in the training before this one; no public name forgets it.
    AcceleratorState._reset_state(reset_partial_state=True)
    # Kinds compute in lower precision where that is safe, so accelerate is not asked for it.
    accelerator = Accelerator(
        cpu=name == "cpu", mixed_precision="no", log_with=list(settings.trackers) or None, project_dir=folder
    )
    use_threads(settings.threads)  # accelerate has an opinion on them as well
    device = accelerator.device if world() > 1 else torch.device(name)
    bfloat16 = computes_in_bfloat16(settings.precision, device.type)
    return Machine(device, torch.bfloat16 if bfloat16 else torch.float32, accelerator)


def seed_this_process(seed: int) -> None:
    """Give each process but the first random numbers of its own: weights are equal already, dropout shall not be."""
    import torch

    if rank() > 0:
        torch.manual_seed(seed + rank())


def random_state(device: "torch.device") -> dict[str, Any]:
    """Return the state of the random numbers of this process."""
    import torch

    on_gpu = device.type == "cuda"
    return {"cpu": torch.get_rng_state(), "gpu": torch.cuda.get_rng_state(device) if on_gpu else None}


def set_random_state(state: dict[str, Any], device: "torch.device") -> None:
    """Go on with random numbers of this process, as `random_state` gave them on such a device."""
    import torch

    torch.set_rng_state(state["cpu"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(state["gpu"], device)


def restore_random_state(states: Sequence[dict[str, Any]], device: "torch.device", *, seed: int, step: int) -> str:
    """Go on with the random numbers of a checkpoint, or with others where these do not fit.

    Numbers of another number of processes, or of another kind of device, cannot be gone on with: then seed, step and
    process decide, so that the same resumption gives the same weights every time.

    Args:
        states: of each process that wrote the checkpoint, as `random_state` gave them.
        device: of this process.
        seed: of the training.
        step: of the checkpoint.

    Returns:
        Why they do not fit, as a clause; empty where they do.
    """
    import torch

    state = states[rank()] if len(states) == world() else None
    if state is not None and (state["gpu"] is not None) == (device.type == "cuda"):
        set_random_state(state, device)
        return ""
    torch.manual_seed((seed * 1_000_003 + step) * 1_009 + rank())
    if state is None:
        return f"the checkpoint is of {_processes(len(states))}, and this training has {_processes(world())}"
    written = "a CPU" if state["gpu"] is None else "a GPU"
    return f"the checkpoint was written on {written}, and this training is on {device.type!r}"


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


def _check_trackers(names: tuple[str, ...]) -> None:
    if not names:
        return
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

    available = [str(name) for name in get_available_trackers()]
    for name in names:
        if name not in LOGGER_TYPE_TO_CLASS:
            known = ", ".join(str(known) for known in LOGGER_TYPE_TO_CLASS)
            raise SettingsError(f"loop.trackers names {name!r}, which is no tracker; choose from {known}")
        if name not in available:
            package = "'facetflow[tensorboard]'" if name == "tensorboard" else name
            raise SettingsError(f"the tracker {name!r} is not installed: pip install {package}, or leave it out")
