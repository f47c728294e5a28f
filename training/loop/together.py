"""Training with several processes: each takes a share of every batch, and the losses are those of the whole batch.

    batch ──┬── share of process 0 ── embeddings ──┐ gathered,  ┌── losses of the whole batch ── gradients ──┐ averaged
            └── share of process 1 ── embeddings ──┘ with grad. └── the same losses ──────────── gradients ──┘

Whatever a process returns as its loss, the mean over the processes is the loss of the batch: gradients are averaged.
With a single process, every function does nothing. If the settings ask for several and no launcher has started them:

    this process, rank 0 ──starts──> the same module with the same job, rank 1, 2 …      (one machine)
    torchrun, accelerate launch ──start──> all ranks, on any number of machines          (nothing to do here)

Values that are no tensors travel as tensors too, read with `weights_only`: unpickling would run the code of whoever
reaches the ports of these processes, which any user of the machine can.
"""

import io
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import torch
from pydantic import BaseModel
from torch import Tensor, nn

from features.core.exported import exported
from features.core.faults import DeviceMissing, TrainingsApart
from features.core.leftovers import scratch
from features.core.locks import only_one
from features.parsers.devices import resolve_device
from training.loop.settings import LoopSettings
from training.process import FOLLOWS

Item = TypeVar("Item")
MEETING = "FACETFLOW_MEETING"
"""Environment variable with the file in which the processes of one machine leave their addresses."""
_EXIT_TIMEOUT = 30  # seconds for a process that has finished to exit
_TERMINATE_TIMEOUT = 5  # seconds for a process that was asked to exit


def rank() -> int:
    """Return the number of this process among those that train together, from 0."""
    return int(os.environ.get("RANK", "0"))


def world() -> int:
    """Return the number of processes that train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_joined() -> bool:
    """Return whether this process is connected to the others."""
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())


def join(*, on_gpu: bool) -> None:
    """Connect this process to the others, if `all_processes` has started them; launchers do it themselves."""
    meeting = os.environ.get(MEETING)
    if meeting is not None and not is_joined():
        torch.distributed.init_process_group(
            "nccl" if on_gpu else "gloo", init_method=f"file://{meeting}", rank=rank(), world_size=world()
        )


def leave() -> None:
    """Disconnect this process from the others, if it is connected."""
    if is_joined():
        torch.distributed.destroy_process_group()


def share(items: Sequence[Item]) -> Sequence[Item]:
    """Return this process's share of a batch; may be empty if there are more processes than items."""
    return items if world() == 1 else items[rank() :: world()]


def gathered(rows: Tensor) -> Tensor:
    """Return the rows (n, d) of all processes, in order, with gradients into each process's own; n may differ.

    Every process computes the same loss from them, so its own rows have their gradient once for each.
    """
    if world() == 1:
        return rows
    every = _all_gathered(rows.detach())
    every[rank()] = rows.detach() + world() * (rows - rows.detach())
    return torch.cat(every)


def over_all(means: Tensor, counts: Tensor) -> Tensor:
    """Return losses whose mean over the processes is the mean over all their items."""
    if world() == 1:
        return means
    total = counts.detach().clone().to(means)
    torch.distributed.all_reduce(total)
    return means * (counts * world() / total.clamp(min=1))


