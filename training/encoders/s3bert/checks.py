"""Whether the pairs of a release are what a training needs: an error or a warning, before any time is spent."""

import logging
from collections.abc import Collection, Iterable

import numpy as np

from features.errors import InputError, SettingsError
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.settings import S3bertSettings

_log = logging.getLogger("training")


def check_pairs(data: MeasuredPairs, settings: S3bertSettings) -> None:
    """Check that there is something to learn from.

    Args:
        data: all pairs.
        settings: which of them are chosen.

    Raises:
        SettingsError: when a corpus or a facet is named that the pairs have not.
        InputError: when no pair is left to learn from.
    """
    corpora = sorted(set(data.pairs["corpus"]))
    if unknown := [name for name in settings.corpora if name not in corpora]:
        raise SettingsError(
            f"`corpora` of the encoder {settings.name!r} names {unknown[0]!r}, of which no pair was measured; there "
            f"are: {', '.join(corpora)}."
        )
    if unknown := settings.unknown_facets(data.metric_names):
        raise SettingsError(
            f"the pairs were not measured with {unknown[0]!r}, which `facets` of the encoder {settings.name!r} names; "
            f"there are {', '.join(data.metric_names)}: correct the name, or build the features again"
        )
    chosen = data.select(corpora=settings.corpora)
    train = settings.splits[0]
    if train not in set(chosen.pairs["split"]):
        raise InputError(
            f"No measured pair {of(settings.corpora)}is in the split {train!r}, which the encoder {settings.name!r} "
            f"learns from; there are: {splits(chosen)}."
        )


def warn_of_little(data: MeasuredPairs, settings: S3bertSettings) -> None:
    """Warn of pairs that a training can do, but not do much, with.

    Args:
        data: the pairs that were chosen.
        settings: with the facets named.
    """
    train, dev = settings.splits
    counts = {split: int((data.pairs["split"] == split).sum()) for split in settings.splits}
    if counts[train] < settings.loop.batch_size:
        _log.warning(
            "few pairs to learn from: %d in split %r, less than one batch (%d)",
            *(counts[train], train, settings.loop.batch_size),
        )
    if not counts[dev] and not settings.by_ratings:
        _log.warning("no pair is in split %r: the last model is kept, there is nothing to choose a better one by", dev)
    facets = settings.facets or data.metric_names
    known = data.select(splits=(train,)).metrics(facets)
    constant = [name for name, spread in zip(facets, np.ptp(known, axis=0), strict=True) if not spread]
    if constant:
        _log.warning(
            "every training pair has the same %s: the facets can learn nothing about that, leave it out of "
            "`facets` of the encoder",
            ", ".join(constant),
        )


def splits(data: MeasuredPairs) -> str:
    """Return the splits with the number of their pairs, as words: "train (1,200), dev (300)", most first."""
    counts = data.pairs.group_by("split").len().sort("len", "split", descending=[True, False])
    return ", ".join(f"{split} ({count:,})" for split, count in counts.iter_rows())


def of(corpora: Collection[str]) -> str:
    """Return which corpora a sentence is about, nothing where it is about all of them."""
    return f"of {_listed(corpora)} " if corpora else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
