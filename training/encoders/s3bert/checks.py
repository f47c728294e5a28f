"""Checks that the pairs of a release suit a training: errors and warnings before any time is spent."""

import logging
from collections.abc import Collection, Iterable

import numpy as np

from features.core.faults import NoTrainingData, UnknownMetric
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.settings import check_corpora

_log = logging.getLogger("training")


def check_pairs(data: MeasuredPairs, settings: S3bertSettings) -> None:
    """Check that there are pairs to train on.

    Args:
        data: all pairs.
        settings: settings that select some of them.

    Raises:
        SettingsError: when a corpus or a facet is named that the pairs do not have.
        InputError: when no pair is left to train on.
    """
    check_corpora(settings, sorted(set(data.pairs["corpus"])), "measured pairs")
    if unknown := settings.unknown_facets(data.metric_names):
        raise UnknownMetric(
            f"the pairs were not measured with {unknown[0]!r}, which `facets` of the encoder {settings.name!r} names; "
            f"there are {', '.join(data.metric_names)}: correct the name, or build the features again"
        )
    chosen = data.select(corpora=settings.corpora)
    train = settings.splits[0]
    if train not in set(chosen.pairs["split"]):
        raise NoTrainingData(
            f"No measured pair {of(settings.corpora)}is in the split {train!r}, which the encoder {settings.name!r} "
            f"is trained on; there are: {splits(chosen)}."
        )


def warn_of_little(data: MeasuredPairs, settings: S3bertSettings) -> None:
    """Warn of pairs that allow a training, but not much of one.

    Args:
        data: the selected pairs.
        settings: of the encoder, with facets filled in.
    """
    train, dev = settings.splits
    counts = {split: int((data.pairs["split"] == split).sum()) for split in settings.splits}
    if counts[train] < settings.loop.batch_size:
        _log.warning(
            "few pairs to train on: %d in split %r, less than one batch (%d)",
            *(counts[train], train, settings.loop.batch_size),
        )
    if not counts[dev] and not settings.by_ratings:
        _log.warning("no pairs in split %r to choose the best model by: the last one is kept", dev)
    facets = settings.facets or data.metric_names
    known = data.select(splits=(train,)).metrics(facets)
    constant = [name for name, spread in zip(facets, np.ptp(known, axis=0), strict=True) if not spread]
    if constant:
        _log.warning(
            "all training pairs have the same value of %s, so its facets learn nothing: leave it out of `facets` of "
            "the encoder",
            ", ".join(constant),
        )


def splits(data: MeasuredPairs) -> str:
    """Return the splits with their numbers of pairs as text, largest first: "train (1,200), dev (300)"."""
    counts = data.pairs.group_by("split").len().sort("len", "split", descending=[True, False])
    return ", ".join(f"{split} ({count:,})" for split, count in counts.iter_rows())


def of(corpora: Collection[str]) -> str:
    """Return the phrase that names corpora in a message; empty for all of them."""
    return f"of {_listed(corpora)} " if corpora else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
