"""Task of S3BERT for the loop: batches of pairs, its objectives, and the dev loss.

Sentences are embedded by a map of stored embeddings, or by tuned layers:

    map      stored embeddings ── map ──────────────────────── embeddings       seconds
    layers   word pieces ── frozen ── tuned layers (── map) ── embeddings       minutes

The map is one matrix, the last module of the encoder; plain `SentenceTransformer(folder)` loads it as a `Dense`. It has
no bias, so the cosine of a facet does not depend on the length of the embedding:

    embedding of the start model ──┬── identity ──── residual, the first d dimensions
                                   └── W ─────────── facets, K · h dimensions after it
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense
from torch import Tensor, nn

from training.data.measured_pairs import MeasuredPairs
from training.data.pair_tables import PairsAmong
from training.encoders.backbone import Backbone, Tokens
from training.encoders.embedding import embed_together
from training.encoders.ratings import ChosenRatings
from training.encoders.s3bert.data import DrawnPairs
from training.encoders.s3bert.settings import S3bertSettings
from training.loop.batches import epoch_batches, near_groups
from training.loop.settings import LoopSettings
from training.loop.task import Group, Judgement, decaying_matrices, parameters_of
from training.objectives import DecompositionObjective, consistency_loss, ordering_loss
from training.progress import with_progress
from training.types import Positions

_CONSISTENT = 256  # pairs of a batch, at most, whose sentences are compared with one another
_SHARE = 0.1  # of the facets in the squared length of an embedding of the encoder; about that before training


def add_map(model: SentenceTransformer, outputs: int, *, seed: int) -> Dense:
    """Append a map with random facets, `outputs` dimensions (K · h), and return it; only the facets are trainable."""
    inputs = int(model.get_embedding_dimension() or 0)
    facets = torch.randn(outputs, inputs, generator=torch.Generator().manual_seed(seed)) * (_SHARE / outputs) ** 0.5
    weight = torch.cat([torch.eye(inputs), facets]).to(model.device)
    dense = Dense(inputs, inputs + outputs, bias=False, activation_function=nn.Identity(), init_weight=weight)
    model.append(dense)
    return learn_facets(dense)


def learn_facets(dense: Dense) -> Dense:
    """Make the facets of a map trainable, not the identity above them, and return it."""
    inputs = dense.linear.in_features
    dense.requires_grad_(requires_grad=True)
    dense.linear.weight.register_hook(  # type: ignore[no-untyped-call]
        lambda gradient: torch.cat([torch.zeros_like(gradient[:inputs]), gradient[inputs:]])
    )
    return dense


@torch.no_grad()
def scale_facets(dense: Dense, vectors: NDArray[np.float32]) -> None:
    """Scale the facets of a map to a tenth of the squared length of embeddings, which training lets grow to half of it.

    Their cosines stay, and the whole embedding follows human ratings better (docs/results/study.md). Vectors are
    embeddings with the map, (n, d).
    """
    inputs = dense.linear.in_features
    squares = np.square(vectors, dtype=np.float64)
    residual, facets = squares[:, :inputs].sum(), squares[:, inputs:].sum()
    if facets:
        dense.linear.weight[inputs:] *= float(np.sqrt(_SHARE / (1 - _SHARE) * residual / facets))


class MappedEmbeddings:
    """The map on embeddings of all sentences by the start model, (n_texts, d); an `Embedder`."""

    encodes = False  # what takes longer than comparing embeddings

    def __init__(self, vectors: NDArray[np.float32], dense: Dense) -> None:
        self.dense = dense
        self.device = dense.linear.weight.device
        self.vectors = torch.from_numpy(vectors).to(self.device)
        self.groups: Sequence[Group] = _map_groups(dense)

    def train(self) -> None:
        """Do nothing: a map has no dropout."""

    eval = train

    def embed(self, sentences: Positions) -> Tensor:
        """Return the embeddings of some sentences, with gradients, (n, d)."""
        vectors = self.vectors[torch.from_numpy(sentences).to(self.device)]
        # The identity above the facets is left out of the product.
        facets = self.dense.linear.weight[vectors.shape[1] :]
        return torch.cat([vectors, vectors @ facets.T], dim=1)

    @torch.no_grad()
    def embed_many(self, sentences: Positions) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences, without gradients, (n, d)."""
        return self.embed(sentences).cpu().numpy()


