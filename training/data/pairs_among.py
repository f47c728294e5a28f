"""Which pairs are measured among the sentences of a batch: each sentence is encoded once for all its pairs."""

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


class PairsAmong:
    """Finds the pairs whose two sentences are both among some sentences.

    Args:
        first: sentences a of all pairs, (n_pairs,).
        second: sentences b.
        pairs: the pairs to find, (n,).
    """

    def __init__(self, first: Positions, second: Positions, pairs: Positions) -> None:
        self._pairs = pairs[np.argsort(first[pairs], kind="stable")]
        self._second = second[self._pairs]
        count = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
        self._starts = np.searchsorted(first[self._pairs], np.arange(count + 1))
        self._inside = np.zeros(count, dtype=np.bool_)

    def find(self, sentences: Positions) -> Positions:
        """Return the pairs among some sentences, each once, (n_found,), ascending.

        Args:
            sentences: positions of the sentences, each once, (n,).
        """
        self._inside[sentences] = True
        starts, stops = self._starts[sentences], self._starts[sentences + 1]
        rows = np.concatenate([np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)])
        chosen = self._pairs[rows[self._inside[self._second[rows]]]]
        self._inside[sentences] = False
        return np.sort(chosen)
