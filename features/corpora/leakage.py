"""The guard against evaluation sentences in training data.

Sentences are compared without case and punctuation (`features.sentences.leakage_key`): captions and inference data
contain sentences of the test sets of STSb and SICK that differ only in punctuation.
"""

from collections.abc import Mapping
from pathlib import Path

from features.core.types import Split
from features.corpora.reading import evaluation_outcomes
from features.corpora.rows import PairRow, TextRow
from features.corpora.settings import LeakageSettings
from features.sentences import leakage_key

TRAINING_SPLITS: tuple[Split, ...] = ("train",)
"""Splits that must not contain a sentence of an evaluation set."""


class LeakageGuard:
    """Knows the sentences of the evaluation sets.

    Args:
        sets_of: names of the sets that contain a sentence, by its leakage key.
    """

    def __init__(self, sets_of: Mapping[str, tuple[str, ...]]) -> None:
        self._sets_of = sets_of

    @classmethod
    def from_settings(cls, settings: LeakageSettings, base: Path) -> "LeakageGuard":
        """Read the evaluation sets, except what classifiers are trained on.

        Pairs that were not rated do not count in an evaluation, nor here.

        Raises:
            InputError: an evaluation set cannot be read, or a row of it is wrong.
        """
        sets_of: dict[str, tuple[str, ...]] = {}
        for evaluation in settings.evaluation:
            for outcome in evaluation_outcomes(evaluation, base, held_out=True):
                if isinstance(outcome, PairRow | TextRow):
                    texts = (outcome.text,) if isinstance(outcome, TextRow) else (outcome.text_a, outcome.text_b)
                    for text in texts:
                        key = leakage_key(text)
                        # A sentence of punctuation only has an empty key, and would match all others like it.
                        if key and evaluation.name not in sets_of.get(key, ()):
                            sets_of[key] = (*sets_of.get(key, ()), evaluation.name)
        return cls(sets_of)

    def sets_with(self, text: str) -> tuple[str, ...]:
        """Return the names of the evaluation sets that contain a sentence."""
        return self._sets_of.get(leakage_key(text), ()) if self._sets_of else ()