class TunedLayers:
    """A backbone whose last layers are tuned, with the map at its end if it has one; an `Embedder`."""

    encodes = True

    def __init__(self, backbone: Backbone, tokens: Tokens, dense: Dense | None = None) -> None:
        self.backbone, self.tokens = backbone, tokens
        self.device = backbone.device
        self.train, self.eval = backbone.train, backbone.eval
        map_groups = [] if dense is None else _map_groups(dense)
        self.groups: Sequence[Group] = [*decaying_matrices(backbone.tuned_parameters()), *map_groups]

    def embed(self, sentences: Positions) -> Tensor:
        """Return the embeddings of some sentences, each by one of the processes, with gradients, (n, d)."""
        return embed_together(self.backbone, self.tokens, sentences)

    def embed_many(self, sentences: Positions) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences, without gradients, (n, d)."""
        return self.backbone.embed_many(self.tokens, sentences)


Embedder: TypeAlias = MappedEmbeddings | TunedLayers
"""Embeds sentences by their positions: `embed` with gradients into `groups`, `embed_many` without, both (n, d)."""


def _map_groups(dense: Dense) -> list[Group]:
    # Weight decay would pull the identity towards 0.
    return [Group({f"map.{name}": parameter for name, parameter in dense.named_parameters()}, decays=False)]


class StartEmbeddings:
    """Embeddings that a training starts from, encoded where the store lacks them, before its backbone is changed."""

    def __init__(self, data: MeasuredPairs, further: Sequence[str], backbone: Backbone, digest: str) -> None:
        self._data, self._further, self.backbone, self._digest = data, further, backbone, digest

    @cached_property
    def tokens(self) -> Tokens:
        """Word pieces of all sentences, in one list, because the states of frozen layers are indexed by it."""
        return self.backbone.tokenize([*self._data.texts, *self._further])

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Embeddings of all sentences by the start model, (n_texts, d)."""
        stored = self._data.teacher if self._data.teacher_digest == self._digest else None
        n_stored = 0 if stored is None else len(stored)
        count = len(self._data.texts) + len(self._further)
        made = self.backbone.embed_many(self.tokens, np.arange(n_stored, count)) if n_stored < count else None
        parts = [part for part in (stored, made) if part is not None]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class S3bertPairs:
    """Pairs as the loop takes them; training and dev pairs share one list of sentences."""

    teacher: Tensor  # the teacher's embeddings of the sentences, (n_texts, t), float32
    first: Positions  # positions of sentences a, (n_pairs,)
    second: Positions  # positions of sentences b, (n_pairs,)
    targets: Tensor  # values of the metrics, (n_pairs, n_facets), float32
    train: Positions  # positions of the pairs to train on
    # those of them that batches are made of where sentences are encoded; the others are compared where both of their
    # sentences are in a batch
    drawn: DrawnPairs
    near: Positions  # those to train on that were not drawn at random
    dev: Positions  # positions of the pairs to choose the best model by; may be empty
    ratings: ChosenRatings | None = None  # to choose it by instead; None if its loss on the dev pairs decides


