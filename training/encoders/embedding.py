"""Embedding the texts of a batch: shared among processes, in pieces where memory is short (GradCache; Gao et al. 2021).

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

    Args:
        backbone: that embeds.
        tokens: all sentences.
        sentences: positions of those to embed, (n,).
        route: that a `Router` takes, where the encoder has one.
        at_once: most sentences whose layers are in memory at the same time; all when None. The gradients are the same
            but for rounding and for the masks of dropout, and everything is computed once more.
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
    # Shares of equal work: of sentences sorted by length each process takes every so many.
    order = np.argsort(tokens.lengths[sentences], kind="stable")
    shares = [order[rank::world] for rank in range(world)]
    mine = shares[together.rank()]
    # A process without a share embeds a sentence whose embedding nobody takes, for its gradients of 0.
    own = embed_share(sentences[mine if len(mine) else order[:1]])
    every = together.gathered(own[: len(mine)])
    return every[torch.from_numpy(np.argsort(np.concatenate(shares))).to(every.device)]


def _in_pieces(
    embed: Callable[[Sentences], Tensor], sentences: Sentences, at_once: int, device: torch.device
) -> Tensor:
    """Return embeddings whose gradients go on, piece by piece, through embedding them again."""
    pieces = [sentences[start : start + at_once] for start in range(0, len(sentences), at_once)]
    states, found = [], []
    with torch.no_grad():
        for piece in pieces:
            states.append(random_state(device))
            found.append(embed(piece))
    embeddings = torch.cat(found).requires_grad_()

    def learn(gradient: Tensor) -> None:
        after = random_state(device)
        for piece, state, part in zip(pieces, states, torch.split(gradient, at_once), strict=True):
            set_random_state(state, device)  # the same dropout as before
            with torch.enable_grad():
                torch.autograd.backward(embed(piece), part)
        set_random_state(after, device)

    embeddings.register_hook(learn)  # type: ignore[no-untyped-call]
    return embeddings
