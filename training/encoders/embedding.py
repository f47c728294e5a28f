"""Embedding a batch: divided among processes, and in pieces if memory is short (checkpointing; Chen et al. 2016).

all at once    embed ─────────────────────────────────── loss ── gradients
in pieces      embed each piece, forget its activations ── loss ── embed each piece again for its gradients
"""

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from training.encoders.backbone import Backbone, Tokens
from training.loop import together
from training.types import Positions


def embed_together(
    backbone: Backbone, tokens: Tokens, sentences: Positions, *, route: str | None = None, at_once: int | None = None
) -> Tensor:
    """Return the embeddings of some sentences, each embedded by one of the processes, with gradients, (n, d).

    At most `at_once` sentences have their activations in memory at the same time; all when None. Gradients differ only
    by rounding and dropout masks, and everything is computed twice.
    """

    def embed_piece(piece: Tensor) -> Tensor:
        return backbone.embed(tokens, piece.cpu().numpy(), route)

    def embed_share(some: Positions) -> Tensor:
        if at_once is None or len(some) <= at_once or not torch.is_grad_enabled():
            return backbone.embed(tokens, some, route)
        order = np.argsort(tokens.lengths[some], kind="stable")
        # On the device, so that dropout is repeated by the random numbers of that device.
        pieces = torch.split(torch.from_numpy(some[order]).to(backbone.device), at_once)
        embeddings = torch.cat([checkpoint(embed_piece, piece, use_reentrant=False) for piece in pieces])
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
