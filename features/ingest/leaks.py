"""Leakage during an ingest: pairs with a sentence of an evaluation set, counted by corpus, split and set."""

from collections import Counter

from features.core.types import SentenceId, Split
from features.corpora.leakage import TRAINING_SPLITS, LeakageGuard
from features.ingest.report import LeakReport, SplitReport


class LeakCounter:
    """Finds leaked pairs and counts them.

    Args:
        guard: knows the sentences of the evaluation sets.
        drops: whether leaked pairs are kept out.
    """

    def __init__(self, guard: LeakageGuard, *, drops: bool) -> None:
        self._guard = guard
        self._sets_of: dict[SentenceId, tuple[str, ...]] = {}
        self.drops = drops
        self._pairs: Counter[tuple[str, Split, str]] = Counter()
        self._sentences: dict[tuple[str, Split, str], set[SentenceId]] = {}

    def leaks(self, report: SplitReport, *sentences: tuple[SentenceId, str, bool]) -> str | None:
        """Count the pair for each set that has one of its sentences; return such a sentence and the sets, in words."""
        if report.split not in TRAINING_SPLITS:
            return None
        words = None
        hit: set[str] = set()
        for sentence, text, _ in sentences:
            sets = self._sets_of.get(sentence)
            if sets is None:
                sets = self._sets_of[sentence] = self._guard.sets_with(text)
            for name in sets:
                hit.add(name)
                self._sentences.setdefault((report.corpus, report.split, name), set()).add(sentence)
            if sets and words is None:
                words = f"{text!r} is a sentence of {', '.join(sets)}"
        for name in hit:
            self._pairs[report.corpus, report.split, name] += 1
        return words

    def reports(self) -> list[LeakReport]:
        """Return the counts by corpus, split and evaluation set."""
        return [
            LeakReport(corpus=key[0], split=key[1], evaluation=key[2], pairs=pairs, sentences=len(self._sentences[key]))
            for key, pairs in sorted(self._pairs.items())
        ]
