"""Which judged pairs an encoder with a graph learns from, and whether they can teach it anything."""

import logging
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.errors import InputError, SettingsError
from training.data.labelled_pairs import LabelledPairs
from training.encoders.rgcn.settings import RgcnSettings

_log = logging.getLogger("training")

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of a step, by their positions.

    Args:
        first: sentences a, (b,).
        second: sentences b, (b,).
        targets: number of each pair's label among those that are told apart; -1 for none, (b,).
        hard: what contradicts some of the sentences a, (h,); h may be 0.
    """

    first: Positions
    second: Positions
    targets: Positions
    hard: Positions

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)


def resolved(data: LabelledPairs, settings: RgcnSettings) -> RgcnSettings:
    """Return the settings with the labels named that a classifier is to tell apart.

    Args:
        data: all pairs.
        settings: that may leave labels to the pairs.

    Raises:
        SettingsError: a corpus or a label is named that no pair has.
        InputError: there is no pair to learn from, or all have the same label.
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
    known = tuple(sorted(set(of_train["label"])))
    if settings.objective == "multiple_negatives":
        if settings.positive_label not in known:
            raise SettingsError(
                f"`positive_label` of the encoder {settings.name!r} is {settings.positive_label!r}, which no training "
                f"pair has; there are: {', '.join(known)}."
            )
        return settings
    if unknown := [name for name in settings.labels if name not in known]:
        raise SettingsError(
            f"`labels` of the encoder {settings.name!r} names {unknown[0]!r}, which no training pair has; there are: "
            f"{', '.join(known)}."
        )
    if settings.objective == "distillation" or settings.labels:
        return settings
    if len(known) == 1:
        raise InputError(
            f"All {of_train.height:,} training pairs have the same label, {known[0]!r}: a classifier learns nothing "
            f"from it. Take another `objective` for the encoder {settings.name!r}, or pairs with other labels too."
        )
    return settings.model_copy(update={"labels": known})


def learnt_from(data: LabelledPairs, settings: RgcnSettings) -> LabelledPairs:
    """Return the training and dev pairs.

    Args:
        data: all pairs.
        settings: as `resolved` gives them.
    """
    wanted = settings.labels
    if settings.objective == "multiple_negatives":
        wanted = (settings.positive_label, settings.negative_label)
    return data.select(splits=settings.splits, corpora=settings.corpora, labels=wanted)


class PairTable:
    """The pairs of one split, as a step takes them.

    Args:
        data: training and dev pairs.
        split: which of them.
        settings: objective and labels.
    """

    def __init__(self, data: LabelledPairs, split: str, settings: RgcnSettings) -> None:
        of_split = (data.pairs["split"] == split).to_numpy()
        first, second = data.first[of_split], data.second[of_split]
        targets = data.targets(settings.labels)[of_split]
        self.n_texts = len(data.texts)
        self._hard_of: dict[int, list[int]] = {}
        if settings.objective == "multiple_negatives":
            labels = data.pairs["label"].to_numpy()[of_split]
            contradicts = labels == settings.negative_label
            for text, other in zip(first[contradicts].tolist(), second[contradicts].tolist(), strict=True):
                self._hard_of.setdefault(text, []).append(other)
            first, second, targets = first[~contradicts], second[~contradicts], targets[~contradicts]
        self.first, self.second, self.targets = first, second, targets
        self._positive = np.unique(first * self.n_texts + second)

    def __len__(self) -> int:
        """Return the number of pairs; hard negatives are not counted."""
        return len(self.first)

    @property
    def with_hard(self) -> int:
        """How many of the pairs have a sentence that contradicts their sentence a."""
        return sum(text in self._hard_of for text in self.first.tolist())

    def batch(self, pairs: Positions, random: np.random.Generator) -> Batch:
        """Return some pairs as a batch; of the sentences that contradict an a one is drawn.

        Args:
            pairs: positions in this table, (b,).
            random: of the draw.
        """
        first = self.first[pairs]
        choices = [self._hard_of[text] for text in first.tolist() if text in self._hard_of]
        hard = np.array([some[random.integers(len(some))] for some in choices], dtype=np.int64)
        return Batch(first, self.second[pairs], self.targets[pairs], hard)

    def masked(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which candidates (all b, then hard negatives) are no negatives of an anchor, (b, b + h).

        A candidate is none where it is the anchor itself, the anchor's positive once more, or another positive of it.
        """
        candidates = np.concatenate([batch.second, batch.hard])
        masked = np.isin(batch.first[:, None] * self.n_texts + candidates[None, :], self._positive)
        masked |= batch.first[:, None] == candidates[None, :]
        masked |= batch.second[:, None] == candidates[None, :]
        own = np.arange(len(batch))
        masked[own, own] = False
        return masked


def warn_of_little(train: PairTable, dev: PairTable, settings: RgcnSettings, *, rated: bool) -> None:
    """Say where pairs are so few that little can be learnt or chosen by."""
    if len(train) < settings.loop.batch_size:
        _log.warning("few pairs to learn from: %d, less than one batch (%d)", len(train), settings.loop.batch_size)
    if settings.objective == "multiple_negatives" and not train.with_hard:
        _log.warning(
            "no training pair with the label %r has a sentence a of a pair to learn from: there are no hard negatives",
            settings.negative_label,
        )
    if not len(dev) and not rated:
        _log.warning(
            "there is no dev pair (split %r): there is nothing to choose the best model by, the last one is kept",
            settings.splits[1],
        )
