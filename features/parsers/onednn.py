"""Linear layers computed in float32 by oneDNN on processors where torch's default is slow.

torch multiplies float32 matrices with MKL, which uses AVX2 on processors that are not Intel's, even if they have
AVX-512. oneDNN, which torch also ships and uses for bfloat16, uses AVX-512 there. Where MKL is fast, and wherever
gradients are needed, nothing changes. Figures: docs/results/speed.md.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from features.parsers.devices import INTEL, processor_vendor

Product = Callable[[Tensor, Tensor], Tensor]  # product of matrices (n, k) and (m, k) over k, (n, m)


class OneDnnLinear(nn.Linear):
    """A linear layer computed by oneDNN in float32 on a CPU without gradients, and as in `nn.Linear` otherwise.

    Outputs equal those of `nn.Linear` up to rounding (about 1e-7 per coordinate of an embedding).
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
    """Compute the linear layers of a model with oneDNN if MKL is slow here; the weights are unchanged."""
    if not mkl_is_slow():
        return
    for module in model.modules():
        if type(module) is nn.Linear:  # a subclass may compute something else
            module.__class__ = OneDnnLinear


def product_on(device: torch.device) -> Product:
    """Return the product of float32 matrices without gradients that is fastest on a device."""
    if device.type != "cpu" or not mkl_is_slow():
        return nn.functional.linear
    return lambda left, right: torch.ops.mkldnn._linear_pointwise(left, right, None, "none", [], "")


def mkl_is_slow() -> bool:
    """Return whether MKL leaves AVX-512 of this processor unused, so that oneDNN is the better choice."""
    return (
        torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]  # torch has no types for it
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and "AVX512" in torch.backends.cpu.get_cpu_capability()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and processor_vendor() != INTEL
    )
