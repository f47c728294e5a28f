"""The map from the start model's embedding to facets: one matrix, the last module of the encoder.

    embedding e of the start model ──┬── identity ──── residual, the first d dimensions
                                     └── W ─────────── facets, K · h dimensions after it

It is learnt from stored embeddings, so a step is a gather and a product. It has no bias, so the cosine of a facet does
not depend on the length of e. Plain `SentenceTransformer(folder)` loads it as a `Dense` module.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from training.loop.settings import LoopSettings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense

_SHARE = 0.1  # of the facets in the squared length of an embedding, before training


def add_map(model: "SentenceTransformer", outputs: int, *, seed: int) -> "Dense":
    """Append a map with random facets to a model and return it; only the facets are trainable.

    Args:
        model: the start model.
        outputs: dimensions of all facets together (K · h).
        seed: of the random facets.
    """
    from sentence_transformers.base.modules import Dense

    inputs = int(model.get_embedding_dimension() or 0)
    facets = torch.randn(outputs, inputs, generator=torch.Generator().manual_seed(seed)) * (_SHARE / outputs) ** 0.5
    weight = torch.cat([torch.eye(inputs), facets]).to(model.device)
    dense = Dense(inputs, inputs + outputs, bias=False, activation_function=nn.Identity(), init_weight=weight)
    model.append(dense)
    dense.requires_grad_(requires_grad=True)
    dense.linear.weight.register_hook(  # type: ignore[no-untyped-call]
        lambda gradient: _of_facets(gradient, inputs)
    )
    return dense


@contextmanager
def few_threads(settings: LoopSettings) -> Iterator[None]:
    """Use one CPU thread, unless the settings name a number.

    The products of a step are small: two threads save a third of the time on an idle machine, but take nine times as
    long where another process works on the same cores.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(settings.threads or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _of_facets(gradient: Tensor, inputs: int) -> Tensor:
    """Return a gradient of the map that leaves the identity as it is."""
    return torch.cat([torch.zeros_like(gradient[:inputs]), gradient[inputs:]])
