"""Judged pairs for training an encoder with a graph, and checks that they suit it."""

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from features.core.counting import all_of
from features.core.faults import Conflict, NothingToLearn, UnknownLabel
from training.data.labelled_pairs import LabelledPairs
from training.encoders import pair_table
from training.encoders.label_checks import check_dev, check_labels, found_positive, training_labels
from training.encoders.pair_table import Positions
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.settings import BY_POSITIVE

_log = logging.getLogger("training")

USUAL_NEGATIVE: str = RgcnSettings.model_fields["negative_label"].default
"""Negative label of inference pairs; pairs of another kind need not have it."""


@dataclass(frozen=True, slots=True)
class Batch(pair_table.Batch):
    """Sentences of a step, by their positions.

    Args:
        first: sentences a, (b,).
        second: sentences b, (b,).
        targets: number of each pair's label among those of the classifier; -1 for none, (b,).
        hard: hard negatives of some sentences a, (h,); h may be 0.
    """

    hard: Positions

    @property
    def sentences(self) -> Positions:
        """All sentences: a, b, then hard negatives."""
        return np.concatenate([self.first, self.second, self.hard])


def resolved(data: LabelledPairs, settings: RgcnSettings) -> RgcnSettings:
    """Return the settings with the labels of the classifier filled in.

    Args:
        data: all pairs.
        settings: settings, perhaps without labels.

    Raises:
        SettingsError: a corpus or a label is named that no pair has; the default negative label may be absent.
        InputError: there is no pair to train on, or all have the same label.
    """
    counts = training_labels(data, settings)
    known = tuple(counts)
    if settings.objective == "multiple_negatives":
        positive = found_positive(known, settings)
        if settings.negative_label not in (*known, USUAL_NEGATIVE):
            others = ", ".join(label for label in known if label != positive)
            raise UnknownLabel(
                f"`negative_label` of the encoder {settings.name!r} is {settings.negative_label!r}, which no training "
                f"pair has; {f'name one of: {others}, or ' if others else ''}leave it out."
            )
        if settings.negative_label == positive:
            raise Conflict(f"`negative_label` of the encoder {settings.name!r} is {positive!r}, the positive one.")
        return settings.model_copy(update={"positive_label": positive})
    check_labels(settings.labels, known, settings)
    if settings.objective == "distillation":
        return settings
    labels = settings.labels or known
    if settings.choose_by in BY_POSITIVE:
        settings = settings.model_copy(update={"positive_label": found_positive(labels, settings)})
    if settings.labels:
        return settings
    if len(known) == 1:
        have_the_same = "has the label" if counts[known[0]] == 1 else "have the same label,"
        raise NothingToLearn(
            f"{all_of(counts[known[0]], 'training pair')} {have_the_same} {known[0]!r}: a classifier learns nothing "
            f"from it. Set another `objective` for the encoder {settings.name!r}, or add pairs with other labels."
        )
    return settings.model_copy(update={"labels": known})


def learnt_from(data: LabelledPairs, settings: RgcnSettings) -> LabelledPairs:
    """Return the training and dev pairs.

    Args:
        data: all pairs.
        settings: as `resolved` returns them.

    Raises:
        InputError: the dev pairs cannot choose a model by the positive label.
    """
    wanted = settings.labels
    if settings.objective == "multiple_negatives":
        wanted = (settings.positive_label, settings.negative_label)
    found = data.select(splits=settings.splits, corpora=settings.corpora, labels=wanted)
    check_dev(found, settings, settings.positive_label)
    return found


class PairTable(pair_table.PairTable):
    """The pairs of one split, as a step takes them.

    Args:
        data: training and dev pairs.
        split: split of the pairs.
        settings: objective and labels.
    """

    def __init__(self, data: LabelledPairs, split: str, settings: RgcnSettings) -> None:
        super().__init__(data, split, settings.labels)
        self.n_texts = len(data.texts)
        self._hard_of: dict[int, list[int]] = {}
        if settings.objective == "multiple_negatives":
            labels = data.pairs.filter(split=split)["label"].to_numpy()
            contradicts = labels == settings.negative_label
            pairs = zip(self.first[contradicts].tolist(), self.second[contradicts].tolist(), strict=True)
            for text, other in pairs:
                self._hard_of.setdefault(text, []).append(other)
            self.first, self.second, self.targets = (
                column[~contradicts] for column in (self.first, self.second, self.targets)
            )
        self._positive = np.unique(self.first * self.n_texts + self.second)

    @property
    def has_negative_label(self) -> bool:
        """Whether any pair has the negative label."""
        return bool(self._hard_of)

    @property
    def with_hard(self) -> int:
        """Number of pairs whose sentence a has a hard negative."""
        return sum(text in self._hard_of for text in self.first.tolist())

    def with_negatives(self, pairs: Positions, random: np.random.Generator) -> Batch:
        """Return some pairs as a batch, with one hard negative drawn for each sentence a that has any.

        Args:
            pairs: positions in this table, (b,).
            random: generator of the draw.
        """
        first = self.first[pairs]
        choices = [self._hard_of[text] for text in first.tolist() if text in self._hard_of]
        hard = np.array([some[random.integers(len(some))] for some in choices], dtype=np.int64)
        return Batch(first, self.second[pairs], self.targets[pairs], hard)

    def masked(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which candidates (all b, then hard negatives) must not be negatives of an anchor, (b, b + h).

        They are the anchor itself, further occurrences of its positive, and its other positives.
        """
        candidates = np.concatenate([batch.second, batch.hard])
        masked = np.isin(batch.first[:, None] * self.n_texts + candidates[None, :], self._positive)
        masked |= batch.first[:, None] == candidates[None, :]
        masked |= batch.second[:, None] == candidates[None, :]
        own = np.arange(len(batch))
        masked[own, own] = False
        return masked


def warn_of_no_negatives(train: PairTable, settings: RgcnSettings) -> None:
    """Warn when there are no hard negatives and the objective would use them."""
    if settings.objective != "multiple_negatives" or train.with_hard:
        return
    if train.has_negative_label:
        _log.warning(
            "no training pair with the label %r shares its sentence a with a pair to train on: there are no hard "
            "negatives",
            settings.negative_label,
        )
    else:
        _log.warning(
            "no training pair has the `negative_label` %r: there are no hard negatives", settings.negative_label
        )
