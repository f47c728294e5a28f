"""Linear layers in float32 by oneDNN, where torch's own way takes twice as long.

torch multiplies float32 matrices by MKL, which computes with AVX2 on processors that are not Intel's, even where they
have AVX-512. oneDNN, which torch ships as well and uses for bfloat16, takes what the processor has. Where MKL is fast,
and for anything with gradients, nothing changes.
"""

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable

_CPUINFO = Path("/proc/cpuinfo")
_INTEL = "GenuineIntel"


class OneDnnLinear(nn.Linear):
    """A linear layer that oneDNN computes in float32 on a CPU without gradients; all else is as in `nn.Linear`.

    Its outputs are those of `nn.Linear` but for rounding (some 1e-7 of an embedding).
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - the name in nn.Linear
        """Return `input @ weight.T + bias`, (…, out_features)."""
        if (
            torch.is_grad_enabled()
            or torch.is_autocast_enabled("cpu")
            or not input.device.type == self.weight.device.type == "cpu"
            or not input.dtype == self.weight.dtype == torch.float32
        ):
            return super().forward(input)
        # torch's compiler uses this operator for the same purpose; no public name calls it.
        product: Callable[..., Tensor] = torch.ops.mkldnn._linear_pointwise
        return product(input, self.weight, self.bias, "none", [], "")


def use_onednn(model: nn.Module) -> None:
    """Let oneDNN compute the linear layers of a model where that is faster; its weights stay as they are.

    Args:
        model: network whose layers are changed in place.
    """
    if not mkl_is_slow():
        return
    for module in model.modules():
        if type(module) is nn.Linear:  # a subclass has its own way
            module.__class__ = OneDnnLinear


def mkl_is_slow() -> bool:
    """Return whether oneDNN multiplies float32 matrices faster than MKL on this processor."""
    return (
        torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]  # torch has no types for it
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and "AVX512" in torch.backends.cpu.get_cpu_capability()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and _processor_vendor() != _INTEL
    )


def _processor_vendor() -> str:
    """Return who made the processor, as it says itself; `GenuineIntel` where that is not known."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return platform.processor().rpartition(", ")[2] or _INTEL
    return next((line.rpartition(": ")[2] for line in lines if line.startswith("vendor_id")), _INTEL)