def mean_of_all(values: Tensor) -> Tensor:
    """Return the mean over the processes, without gradient."""
    if world() > 1:
        torch.distributed.all_reduce(values)
        values /= world()
    return values


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give every process the mean of the gradients; a parameter without a gradient in a process counts as 0 there.

    One without a gradient in any process, such as the layer of a route that the batch does not take, still has none: an
    optimiser then leaves it as it is, where a gradient of 0 would move it on by its momentum.
    """
    if world() == 1:
        return
    learnt = [parameter for parameter in parameters if parameter.requires_grad]
    has = torch.tensor([float(parameter.grad is not None) for parameter in learnt], device=learnt[0].device)
    torch.distributed.all_reduce(has)
    learnt = [parameter for parameter, count in zip(learnt, has.tolist(), strict=True) if count]
    if not learnt:
        return
    for parameter in learnt:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    flat = torch.cat([parameter.grad.flatten() for parameter in learnt if parameter.grad is not None])
    mean_of_all(flat)
    for parameter, part in zip(learnt, torch.split(flat, [parameter.numel() for parameter in learnt]), strict=True):
        parameter.grad = part.view_as(parameter)


def from_first(value: Any) -> Any:
    """Return the value of the first process, so that all processes decide the same; as for `from_each`."""
    return from_each(value)[0]


def from_each(value: Any) -> list[Any]:
    """Return the values of all processes, in order: numbers, strings, tensors, and lists and dicts of these."""
    if world() == 1:
        return [value]
    written = io.BytesIO()
    torch.save(value, written)
    device = torch.cuda.current_device() if torch.distributed.get_backend() == "nccl" else "cpu"
    row = torch.frombuffer(bytearray(written.getvalue()), dtype=torch.uint8).to(device)
    return [torch.load(io.BytesIO(bytes(part.tolist())), weights_only=True) for part in _all_gathered(row)]


def _all_gathered(rows: Tensor) -> list[Tensor]:
    counts = [torch.zeros(1, dtype=torch.long, device=rows.device) for _ in range(world())]
    torch.distributed.all_gather(counts, torch.tensor([len(rows)], device=rows.device))
    sizes = [int(count) for count in counts]
    padded = torch.cat([rows, rows.new_zeros(max(sizes) - len(rows), *rows.shape[1:])])
    every = [torch.empty_like(padded) for _ in sizes]
    torch.distributed.all_gather(every, padded)
    return [part[:size] for part, size in zip(every, sizes, strict=True)]


def only_trainer(lock: Path) -> AbstractContextManager[None]:
    """Hold the lock of a training, in the first of its processes: the first one writes, the others only train."""
    return nullcontext() if rank() > 0 else only_one(lock, f"Another training works in {str(lock.parent)!r}")


@contextmanager
def all_processes(settings: LoopSettings, module: str, job: BaseModel) -> Iterator[None]:
    """Run the other processes of a training during the block, each the module that was called, with the same job."""
    if settings.processes == 1 or "WORLD_SIZE" in os.environ:
        yield
        return
    _check_gpus(settings)
    with ExitStack() as stack:
        folder = stack.enter_context(scratch("processes"))
        (folder / "job.json").write_text(job.model_dump_json(), encoding="utf-8")
        # They meet in a folder of this user and talk on this machine only: torch would listen on all interfaces.
        loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
        common = {MEETING: str(folder / "meeting"), "MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": str(settings.processes)}
        common |= {"GLOO_SOCKET_IFNAME": loopback, "NCCL_SOCKET_IFNAME": loopback}
        # Otherwise accelerate chooses a number of threads, with a warning.
        own = torch.get_num_threads()  # those that this process may use, not all of the machine
        threads = settings.threads or max(1, own // settings.processes)
        common["OMP_NUM_THREADS"] = str(threads)
        command = [sys.executable, "-m", module, "--settings", str(folder / "job.json"), "--quiet"]
        logs = [folder / f"process-{number}.log" for number in range(1, settings.processes)]
        others = []
        for number, log in enumerate(logs, start=1):
            output = stack.enter_context(log.open("wb"))
            environment = {**os.environ, **common, "RANK": str(number), "LOCAL_RANK": str(number), FOLLOWS: "1"}
            others.append(
                subprocess.Popen(
                    command, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
                )
            )
        stack.enter_context(exported({**common, "RANK": "0", "LOCAL_RANK": "0"}))
        stack.callback(torch.set_num_threads, own)
        torch.set_num_threads(threads)  # this process has read the environment already
        try:
            yield
            _end(others, within=_EXIT_TIMEOUT)
        except RuntimeError as error:
            # All that the others see of a process that dies is its closed connections.
            if not any(_failed(process) for process in others):
                raise
            texts = [log.read_text(errors="replace").strip() for log in logs]
            why = next((text.splitlines()[-1] for text in texts if text), "without output, as when memory runs out")
            raise TrainingsApart(f"another process of this training ended ({why}); start it again") from error
        finally:
            for process in others:
                process.terminate()
            _end(others, within=_TERMINATE_TIMEOUT)
            leave()


def _check_gpus(settings: LoopSettings) -> None:
    """Refuse more processes than there are GPUs: NCCL connects no two on the same one."""
    if resolve_device(settings.device) == "cpu":
        return
    if (seen := torch.cuda.device_count()) < settings.processes:
        raise DeviceMissing(
            f"loop.processes = {settings.processes} trains on a GPU each, and there {'is' if seen == 1 else 'are'} "
            f"{seen} here; lower it, or set loop.device to 'cpu'"
        )


def _failed(process: "subprocess.Popen[bytes]") -> bool:
    try:
        return process.wait(_TERMINATE_TIMEOUT) != 0
    except subprocess.TimeoutExpired:
        return False


def _end(processes: list["subprocess.Popen[bytes]"], *, within: float) -> None:
    """Wait for processes that are about to end, and kill those that do not."""
    for process in processes:
        try:
            process.wait(within)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
