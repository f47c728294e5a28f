"""Linear layers by oneDNN: the same outputs, gradients and weights as those of torch."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from features.parsers import onednn
from features.parsers.onednn import OneDnnLinear, product_on, use_onednn

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this build of torch has no oneDNN"
)


@pytest.fixture
def slow_mkl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat any processor as one on which MKL is slow."""
    monkeypatch.setattr(onednn, "mkl_is_slow", lambda: True)


def _both(layer: nn.Linear) -> tuple[nn.Linear, OneDnnLinear]:
    """Return a layer, and the same layer by oneDNN."""
    other = copy.deepcopy(layer)
    other.__class__ = OneDnnLinear
    return layer, other  # type: ignore[return-value]  # its class was changed


def _called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Return a list to which each product by oneDNN appends the shape of its input."""
    shapes: list[tuple[int, ...]] = []

    class Operators:
        @staticmethod
        def _linear_pointwise(given: torch.Tensor, weight: torch.Tensor, *further: object) -> torch.Tensor:
            shapes.append(tuple(given.shape))
            return nn.functional.linear(given, weight)

    monkeypatch.setattr(torch.ops, "mkldnn", Operators)
    return shapes


@given(
    shape=st.lists(st.integers(0, 5), min_size=0, max_size=3),
    sizes=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    bias=st.booleans(),
    turned=st.booleans(),
    seed=st.integers(0, 100),
)
def test_outputs_are_those_of_torch(
    shape: list[int], sizes: tuple[int, int], bias: bool, turned: bool, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    plain, fast = _both(nn.Linear(*sizes, bias=bias))
    given = torch.randn(*shape, sizes[0], generator=generator)
    if turned and given.dim() > 1:
        given = given.transpose(-1, -2).contiguous().transpose(-1, -2)  # the same values, in another order in memory
    with torch.no_grad():
        expected, found = plain(given), fast(given)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("slow", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_a_product_of_matrices_is_that_of_torch(slow: bool, turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn, "mkl_is_slow", lambda: slow)
    left, right = torch.randn(7, 33), torch.randn(33, 5).T if turned else torch.randn(5, 33)
    found = product_on(torch.device("cpu"))(left, right)
    np.testing.assert_allclose(found, left @ right.T, atol=1e-5)


def test_gradients_and_other_precisions_are_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    _, fast = _both(nn.Linear(4, 3))
    shapes = _called(monkeypatch)
    given = torch.ones(2, 4)

    fast(given).sum().backward()
    assert fast.weight.grad is not None
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert fast(given).dtype == torch.bfloat16
    with torch.no_grad():
        assert copy.deepcopy(fast).double()(given.double()).dtype == torch.float64
    assert shapes == []

    with torch.inference_mode():
        fast(given)
    assert shapes == [(2, 4)]


@pytest.mark.usefixtures("slow_mkl")
def test_a_model_keeps_its_weights_and_names() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.GELU(), nn.Sequential(nn.Linear(3, 2, bias=False)))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    use_onednn(model)
    assert [type(module) for module in model.modules() if isinstance(module, nn.Linear)] == [OneDnnLinear] * 2
    assert {name: value.tolist() for name, value in model.state_dict().items()} == {
        name: value.tolist() for name, value in before.items()
    }


@pytest.mark.usefixtures("slow_mkl")
def test_a_layer_of_another_class_is_left_as_it_is() -> None:
    class Own(nn.Linear):
        """A layer of another class."""

    model = nn.Sequential(Own(2, 2))
    use_onednn(model)
    assert type(model[0]) is Own


def test_nothing_changes_where_mkl_is_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn, "processor_vendor", lambda: "GenuineIntel")
    model = nn.Sequential(nn.Linear(2, 2))
    use_onednn(model)
    assert type(model[0]) is nn.Linear
