"""Judged pairs of a split as a step takes them: positions of their sentences, and numbers of their labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.data.labelled_pairs import LabelledPairs
from training.encoders.settings import PairSettings
from training.loop.batches import epoch_batches
from training.loop.settings import LoopSettings
from training.progress import log

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of a step, by their positions."""

    first: Positions  # sentences a, (b,)
    second: Positions  # sentences b, (b,)
    targets: Positions  # number of each pair's label among those of the classifier; -1 for none, (b,)
    hard: Positions  # hard negatives of some sentences a, (h,); h may be 0
    table: "PairTable"  # the pairs that these are from

    def __len__(self) -> int:
        return len(self.first)

    @property
    def sentences(self) -> Positions:
        """All sentences: a, b, then hard negatives."""
        return np.concatenate([self.first, self.second, self.hard])


class PairTable:
    """The pairs of one split, as a step takes them; those of the `hard_label` are hard negatives of the others."""

    def __init__(self, data: LabelledPairs, split: str, settings: PairSettings) -> None:
        of_split = (data.pairs["split"] == split).to_numpy()
        self.first, self.second = data.first[of_split], data.second[of_split]
        self.targets = data.targets(settings.labels)[of_split]
        self.n_texts = len(data.texts)
        self._hard_of: dict[int, list[int]] = {}
        if settings.hard_label is not None:
            contradicts = data.pairs["label"].to_numpy()[of_split] == settings.hard_label
            pairs = zip(self.first[contradicts].tolist(), self.second[contradicts].tolist(), strict=True)
            for text, other in pairs:
                self._hard_of.setdefault(text, []).append(other)
            self.first, self.second, self.targets = (
                column[~contradicts] for column in (self.first, self.second, self.targets)
            )
        self._positive = np.unique(self.first * self.n_texts + self.second)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)

    @property
    def with_hard(self) -> int:
        """Number of pairs whose sentence a has a hard negative."""
        return sum(text in self._hard_of for text in self.first.tolist())

    def batch(self, pairs: Positions, random: np.random.Generator | None = None) -> Batch:
        """Return some pairs as a batch, with a hard negative drawn at `random` for each sentence a that has any."""
        first = self.first[pairs]
        choices = [self._hard_of[text] for text in first.tolist() if text in self._hard_of]
        hard = [some[random.integers(len(some))] for some in choices] if random is not None else []
        return Batch(first, self.second[pairs], self.targets[pairs], np.array(hard, dtype=np.int64), self)

    def order(self, lengths: NDArray[np.int64], loop: LoopSettings, epoch: int) -> list[Positions]:
        """Return which pairs are in each batch of an epoch (from 0), by the tokens of each sentence, (n_texts,)."""
        longer = np.maximum(lengths[self.first], lengths[self.second])
        alone = np.arange(len(self), dtype=np.int64)
        return epoch_batches(alone, longer, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)

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

    def warn_of_no_negatives(self, settings: PairSettings) -> None:
        """Warn when there are no hard negatives and the objective would use them."""
        label = settings.hard_label
        if label is None or self.with_hard:
            return
        if self._hard_of:
            log.warning(
                "no training pair with the label %r shares its sentence a with a pair to train on: there are no hard "
                "negatives",
                label,
            )
        else:
            log.warning("no training pair has the `negative_label` %r: there are no hard negatives", label)
