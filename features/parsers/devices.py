"""Where a neural parser runs: on a GPU if there is one, else on the CPU, with an explicit number of threads."""

import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from features.core.faults import DeviceMissing
from features.core.libraries import importing
from features.core.wording import counted

INTEL = "GenuineIntel"
_CPUINFO = Path("/proc/cpuinfo")


def resolve_device(device: str, extra: str = "encoders") -> str:
    """Return the torch device for `auto` (a GPU when there is one), `cpu`, `cuda` or `cuda:N`.

    On a GPU this process no longer uses cuDNN's attention. `extra` brings torch and all that the model needs besides.

    Raises:
        ModelError: torch is not installed.
        SettingsError: it is not the name of a device, or this process does not see the device.
    """
    device = str(device).replace("cpu:0", "cpu")  # a torch.device, too; accelerate calls that of each process cpu:0
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
        raise DeviceMissing(f"There is no device {device!r}; give 'auto', 'cpu', 'cuda' or 'cuda:N'.")
    with importing("Models need torch", extra):
        import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    elif device != "cpu":
        seen = torch.cuda.device_count()
        if int(device.partition(":")[2] or 0) >= seen:
            raise DeviceMissing(
                f"The device {device!r} was requested, but this process sees {counted(seen, 'GPU')};"
                f' set device = "auto" or "cpu", or run on a machine with a GPU.'
            )
    if device != "cpu":
        # torch prefers it on some GPUs, but it is planned anew for each shape of a batch, and sentences have many: on
        # an H200 MiniLM was trained at a third of the speed of MPNet, which has another attention.
        torch.backends.cuda.enable_cudnn_sdp(enabled=False)
    return device


def is_gpu_lost(error: BaseException) -> bool:
    """Return whether an error says that this process can no longer use its GPU; other processes still may."""
    torch = sys.modules.get("torch")  # without it no error is of a GPU
    return (
        torch is not None
        and isinstance(error, torch.AcceleratorError)
        and not isinstance(error, torch.OutOfMemoryError)
    )


def use_threads(threads: int | None) -> None:
    """Let torch use this many CPU threads in this process; None keeps its own number."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def hide_progress_bars() -> None:
    """Stop transformers from drawing a progress bar for each model that it loads: workers have no terminal."""
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]


def computes_in_bfloat16(precision: str, device: str) -> bool:
    """Return whether a network computes in bfloat16: with `auto`, where that is faster than float32."""
    import torch

    if precision != "auto":
        return precision == "bfloat16"
    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if torch.cpu._is_amx_tile_supported():  # there is no public query
        return True
    # With these instructions it is faster than float32 on an AMD EPYC, and half as fast on an Intel Xeon whose AMX the
    # virtual machine hides. Without them it is emulated, and several times slower.
    return bool(torch.cpu._is_avx512_bf16_supported()) and processor_vendor() != INTEL


def processor_vendor() -> str:
    """Return the processor's vendor id; `GenuineIntel` if it is unknown, for which torch is made."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return platform.processor().rpartition(", ")[2] or INTEL
    return next((line.rpartition(": ")[2] for line in lines if line.startswith("vendor_id")), INTEL)


Item = TypeVar("Item")
Result = TypeVar("Result")


def in_batches(
    work: Callable[[Sequence[Item]], list[Result]],
    items: Sequence[Item],
    *,
    size: Callable[[Item], int],
    batch_size: int,
    pool: ThreadPoolExecutor | None = None,
    on_items: Callable[[int], None] = lambda _: None,
) -> list[Result]:
    """Return the result of `work`, which maps a batch to one result for each item, in the order of the items.

    Items of similar size share a batch, to reduce padding. The threads of a pool take a batch each, else the calling
    thread takes all; it also calls `on_items` with how many items are done.
    """
    # Largest first: no thread is left with a long batch at the end.
    order = sorted(range(len(items)), key=lambda position: -size(items[position]))
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    outputs = (pool.map if pool else map)(work, [[items[position] for position in batch] for batch in batches])
    results: dict[int, Result] = {}
    for batch, made in zip(batches, outputs, strict=True):
        results.update(zip(batch, made, strict=True))
        on_items(len(results))
    return [results[position] for position in range(len(items))]


@contextmanager
def one_thread_a_batch(threads: int) -> Iterator[ThreadPoolExecutor | None]:
    """Provide a pool of threads in which torch computes with one thread each; None if one thread is enough."""
    if threads == 1:
        yield None
        return
    import torch

    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)  # the initial value for new threads is shared by all


def batches_side_by_side(threads: int | None, device: str) -> int:
    """Return how many batches a parser computes in parallel: one on a GPU, else the threads, by default torch's."""
    if device != "cpu":
        return 1
    import torch

    return threads or torch.get_num_threads()
