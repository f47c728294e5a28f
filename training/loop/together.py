"""Training with several processes: each takes a share of every batch, and the losses are those of the whole batch.

    batch ──┬── share of process 0 ── embeddings ──┐ gathered,  ┌── losses of the whole batch ── gradients ──┐ averaged
            └── share of process 1 ── embeddings ──┘ with grad. └── the same losses ──────────── gradients ──┘

Whatever a process returns as its loss, the mean over the processes is the loss of the batch: gradients are averaged.
`torchrun` and `accelerate launch` set environment variables with the process number; with a single process, every
function does nothing.

Values that are no tensors travel as tensors too, read with `weights_only`: unpickling would run the code of whoever
reaches the ports of these processes, which any user of the machine can.
"""

import atexit
import io
import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import Tensor, nn

Item = TypeVar("Item")
MEETING = "FACETFLOW_MEETING"
"""Environment variable with the file in which the processes of one machine leave their addresses."""


def rank() -> int:
    """Return the number of this process among those that train together, from 0."""
    return int(os.environ.get("RANK", "0"))


def world() -> int:
    """Return the number of processes that train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_joined() -> bool:
    """Return whether this process is connected to the others."""
    import torch

    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())


def join(*, on_gpu: bool) -> None:
    """Connect this process to the others, if `training.loop.launching` has started them; launchers do it themselves."""
    meeting = os.environ.get(MEETING)
    if meeting is not None and not is_joined():
        import torch

        torch.distributed.init_process_group(
            "nccl" if on_gpu else "gloo", init_method=f"file://{meeting}", rank=rank(), world_size=world()
        )


def leave() -> None:
    """Disconnect this process from the others, if it is connected."""
    if is_joined():
        import torch

        torch.distributed.destroy_process_group()


@cache
def leave_at_exit() -> None:
    """Disconnect this process before it ends, in whatever way it was started.

    A process that is still connected when Python ends may be aborted by the threads of its connections: torchrun then
    ends all others and reports a failure of a training that was finished (torch 2.13 with gloo: 7 of 18 processes).
    """
    atexit.register(leave)


def share(items: Sequence[Item]) -> Sequence[Item]:
    """Return this process's share of a batch; may be empty if there are more processes than items."""
    return items if world() == 1 else items[rank() :: world()]


def gathered(rows: "Tensor") -> "Tensor":
    """Return the rows (n, d) of all processes, in order, with gradients into each process's own; n may differ."""
    if world() == 1:
        return rows
    import torch

    return torch.cat(_of_each(rows))


def over_all(means: "Tensor", counts: "Tensor") -> "Tensor":
    """Return losses whose mean over the processes is the mean over all their items."""
    if world() == 1:
        return means
    import torch

    total = counts.detach().clone().to(means)
    torch.distributed.all_reduce(total)
    return means * (counts * world() / total.clamp(min=1))


def mean_of_all(values: "Tensor") -> "Tensor":
    """Return the mean over the processes, without gradient."""
    if world() > 1:
        import torch

        torch.distributed.all_reduce(values)
        values /= world()
    return values


def average_gradients(parameters: Iterable["nn.Parameter"]) -> None:
    """Give every process the mean of the gradients; a parameter without a gradient in a process counts as 0 there.

    One without a gradient in any process, such as the layer of a route that the batch does not take, still has none: an
    optimiser then leaves it as it is, where a gradient of 0 would move it on by its momentum.
    """
    if world() == 1:
        return
    import torch

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
    import torch

    written = io.BytesIO()
    torch.save(value, written)
    device = torch.cuda.current_device() if torch.distributed.get_backend() == "nccl" else "cpu"
    row = torch.frombuffer(bytearray(written.getvalue()), dtype=torch.uint8).to(device)
    return [torch.load(io.BytesIO(bytes(part.tolist())), weights_only=True) for part in _of_each(row)]


def _of_each(rows: "Tensor") -> "list[Tensor]":
    import torch

    counts = [torch.zeros(1, dtype=torch.long, device=rows.device) for _ in range(world())]
    torch.distributed.all_gather(counts, torch.tensor([len(rows)], device=rows.device))
    sizes = [int(count) for count in counts]
    padded = torch.cat([rows, rows.new_zeros(max(sizes) - len(rows), *rows.shape[1:])])
    every = _gather_function().apply(padded)
    return [part[:size] for part, size in zip(every.split(max(sizes)), sizes, strict=True)]


def _gather_function() -> Any:
    import torch

    class Gather(torch.autograd.Function):
        @staticmethod
        def forward(_context: Any, rows: "Tensor") -> "Tensor":
            every = [torch.empty_like(rows) for _ in range(world())]
            torch.distributed.all_gather(every, rows.contiguous())
            return torch.cat(every)

        @staticmethod
        def backward(_context: Any, gradient: "Tensor") -> "Tensor":
            gradient = gradient.contiguous().clone()
            torch.distributed.all_reduce(gradient)
            return gradient.chunk(world())[rank()]

    return Gather
