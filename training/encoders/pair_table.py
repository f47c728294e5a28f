"""Judged pairs of a split as a step takes them: positions of their sentences, and numbers of their labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.data.labelled_pairs import LabelledPairs
from training.loop.batches import epoch_batches
from training.loop.settings import LoopSettings

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of a step, by their positions."""

    first: Positions  # sentences a, (b,)
    second: Positions  # sentences b, (b,)
    targets: Positions  # number of each pair's label among those of the classifier; -1 for none, (b,)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def sentences(self) -> Positions:
        """All sentences: a, then b."""
        return np.concatenate([self.first, self.second])


class PairTable:
    """The pairs of one split, as a step takes them; settings of a kind with the labels of the classifier."""

    def __init__(self, data: LabelledPairs, split: str, settings: Any) -> None:
        of_split = (data.pairs["split"] == split).to_numpy()
        self.first, self.second = data.first[of_split], data.second[of_split]
        self.targets = data.targets(settings.labels)[of_split]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)

    def batch(self, pairs: Positions) -> Batch:
        """Return the pairs at some positions as a batch."""
        return Batch(self.first[pairs], self.second[pairs], self.targets[pairs])

    def order(self, lengths: NDArray[np.int64], loop: LoopSettings, epoch: int) -> list[Positions]:
        """Return which pairs are in each batch of an epoch (from 0), by the tokens of each sentence, (n_texts,)."""
        longer = np.maximum(lengths[self.first], lengths[self.second])
        alone = np.arange(len(self), dtype=np.int64)
        return epoch_batches(alone, longer, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)
