"""Where a neural parser runs: on a GPU if there is one, else on the CPU, with an explicit number of threads."""

from features.core.faults import DeviceMissing


def resolve_device(device: str) -> str:
    """Return the torch device for a setting.

    Args:
        device: `auto`, `cpu`, `cuda` or `cuda:N`; `auto` is a GPU when there is one.

    Raises:
        SettingsError: the requested GPU is not visible to this process.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda"):
        seen = torch.cuda.device_count()
        if int(device.partition(":")[2] or 0) >= seen:
            raise DeviceMissing(
                f"The device {device!r} was requested, but this process sees {seen} GPUs;"
                f' set device = "auto" or "cpu", or run on a machine with a GPU.'
            )
    return device


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
    """Return whether a network computes in bfloat16.

    Args:
        precision: `float32`, `bfloat16`, or `auto`: bfloat16 if the hardware supports it.
        device: torch device.
    """
    import torch

    if precision != "auto":
        return precision == "bfloat16"
    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Without these instructions, bfloat16 is emulated and several times slower than float32. There is no public query.
    return bool(torch.cpu._is_avx512_bf16_supported())
