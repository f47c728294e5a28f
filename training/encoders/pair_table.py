"""Judged pairs of a split as a step takes them: positions of their sentences, and numbers of their labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from training.loop.batches import epoch_batches

if TYPE_CHECKING:
    from training.data.labelled_pairs import LabelledPairs
    from training.loop.settings import LoopSettings

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of a step, by their positions.

    Args:
        first: sentences a, (b,).
        second: sentences b, (b,).
        targets: number of each pair's label among those of the classifier; -1 for none, (b,).
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
        split: split of the pairs.
        labels: labels of the classifier.
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
            loop: settings with batch size and seed.
            epoch: from 0.
        """
        longer = np.maximum(lengths[self.first], lengths[self.second])
        alone = np.arange(len(self), dtype=np.int64)
        return epoch_batches(alone, longer, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)