class S3bertTask:
    """Train a map or tuned layers, and the scales of the decomposition, by the objectives."""

    unit = "pairs"

    def __init__(
        self,
        embedder: Embedder,
        decomposition: DecompositionObjective,
        prepared: S3bertPairs,
        settings: S3bertSettings,
        loop: LoopSettings,
        *,
        begins_learnt: bool = False,
    ) -> None:
        self.begins_learnt = begins_learnt  # so that the loop looks at dev before the first step, too
        self.embedder, self.train = embedder, embedder.train
        self.decomposition = decomposition.to(embedder.device)
        self.prepared = prepared
        self.settings, self.loop = settings, loop
        factor = (settings.scale_learning_rate or loop.learning_rate) / loop.learning_rate
        scales = Group({"scales": self.decomposition.scales}, factor, decays=False, clipped=False)
        self.groups: Sequence[Group] = [*embedder.groups, scales]
        self._among, self._ordered = (
            PairsAmong(prepared.first, prepared.second, pairs) if embedder.encodes else None
            for pairs in (prepared.train, prepared.drawn.ordered)
        )
        parameters = parameters_of(self.groups) if settings.share < 1 else {}
        self.begun = {name: value.detach().clone() for name, value in parameters.items()}
        names = settings.facets or ()
        self._ordered_facets = [names.index(name) for name in settings.ordered_facets or names]

    def batches(self, epoch: int) -> list[Positions]:
        """Return the batches of an epoch, each the positions of its pairs."""
        loop, prepared = self.loop, self.prepared
        train = prepared.drawn.of_epoch(epoch) if self.embedder.encodes else prepared.train
        if self.embedder.encodes and not self.settings.ordering:
            groups = near_groups(prepared.first, prepared.second, train, prepared.near, seed=loop.seed, epoch=epoch)
        else:  # those that share sentence a, which ordering compares
            _, groups = np.unique(prepared.first[train], return_inverse=True)
        chosen = epoch_batches(groups, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)
        return [train[batch] for batch in chosen]

    def losses(self, batch: Positions) -> dict[str, Tensor]:
        """Return the loss, decomposition, consistency and, if asked for, ordering of a batch.

        Each sentence is encoded once, by one of the processes, for all pairs that were measured among those of the
        batch; the objectives see the embeddings of all.
        """
        return self._losses(batch, self._among)

    def _losses(self, batch: Positions, among: PairsAmong | None) -> dict[str, Tensor]:
        """Return the losses of a batch; the decomposition is that of all given pairs among its sentences."""
        ends = np.concatenate([self.prepared.first[batch], self.prepared.second[batch]])
        sentences, positions = np.unique(ends, return_inverse=True)
        embeddings = self.embedder.embed(sentences)
        device = embeddings.device
        compared = torch.from_numpy(np.concatenate([side[:_CONSISTENT] for side in np.split(positions, 2)]))
        teacher = self.prepared.teacher[torch.from_numpy(sentences)[compared]].to(device)
        chosen = embeddings.index_select(0, compared.to(device))
        consistency = consistency_loss(*chosen.chunk(2), *teacher.chunk(2))

        def among_them(pairs: Positions) -> tuple[Tensor, Tensor, Tensor]:
            """Return the positions of both sentences of some pairs in the batch, and the targets."""
            ends = (np.searchsorted(sentences, side[pairs]) for side in (self.prepared.first, self.prepared.second))
            left, right = (torch.from_numpy(end).to(device) for end in ends)
            return left, right, self.prepared.targets[torch.from_numpy(pairs)].to(device)

        left, right, targets = among_them(batch if among is None else among.find(sentences))
        decomposition = self.decomposition(embeddings, left, right, targets)
        losses = self._weighed(decomposition, consistency)
        if among is not None and self._ordered is not None and self.settings.ordering:
            # Of the pairs that corpora give: contrasts would be one in a hundred of all that were measured, and what
            # was drawn at random is in order already and would only take the weight from them.
            left, right, targets = among_them(self._ordered.find(sentences))
            similarities = self.decomposition.similarities(embeddings, left, right)
            facets = self._ordered_facets
            losses["ordering"] = ordering_loss(similarities[:, facets], targets[:, facets], left, right)
            losses["loss"] = losses["loss"] + self.settings.ordering * losses["ordering"]
        return losses

    @torch.no_grad()
    def judge(self) -> Judgement | None:
        """Return the dev loss (lower is better), or the correlation with ratings (higher is better)."""
        self.embedder.eval()
        loss, ratings = self._dev_loss(), self.prepared.ratings
        if ratings is None:
            return Judgement(loss, value=-loss["loss"]) if loss else None
        correlation = ratings.score(self.embedder.embed_many(ratings.positions))
        return Judgement({"spearman": correlation, **loss}, value=correlation)

    def _dev_loss(self) -> dict[str, float]:
        dev, size = self.prepared.dev, self.loop.batch_size
        if not len(dev):
            return {}
        sums = torch.zeros(2, dtype=torch.float64)
        batches = np.split(dev, range(size, len(dev), size))
        for batch in with_progress(batches, "dev loss", len(dev), "pairs"):
            losses = self._losses(batch, None)
            sums += len(batch) * torch.stack([losses["decomposition"], losses["consistency"]]).cpu().double()
        means = self._weighed(*(sums / len(dev)))
        return {name: value.item() for name, value in means.items()}

    def _weighed(self, decomposition: Tensor, consistency: Tensor) -> dict[str, Tensor]:
        loss = self.settings.alpha * decomposition + self.settings.consistency * consistency
        return {"loss": loss, "decomposition": decomposition, "consistency": consistency}


def recorded(scores: Mapping[str, float]) -> dict[str, float]:
    """Return dev scores as in `training.json`, where the loss is called total."""
    return {"total" if name == "loss" else name: value for name, value in scores.items()}
