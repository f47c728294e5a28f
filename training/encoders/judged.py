"""Judged pairs as encoders of several kinds learn from them: which labels there are, and pairs by their positions."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.errors import InputError, SettingsError
from training.encoders.settings import BY_POSITIVE
from training.loop.batches import epoch_batches

if TYPE_CHECKING:
    from training.data.labelled_pairs import LabelledPairs
    from training.encoders.settings import EncoderSettings
    from training.loop.settings import LoopSettings

_log = logging.getLogger("training")

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of a step, by their positions.

    Args:
        first: sentences a, (b,).
        second: sentences b, (b,).
        targets: number of each pair's label among those that are told apart; -1 for none, (b,).
    """

    first: Positions
    second: Positions
    targets: Positions

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)

    @property
    def sentences(self) -> Positions:
        """All sentences: a, then b."""
        return np.concatenate([self.first, self.second])


class PairTable:
    """The pairs of one split, as a step takes them.

    Args:
        data: training and dev pairs.
        split: which of them.
        labels: that are told apart.
    """

    def __init__(self, data: "LabelledPairs", split: str, labels: Sequence[str]) -> None:
        of_split = (data.pairs["split"] == split).to_numpy()
        self.first, self.second = data.first[of_split], data.second[of_split]
        self.targets = data.targets(labels)[of_split]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)

    def batch(self, pairs: Positions) -> Batch:
        """Return some pairs as a batch.

        Args:
            pairs: positions in this table, (b,).
        """
        return Batch(self.first[pairs], self.second[pairs], self.targets[pairs])

    def order(self, lengths: NDArray[np.int64], loop: "LoopSettings", epoch: int) -> list[Positions]:
        """Return which pairs are in each batch of an epoch.

        Args:
            lengths: tokens of each sentence, (n_texts,).
            loop: size of batches, and seed.
            epoch: from 0.
        """
        longer = np.maximum(lengths[self.first], lengths[self.second])
        alone = np.arange(len(self), dtype=np.int64)
        return epoch_batches(alone, longer, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)


def training_labels(data: "LabelledPairs", settings: "EncoderSettings") -> dict[str, int]:
    """Return the labels of the training pairs, sorted, and how many have each.

    Args:
        data: all pairs.
        settings: corpora and splits.

    Raises:
        SettingsError: a corpus is named that no pair is of.
        InputError: there is no pair to learn from.
    """
    corpora = sorted(set(data.pairs["corpus"]))
    if unknown := [name for name in settings.corpora if name not in corpora]:
        raise SettingsError(
            f"`corpora` of the encoder {settings.name!r} names {unknown[0]!r}, of which no pair has a label; there "
            f"are: {', '.join(corpora)}."
        )
    of_corpora = data.pairs.filter(pl.col("corpus").is_in(list(settings.corpora or corpora)))
    of_train = of_corpora.filter(split=settings.splits[0])
    if not of_train.height:
        splits = ", ".join(sorted(set(of_corpora["split"])))
        raise InputError(
            f"No pair in the split {settings.splits[0]!r} has a label, as the encoder {settings.name!r} needs them; "
            f"there are such pairs in: {splits}. Name one of these first in its `splits`."
        )
    return dict(of_train.group_by("label").len().sort("label").iter_rows())


def check_labels(labels: Sequence[str], known: Sequence[str], settings: "EncoderSettings") -> None:
    """Refuse labels that no training pair has.

    Raises:
        SettingsError: naming the first.
    """
    if unknown := [name for name in labels if name not in known]:
        raise SettingsError(
            f"`labels` of the encoder {settings.name!r} names {unknown[0]!r}, which no training pair has; there are: "
            f"{', '.join(known)}."
        )


def missing_positive(label: str, known: Sequence[str], settings: "EncoderSettings") -> SettingsError:
    """Return the error of a positive label that no training pair has."""
    return SettingsError(
        f"`positive_label` of the encoder {settings.name!r} is {label!r}, which no training pair has; name one of: "
        f"{', '.join(known)}."
    )


def check_dev(data: "LabelledPairs", settings: "EncoderSettings", positive: str) -> None:
    """Refuse dev pairs that cannot say which model is best by a score of `BY_POSITIVE`.

    Raises:
        InputError: when all have the positive label, or none has.
    """
    dev = data.pairs.filter(split=settings.splits[1])
    positives = dev.filter(label=positive).height
    if settings.choose_by in BY_POSITIVE and dev.height and positives in {0, dev.height}:
        raise InputError(
            f"Of the {dev.height:,} dev pairs {positives:,} have the label {positive!r}, so no model can be chosen by "
            f"`{settings.choose_by}`: give the encoder {settings.name!r} dev pairs of both kinds, or set "
            'choose_by = "loss".'
        )


def warn_of_few(pairs: int, settings: "EncoderSettings") -> None:
    """Say when pairs are so few that little can be learnt."""
    if pairs < settings.loop.batch_size:
        _log.warning("few pairs to learn from: %d, less than one batch (%d)", pairs, settings.loop.batch_size)


def warn_of_no_dev(settings: "EncoderSettings") -> None:
    """Say that nothing chooses the model."""
    _log.warning(
        "there is no dev pair (split %r): there is nothing to choose the best model by, the last one is kept",
        settings.splits[1],
    )
