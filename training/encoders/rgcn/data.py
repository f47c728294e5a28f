"""Judged pairs for training an encoder with a graph, and checks that they suit it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from features.core.faults import Conflict, UnknownLabel
from training.data.labelled_pairs import LabelledPairs
from training.encoders import pair_table
from training.encoders.label_checks import check_dev, check_labels, classes_of, found_positive, training_labels
from training.encoders.pair_table import Positions
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.settings import BY_POSITIVE
from training.progress import log

# Negative label of inference pairs; pairs of another kind need not have it.
_USUAL_NEGATIVE: str = RgcnSettings.model_fields["negative_label"].default


def resolved(data: LabelledPairs, settings: RgcnSettings) -> RgcnSettings:
    """Return the settings with the labels of the classifier filled in."""
    counts = training_labels(data, settings)
    known = tuple(counts)
    if settings.objective == "multiple_negatives":
        positive = found_positive(known, settings)
        if settings.negative_label not in (*known, _USUAL_NEGATIVE):
            others = ", ".join(label for label in known if label != positive)
            raise UnknownLabel(
                f"`negative_label` of the encoder {settings.name!r} is {settings.negative_label!r}, which no training "
                f"pair has; {f'name one of: {others}, or ' if others else ''}leave it out."
            )
        if settings.negative_label == positive:
            raise Conflict(f"`negative_label` of the encoder {settings.name!r} is {positive!r}, the positive one.")
        return settings.model_copy(update={"positive_label": positive})
    if settings.objective == "distillation":
        check_labels(settings.labels, known, settings)
        return settings
    labels = classes_of(
        counts, settings, f"Set another `objective` for the encoder {settings.name!r}, or add pairs with other labels."
    )
    if settings.choose_by in BY_POSITIVE:
        settings = settings.model_copy(update={"positive_label": found_positive(labels, settings)})
    return settings.model_copy(update={"labels": labels})


def learnt_from(data: LabelledPairs, settings: RgcnSettings) -> LabelledPairs:
    """Return the training and dev pairs; settings as `resolved` returns them."""
    labels = settings.labels
    if settings.objective == "multiple_negatives":
        labels = (settings.positive_label, settings.negative_label)
    chosen = data.select(splits=settings.splits, corpora=settings.corpora, labels=labels)
    check_dev(chosen, settings, settings.positive_label)
    return chosen


@dataclass(frozen=True, slots=True)
class Batch(pair_table.Batch):
    """Sentences of a step, by their positions."""

    hard: Positions  # hard negatives of some sentences a, (h,); h may be 0
    table: "PairTable"  # the pairs that these are from

    @property
    def sentences(self) -> Positions:
        """All sentences: a, b, then hard negatives."""
        return np.concatenate([self.first, self.second, self.hard])


class PairTable(pair_table.PairTable):
    """The pairs of one split, as a step takes them: those of the negative label are hard negatives of the others."""

    def __init__(self, data: LabelledPairs, split: str, settings: RgcnSettings) -> None:
        super().__init__(data, split, settings)
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
    def with_hard(self) -> int:
        """Number of pairs whose sentence a has a hard negative."""
        return sum(text in self._hard_of for text in self.first.tolist())

    def with_negatives(self, pairs: Positions, random: np.random.Generator) -> Batch:
        """Return some pairs as a batch, with one hard negative drawn for each sentence a that has any."""
        first = self.first[pairs]
        choices = [self._hard_of[text] for text in first.tolist() if text in self._hard_of]
        hard = np.array([some[random.integers(len(some))] for some in choices], dtype=np.int64)
        return Batch(first, self.second[pairs], self.targets[pairs], hard, self)

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

    def warn_of_no_negatives(self, settings: RgcnSettings) -> None:
        """Warn when there are no hard negatives and the objective would use them."""
        if settings.objective != "multiple_negatives" or self.with_hard:
            return
        label = settings.negative_label
        if self._hard_of:
            log.warning(
                "no training pair with the label %r shares its sentence a with a pair to train on: there are no hard "
                "negatives",
                label,
            )
        else:
            log.warning("no training pair has the `negative_label` %r: there are no hard negatives", label)
