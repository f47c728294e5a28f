"""The guard against evaluation sentences in training data, which counts what it finds.

Sentences are compared without case and punctuation (`features.sentences.leakage_key`): captions and inference data
contain sentences of the test sets of STSb and SICK that differ only in punctuation.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import SentenceId, Split
from features.corpora.reading import evaluation_outcomes
from features.corpora.rows import PairRow, TextRow
from features.corpora.settings import LeakageSettings
from features.ingest.report import LeakReport, SplitReport
from features.sentences import leakage_key


class LeakageGuard:
    """Finds leaked pairs and texts in the splits `train`, and counts them by corpus, split and evaluation set.

    Guarded are the evaluation sets, except what classifiers are trained on, and pairs that were not rated.
    """

    def __init__(self, settings: LeakageSettings, base: Path) -> None:
        self.drops = settings.mode == "drop"  # whether leaked rows are kept out
        self._sets_of: dict[str, tuple[str, ...]] = {}  # leakage key of a sentence → names of the sets with it
        self._rows: Counter[tuple[str, Split, str]] = Counter()
        self._sentences: dict[tuple[str, Split, str], set[SentenceId]] = {}
        for evaluation in settings.evaluation:
            for outcome in evaluation_outcomes(evaluation, base, held_out=True):
                if isinstance(outcome, PairRow | TextRow):
                    texts = (outcome.text,) if isinstance(outcome, TextRow) else (outcome.text_a, outcome.text_b)
                    for key in map(leakage_key, texts):
                        # A sentence of punctuation only has an empty key, and would match all others like it.
                        if key and evaluation.name not in self._sets_of.get(key, ()):
                            self._sets_of[key] = (*self._sets_of.get(key, ()), evaluation.name)

    @property
    def has_sets(self) -> bool:
        """Whether there is anything to guard."""
        return bool(self._sets_of)

    def leaking(self, texts: pl.Series) -> NDArray[np.bool_]:
        """Return which normalised texts are those of an evaluation sentence, (n_texts,)."""
        keys = texts.str.to_lowercase().str.replace_all("[^a-z0-9_]+", " ").str.strip_chars(" ")
        others = texts.str.contains(r"[^\x00-\x7f]").arg_true()
        keys = keys.scatter(others, [leakage_key(text) for text in texts.gather(others).to_list()])
        return keys.is_in(pl.Series(list(self._sets_of)).implode()).to_numpy()

    def sets_with(self, text: str) -> tuple[str, ...]:
        """Return the names of the evaluation sets that contain a sentence."""
        return self._sets_of.get(leakage_key(text), ()) if self._sets_of else ()

    def leaks(self, report: SplitReport, *sentences: tuple[SentenceId, str]) -> str | None:
        """Count the row for each set that has one of its sentences; return such a sentence and the sets, in words."""
        if report.split != "train" or not self._sets_of:
            return None
        words = None
        hit: set[str] = set()
        for sentence, text in sentences:
            sets = self.sets_with(text)
            for name in sets:
                hit.add(name)
                self._sentences.setdefault((report.corpus, report.split, name), set()).add(sentence)
            if sets and words is None:
                words = f"{text!r} is a sentence of {', '.join(sets)}"
        self._rows.update((report.corpus, report.split, name) for name in hit)
        return words

    def reports(self) -> list[LeakReport]:
        """Return the counts."""
        return [
            LeakReport(corpus=key[0], split=key[1], evaluation=key[2], pairs=pairs, sentences=len(self._sentences[key]))
            for key, pairs in sorted(self._rows.items())
        ]
