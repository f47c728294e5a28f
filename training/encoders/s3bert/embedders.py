"""What a training of facets embeds its sentences with: a map of stored embeddings, or tuned layers.

    map      stored embeddings ── map ──────────────────────── embeddings       seconds
    layers   word pieces ── frozen ── tuned layers (── map) ── embeddings       minutes

The map is one matrix, the last module of the encoder; plain `SentenceTransformer(folder)` loads it as a `Dense`. It has
no bias, so the cosine of a facet does not depend on the length of the embedding:

    embedding of the start model ──┬── identity ──── residual, the first d dimensions
                                   └── W ─────────── facets, K · h dimensions after it
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.data.measured_pairs import MeasuredPairs
from training.encoders.backbone import Backbone, Tokens
from training.encoders.embedding import embed_together
from training.encoders.s3bert.settings import S3bertSettings
from training.loop.settings import LoopSettings
from training.loop.task import Group, decaying_matrices

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense

Sentences = NDArray[np.int64]
_SHARE = 0.1  # of the facets in the squared length of an embedding, before training


def add_map(model: "SentenceTransformer", outputs: int, *, seed: int) -> "Dense":
    """Append a map with random facets, `outputs` dimensions (K · h), and return it; only the facets are trainable."""
    from sentence_transformers.base.modules import Dense

    inputs = int(model.get_embedding_dimension() or 0)
    facets = torch.randn(outputs, inputs, generator=torch.Generator().manual_seed(seed)) * (_SHARE / outputs) ** 0.5
    weight = torch.cat([torch.eye(inputs), facets]).to(model.device)
    dense = Dense(inputs, inputs + outputs, bias=False, activation_function=nn.Identity(), init_weight=weight)
    model.append(dense)
    dense.requires_grad_(requires_grad=True)
    dense.linear.weight.register_hook(  # type: ignore[no-untyped-call]
        lambda gradient: torch.cat([torch.zeros_like(gradient[:inputs]), gradient[inputs:]])
    )
    return dense


@contextmanager
def few_threads(settings: LoopSettings) -> Iterator[None]:
    """Use one CPU thread for a map, unless the settings name a number.

    The products of a step are small: two threads save a third of the time on an idle machine, but take nine times as
    long where another process works on the same cores.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(settings.threads or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class MappedEmbeddings:
    """The map on embeddings of all sentences by the start model, (n_texts, d); an `Embedder`."""

    encodes = False  # what takes longer than comparing embeddings

    def __init__(self, vectors: NDArray[np.float32], dense: "Dense") -> None:
        self.dense = dense
        self.device = dense.linear.weight.device
        self.vectors = torch.from_numpy(vectors).to(self.device)
        self.lengths = np.ones(len(vectors), dtype=np.int64)
        self.groups: Sequence[Group] = _map_groups(dense)

    def train(self) -> None:
        """Do nothing: a map has no dropout."""

    def eval(self) -> None:
        """Do nothing."""

    def embed(self, sentences: Sentences) -> Tensor:
        """Return the embeddings of some sentences, with gradients, (n, d)."""
        vectors = self.vectors[torch.from_numpy(sentences).to(self.device)]
        # The identity above the facets is left out of the product.
        facets = self.dense.linear.weight[vectors.shape[1] :]
        return torch.cat([vectors, vectors @ facets.T], dim=1)

    @torch.no_grad()
    def embed_many(self, sentences: Sentences) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences, without gradients, (n, d)."""
        return self.embed(sentences).cpu().numpy()


class TunedLayers:
    """A backbone whose last layers are tuned, with the map at its end if it has one; an `Embedder`."""

    encodes = True

    def __init__(self, backbone: Backbone, tokens: Tokens, dense: "Dense | None" = None) -> None:
        self.backbone, self.tokens = backbone, tokens
        self.device, self.lengths = backbone.device, tokens.lengths
        self.train, self.eval = backbone.train, backbone.eval
        map_groups = [] if dense is None else _map_groups(dense)
        self.groups: Sequence[Group] = [*decaying_matrices(backbone.tuned_parameters()), *map_groups]

    def embed(self, sentences: Sentences) -> Tensor:
        """Return the embeddings of some sentences, each by one of the processes, with gradients, (n, d)."""
        return embed_together(self.backbone, self.tokens, sentences)

    def embed_many(self, sentences: Sentences) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences, without gradients, (n, d)."""
        return self.backbone.embed_many(self.tokens, sentences)


Embedder: TypeAlias = MappedEmbeddings | TunedLayers
"""Embeds sentences by their positions: `embed` with gradients into `groups`, `embed_many` without, both (n, d)."""


def _map_groups(dense: "Dense") -> list[Group]:
    # Weight decay would pull the identity towards 0.
    return [Group({f"map.{name}": parameter for name, parameter in dense.named_parameters()}, decays=False)]


class StartEmbeddings:
    """Embeddings that a training starts from, encoded where the store lacks them, before its backbone is changed."""

    def __init__(
        self, data: MeasuredPairs, further: Sequence[str], backbone: Backbone, settings: S3bertSettings, digest: str
    ) -> None:
        self._data, self._further, self._backbone = data, further, backbone
        self._settings, self._digest = settings, digest

    @cached_property
    def tokens(self) -> Tokens:
        """Word pieces of all sentences, in one list, because the states of frozen layers are indexed by it."""
        limit = self._settings.max_tokens if self._settings.layers_tuned else self._backbone.model.max_seq_length
        return self._backbone.tokenize([*self._data.texts, *self._further], max_tokens=limit or 2**30)

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Embeddings of all sentences by the start model, (n_texts, d)."""
        stored = self._data.teacher if self._data.teacher_digest == self._digest else None
        n_stored = 0 if stored is None else len(stored)
        count = len(self._data.texts) + len(self._further)
        made = self._backbone.embed_many(self.tokens, np.arange(n_stored, count)) if n_stored < count else None
        return np.concatenate([part for part in (stored, made) if part is not None])

    @property
    def of_teacher(self) -> NDArray[np.float32]:
        """Embeddings of the sentences of the pairs by the teacher, (n_texts, t)."""
        if self._settings.teacher == "store" and self._data.teacher is not None:
            return self._data.teacher
        return self.vectors[: len(self._data.texts)]
