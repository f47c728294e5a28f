"""Embedding a batch: divided among processes, and in pieces if memory is short (GradCache; Gao et al. 2021).

all at once    embed ──────────────── loss ── gradients
in pieces      embed without gradient ── loss ── gradients of the embeddings ── embed each piece again, with gradient
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.encoders.backbone import Backbone, Tokens
from training.loop import together
from training.loop.machine import random_state, set_random_state

Sentences = NDArray[np.int64]


def embed_together(
    backbone: Backbone, tokens: Tokens, sentences: Sentences, *, route: str | None = None, at_once: int | None = None
) -> Tensor:
    """Return the embeddings of some sentences, each embedded by one of the processes, with gradients, (n, d).

    At most `at_once` sentences have their activations in memory at the same time; all when None. Gradients differ only
    by rounding and dropout masks, and everything is computed twice.
    """

    def embed(some: Sentences) -> Tensor:
        return backbone.embed(tokens, some, route)

    def embed_share(some: Sentences) -> Tensor:
        if at_once is None or len(some) <= at_once or not torch.is_grad_enabled():
            return embed(some)
        order = np.argsort(tokens.lengths[some], kind="stable")
        embeddings = _in_pieces(embed, some[order], at_once, backbone.device)
        return embeddings[torch.from_numpy(np.argsort(order)).to(embeddings.device)]

    world = together.world()
    if world == 1:
        return embed_share(sentences)
    # Shares of equal work: each process takes every world-th of the sentences sorted by length.
    order = np.argsort(tokens.lengths[sentences], kind="stable")
    shares = [order[rank::world] for rank in range(world)]
    mine = shares[together.rank()]
    # A process without a share embeds a sentence anyway, for gradients of 0; the embedding is discarded.
    own = embed_share(sentences[mine if len(mine) else order[:1]])
    every = together.gathered(own[: len(mine)])
    return every[torch.from_numpy(np.argsort(np.concatenate(shares))).to(every.device)]


def _in_pieces(
    embed: Callable[[Sentences], Tensor], sentences: Sentences, at_once: int, device: torch.device
) -> Tensor:
    pieces = [sentences[start : start + at_once] for start in range(0, len(sentences), at_once)]
    states, outputs = [], []
    with torch.no_grad():
        for piece in pieces:
            states.append(random_state(device))
            outputs.append(embed(piece))
    embeddings = torch.cat(outputs).requires_grad_()

    def learn(gradient: Tensor) -> None:
        after = random_state(device)
        for piece, state, part in zip(pieces, states, torch.split(gradient, at_once), strict=True):
            set_random_state(state, device)  # the same dropout as before
            with torch.enable_grad():
                torch.autograd.backward(embed(piece), part)
        set_random_state(after, device)

    embeddings.register_hook(learn)  # type: ignore[no-untyped-call]
    return embeddings
