"""Which sense a lemma gets: among those seen in training, else among those of its frame, else none."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.vocabulary import Vocabulary

_PRIOR_WEIGHT = 0.5
_FIRST = "01"


class SenseChooser:
    """Chooses senses by the network's scores.

    Args:
        vocabulary: vocabulary with the senses seen in training, and the frames.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._open = {lemma: self._among_seen(lemma) for lemma in vocabulary.seen}

    @cached_property
    def lemmas(self) -> set[str]:
        """Every lemma that training or the frame inventory knows."""
        return {*self._vocabulary.seen, *self._vocabulary.frames}

    def choose(self, lemma: str, scores: NDArray[np.float32]) -> str:
        """Return the sense of a lemma; empty for none.

        Args:
            lemma: lemma of the concept.
            scores: scores of the senses, shape (n_senses,).
        """
        choices = self._open.get(lemma)
        if choices:
            if len(choices) == 1:
                return choices[0][0]
            return max((float(scores[column]) + prior, sense) for sense, column, prior in choices)[1]
        best = self._vocabulary.senses[int(scores.argmax())]
        senses = self._vocabulary.frames.get(lemma)
        if senses is None:
            return "" if self._vocabulary.frames or best != _FIRST else best
        if not best or best in senses:
            return best
        known = [sense for sense in senses if sense in self._vocabulary.sense_ids]
        return max(known, key=lambda sense: float(scores[self._vocabulary.sense_ids[sense]]), default=_FIRST)

    def _among_seen(self, lemma: str) -> list[tuple[str, int, float]]:
        """Return the senses that a lemma was seen with: sense, its column, and the bonus for its frequency."""
        ids = self._vocabulary.sense_ids
        counts = self._vocabulary.seen[lemma]
        return [
            (sense, ids[sense], _PRIOR_WEIGHT * float(np.log(count))) for sense, count in counts.items() if sense in ids
        ]
