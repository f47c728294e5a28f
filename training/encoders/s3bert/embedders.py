"""What a training of facets embeds its sentences with: a map of stored embeddings, or tuned layers.

map      stored embeddings ── map ──────────────────────── embeddings       seconds
layers   word pieces ── frozen ── tuned layers (── map) ── embeddings       minutes
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.encoders.backbone import Backbone, Tokens
from training.encoders.embedding import embed_together
from training.loop.task import Group, decaying_matrices

if TYPE_CHECKING:
    from sentence_transformers.base.modules import Dense

Sentences = NDArray[np.int64]


class Embedder(Protocol):
    """Embeds sentences by their positions.

    Args:
        device: device of the embeddings.
        lengths: effort that each sentence takes, in tokens, (n_texts,).
        groups: the trained parameters.
    """

    device: torch.device
    lengths: NDArray[np.int64]
    groups: Sequence[Group]

    def train(self) -> None:
        """Switch to training mode."""
        ...

    def eval(self) -> None:
        """Switch to evaluation mode."""
        ...

    def embed(self, sentences: Sentences) -> Tensor:
        """Return the embeddings of some sentences, with gradients, (n, d)."""
        ...

    def embed_many(self, sentences: Sentences) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences, without gradients, (n, d)."""
        ...


class MappedEmbeddings:
    """The map on embeddings of the start model.

    Args:
        vectors: embeddings of all sentences, (n_texts, d).
        dense: the map.
    """

    def __init__(self, vectors: NDArray[np.float32], dense: "Dense") -> None:
        self.dense = dense
        self.device = dense.linear.weight.device
        self.vectors = torch.from_numpy(vectors).to(self.device)
        self.lengths = np.ones(len(vectors), dtype=np.int64)
        self.groups: Sequence[Group] = map_groups(dense)

    def train(self) -> None:
        """Do nothing: a map has no dropout."""

    def eval(self) -> None:
        """Do nothing."""

    def embed(self, sentences: Sentences) -> Tensor:
        """Return the embeddings of some sentences, with gradients, (n, d)."""
        return self._map(self.vectors[torch.from_numpy(sentences).to(self.device)])

    @torch.no_grad()
    def embed_many(self, sentences: Sentences) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences, without gradients, (n, d)."""
        return self.embed(sentences).cpu().numpy()

    def _map(self, vectors: Tensor) -> Tensor:
        # The identity above the facets is left out of the product.
        facets = self.dense.linear.weight[vectors.shape[1] :]
        return torch.cat([vectors, vectors @ facets.T], dim=1)


class TunedLayers:
    """A backbone whose last layers are tuned, with its map if it has one.

    Args:
        backbone: the encoder.
        tokens: all sentences.
        dense: the map at its end; None without one.
    """

    def __init__(self, backbone: Backbone, tokens: Tokens, dense: "Dense | None" = None) -> None:
        self.backbone, self.tokens = backbone, tokens
        self.device, self.lengths = backbone.device, tokens.lengths
        of_map = [] if dense is None else map_groups(dense)
        self.groups: Sequence[Group] = [*decaying_matrices(backbone.tuned_parameters()), *of_map]

    def train(self) -> None:
        """Switch on the dropout of the tuned layers, if the settings ask for it."""
        self.backbone.train()

    def eval(self) -> None:
        """Switch off dropout."""
        self.backbone.eval()

    def embed(self, sentences: Sentences) -> Tensor:
        """Return the embeddings of some sentences, each by one of the processes, with gradients, (n, d)."""
        return embed_together(self.backbone, self.tokens, sentences)

    def embed_many(self, sentences: Sentences) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences, without gradients, (n, d)."""
        return self.backbone.embed_many(self.tokens, sentences)


def map_groups(dense: "Dense") -> list[Group]:
    """Return the parameters of a map; weight decay would pull its identity towards 0."""
    return [Group({f"map.{name}": parameter for name, parameter in dense.named_parameters()}, decays=False)]
