"""The guard against evaluation sentences in training data.

Sentences are compared without case and punctuation (`features.sentences.leakage_key`): captions and inference data
contain sentences of the test sets of STSb and SICK that differ only in punctuation.
"""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import Split
from features.corpora.reading import PairRow, TextRow, evaluation_outcomes
from features.corpora.settings import LeakageSettings
from features.sentences import leakage_key


class LeakageGuard:
    """Finds leaked pairs and texts in the splits `train`.

    Guarded are the evaluation sets, except what classifiers are trained on, and pairs that were not rated.
    """

    def __init__(self, settings: LeakageSettings, base: Path) -> None:
        self.drops = settings.mode == "drop"  # whether leaked rows are kept out
        self._sets_of: dict[str, tuple[str, ...]] = {}  # leakage key of a sentence → names of the sets with it
        for evaluation in settings.evaluation:
            for outcome in evaluation_outcomes(evaluation, base, held_out=True):
                if isinstance(outcome, PairRow | TextRow):
                    texts = (outcome.text,) if isinstance(outcome, TextRow) else (outcome.text_a, outcome.text_b)
                    for key in map(leakage_key, texts):
                        # A sentence of punctuation only has an empty key, and would match all others like it.
                        if key and evaluation.name not in self._sets_of.get(key, ()):
                            self._sets_of[key] = (*self._sets_of.get(key, ()), evaluation.name)

    def leaking(self, texts: pl.Series) -> NDArray[np.bool_]:
        """Return which normalised texts are those of an evaluation sentence, (n_texts,)."""
        if not self._sets_of:
            return np.zeros(len(texts), np.bool_)
        keys = texts.str.to_lowercase().str.replace_all("[^a-z0-9_]+", " ").str.strip_chars(" ")
        others = texts.str.contains(r"[^\x00-\x7f]").arg_true()
        keys = keys.scatter(others, [leakage_key(text) for text in texts.gather(others).to_list()])
        return keys.is_in(pl.Series(list(self._sets_of)).implode()).to_numpy()

    def leaks(self, split: Split, *texts: str) -> str | None:
        """Return a sentence of a row that evaluation sets have, and these sets, in words; None if it leaks nothing."""
        for text in texts if split == "train" and self._sets_of else ():
            if sets := self._sets_of.get(leakage_key(text)):
                return f"{text!r} is a sentence of {', '.join(sets)}"
        return None
