"""Measured pairs for training facets: checks that they suit it, and the targets of the facets."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import Conflict, NoTrainingData, UnknownName
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.facets import FILE_NAME, FacetLayout
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.settings import check_corpora
from training.loop.settings import LoopSettings
from training.progress import log
from training.types import Positions

_LEAST_SHARE = 0.01
_OF_LAYERS = ("layer_corpora", "layer_shares")


def check_layers(settings: S3bertSettings, corpora: Collection[str]) -> None:
    """Check that the corpora of the layers are among those that the encoder is trained on."""
    named = [(name, getattr(each, name)) for each in (settings, settings.finishing) for name in _OF_LAYERS]
    for setting, names in named:
        if elsewhere := set(names) - set(corpora):
            raise UnknownName(
                f"`{setting}` of the encoder {settings.name!r} names {min(elsewhere)!r}, which it is not trained on; "
                f"there are {', '.join(corpora)}: correct the name"
            )


def check_pairs(data: MeasuredPairs, settings: S3bertSettings) -> None:
    """Check that there are pairs to train on among all pairs."""
    check_corpora(settings, data)
    if unknown := settings.unknown_facets(data.metric_names):
        raise UnknownName(
            f"the pairs were not measured with {unknown[0]!r}, a facet of the encoder {settings.name!r}; "
            f"there are {', '.join(data.metric_names)}: correct the name, or build the features again"
        )
    chosen = data.select(corpora=settings.corpora)
    train = settings.splits[0]
    learnt = chosen.select(splits=(train,), kinds=settings.kinds)
    if not len(learnt):
        named = ", ".join((*map(repr, settings.corpora), *(f"kind {kind!r}" for kind in settings.kinds)))
        raise NoTrainingData(
            f"No measured pair {f'of {named} ' if named else ''}is in the split {train!r}, which the encoder "
            f"{settings.name!r} is trained on; there are: {split_counts(chosen)}."
        )
    if settings.layers_tuned and set(learnt.pairs["kind"]) == {"neighbour"}:
        raise NoTrainingData(
            f"All training pairs of the encoder {settings.name!r} are neighbours, of which no batch of its layers is "
            "made: add other `kinds`, or learn the map alone with layers_tuned = 0."
        )
    check_layers(settings, learnt.corpora)


def facets_before(start: Path, settings: S3bertSettings) -> FacetLayout | None:
    """Return the facets of a start model that has them, which its training goes on from; None for any other."""
    if not (start / FILE_NAME).is_file():
        return None
    layout = FacetLayout.load(start)
    asked = (settings.facets, settings.facet_dimensions, settings.similarity)
    if asked != (layout.names, layout.width, layout.similarity) or not settings.layers_tuned:
        raise Conflict(
            f"the encoder {settings.name!r} goes on from the facets of {settings.backbone!r}: tune layers, and give "
            f"facet_dimensions = {layout.width}, similarity = {layout.similarity!r}, facets = {list(layout.names)}"
        )
    return layout


def sample_pairs(data: MeasuredPairs, settings: S3bertSettings) -> MeasuredPairs:
    """Return as many training pairs as `pairs` asks for, drawn with the seed of the loop, and all dev pairs."""
    training = (data.pairs["split"] == settings.splits[0]).to_numpy()
    if settings.pairs is None or settings.pairs >= training.sum():
        return data
    drawn = np.random.default_rng(settings.loop.seed).choice(np.flatnonzero(training), settings.pairs, replace=False)
    kept = ~training
    kept[drawn] = True
    return data.keep(pl.Series(kept))


def warn_of_little(data: MeasuredPairs, settings: S3bertSettings) -> None:
    """Warn of selected pairs that allow a training, but not much of one; settings with facets filled in."""
    train, dev = settings.splits
    counts = {split: int((data.pairs["split"] == split).sum()) for split in settings.splits}
    size = settings.loop.batch_size
    if counts[train] < size:
        log.warning("few pairs to train on: %d in split %r, less than one batch (%d)", counts[train], train, size)
    if not counts[dev] and not settings.by_ratings:
        log.warning("no pairs in split %r to choose the best model by: the last one is kept", dev)
    facets = settings.facets or data.metric_names
    spreads = np.ptp(data.select(splits=(train,)).metrics(facets), axis=0)
    constant = [name for name, spread in zip(facets, spreads, strict=True) if not spread]
    if constant:
        log.warning(
            "all training pairs have the same value of %s, so its facets learn nothing: leave it out of `facets` of "
            "the encoder",
            ", ".join(constant),
        )


def warn_of_teacher(data: MeasuredPairs, settings: S3bertSettings, start: str) -> None:
    """Warn of stored embeddings that are not those of the start model, of which `start` is the digest."""
    if settings.teacher == "store" and data.teacher is not None and data.teacher_digest != start:
        log.warning(
            "the embeddings of the release are those of another model than the backbone %r: consistency preserves that "
            "model's cosines, and a map is learnt on embeddings made now; name the backbone as `model` of [embeddings] "
            'as well, or set teacher = "backbone"',
            Path(settings.backbone).name,
        )


def split_counts(data: MeasuredPairs) -> str:
    """Return the splits with their numbers of pairs as text, largest first: "train (1,200), dev (300)"."""
    counts = data.pairs.group_by("split").len().sort("len", "split", descending=[True, False])
    return ", ".join(f"{split} ({count:,})" for split, count in counts.iter_rows())


@dataclass(frozen=True, slots=True)
class DrawnPairs:
    """Pairs that batches are made of, an epoch of a part of each corpus; the next one goes on where that ended."""

    corpora: tuple[Positions, ...]  # the pairs of each corpus, shuffled where an epoch has a part of them
    counts: tuple[int, ...]  # pairs of each in an epoch
    all: Positions  # the pairs of all epochs, ascending
    ordered: Positions  # those of them that a corpus gives, which the ordering objective is for

    @classmethod
    def of(cls, data: MeasuredPairs, among: Positions, settings: S3bertSettings) -> Self:
        """Choose from the pairs at some positions by the settings: no neighbours, which are measured in batches."""
        random = np.random.default_rng(settings.loop.seed)
        named, neighbour = (data.pairs[column].to_numpy()[among] for column in ("corpus", "kind"))
        corpora, counts = [], []
        for corpus in sorted(set(settings.layer_corpora) or set(named)):
            pairs, share = among[(named == corpus) & (neighbour != "neighbour")], settings.layer_shares.get(corpus, 1.0)
            corpora.append(pairs if share == 1 else random.permutation(pairs))
            counts.append(math.ceil(share * len(pairs)))
        drawn = np.sort(np.concatenate(corpora))
        ordered = drawn[(data.pairs["kind"] == "positive").to_numpy()[drawn]]
        return cls(tuple(corpora), tuple(counts), drawn, ordered)

    def count(self, loop: LoopSettings) -> int:
        """Return the number of pairs in a whole training, each as often as it is drawn."""
        every = loop.epochs * sum(self.counts)
        return every if loop.steps is None else min(every, loop.steps * loop.batch_size)

    def of_epoch(self, epoch: int) -> Positions:
        """Return the pairs of an epoch (from 0), ascending."""
        parts = zip(self.corpora, self.counts, strict=True)
        return np.sort(np.concatenate([np.roll(pairs, -epoch * count)[:count] for pairs, count in parts]))


@dataclass(frozen=True, slots=True)
class Targets:
    """Scaled metrics: metric = offset + range x target."""

    values: NDArray[np.float32]  # (n_pairs, n_facets), float32
    offsets: NDArray[np.float64]  # (n_facets,)
    ranges: NDArray[np.float64]  # (n_facets,), above 0
    weights: NDArray[np.float64]  # weights of the facets in the decomposition objective, (n_facets,), mean 1


def make_targets(metrics: NDArray[np.float32], train: NDArray[np.int64], settings: S3bertSettings) -> Targets:
    """Scale metrics, (n_pairs, n_facets) in [0, 1], and weight facets by statistics of the training pairs.

    A constant metric is only shifted. Variances count as at least a hundredth of the highest one, so that a (nearly)
    constant metric does not outweigh all others.
    """
    values = metrics[train].astype(np.float64)
    offsets, ranges, weights = np.zeros(metrics.shape[1]), np.ones(metrics.shape[1]), np.ones(metrics.shape[1])
    if settings.targets == "minmax":
        offsets = values.min(axis=0)
        spread = values.max(axis=0) - offsets
        ranges = np.where(spread > 0, spread, 1.0)
    if settings.facet_weights == "variance":
        variances = (values / ranges).var(axis=0)
        weights = 1.0 / np.maximum(variances, max(_LEAST_SHARE * variances.max(), 1e-6))
        weights /= weights.mean()
    return Targets(((metrics - offsets) / ranges).astype(np.float32), offsets, ranges, weights)
