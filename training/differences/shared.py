"""The sets of pairs that all runs of two encoders scored, pair by pair."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from features.metrics.bootstrap import Bootstrap
from training.evaluation.bootstrap import Difference, compare
from training.evaluation.items import Aligned, Scale, ScoredPairs, align
from training.evaluation.run import read_evaluation
from training.evaluation.suites import scored_suites


@dataclass(frozen=True, slots=True)
class BothScores:
    """Scores of both encoders on the same pairs, None where undefined, and b minus a with its interval over pairs."""

    pairs: int
    a: float | None
    b: float | None
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class SharedSet:
    """A set of pairs that all runs scored."""

    suite: str  # title of the suite that scored it
    name: str  # of the set
    texts: Sequence[tuple[str, str]]  # both sentences of each pair, (n_pairs,)
    scored: Aligned  # scores of all runs, those of A before those of B, and the expected values
    runs_of_a: int  # number of runs of A
    scales: tuple[Scale | None, Scale | None]  # of A and of B; None for a side whose runs differ

    @property
    def is_judged(self) -> bool:
        """Whether pairs are judged as positive or negative; otherwise they are rated."""
        return self.scored.scored_by == "auroc"

    @property
    def by_probability(self) -> bool:
        """Whether both sides' scores are probabilities, so that these are the places of the pairs."""
        return self.scales == ("probability", "probability")

    @property
    def expected(self) -> NDArray[np.float64]:
        """Human rating of each pair, or judgement as 1 or 0, (n_pairs,)."""
        assert self.scored.expected is not None  # noqa: S101 - pairs are always scored against something
        return self.scored.expected

    def sides(self, columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean of A's runs and that of B's, from (…, n_runs), those of A first."""
        return columns[..., : self.runs_of_a].mean(axis=-1), columns[..., self.runs_of_a :].mean(axis=-1)

    def score(self, rows: NDArray[np.int64], bootstrap: Bootstrap) -> BothScores:
        """Return the score of both on the pairs at `rows`: Spearman's correlation, or AUROC where they are judged."""
        some = self.scored.take(rows)
        a, b = map(float, self.sides(some.scores()))
        if np.isnan(a) or np.isnan(b):
            return BothScores(len(rows), None if np.isnan(a) else a, None if np.isnan(b) else b, None)
        drawn = some.draw(bootstrap)
        before, after = self.sides(drawn.draws)
        return BothScores(len(rows), a, b, compare(after, before, bootstrap, drawn.items))


def shared_sets(a: Sequence[Path], b: Sequence[Path]) -> list[SharedSet]:
    """Return the sets of pairs that all runs of both encoders, given by their folders, scored, suite by suite.

    Judged pairs that were also scored as rated ones, with two ratings, are included once.
    """
    runs = [
        {
            (suite.title, pairs.scores.name): pairs
            for suite, result in scored_suites(read_evaluation(folder))
            for pairs in suite.pairs(folder, result)
        }
        for folder in (*a, *b)
    ]
    every = [
        shared
        for key in runs[0]
        if all(key in run for run in runs) and (shared := _shared(*key, [run[key] for run in runs], len(a))) is not None
    ]
    judged = [set(shared.texts) for shared in every if shared.is_judged]
    return [
        shared
        for shared in every
        if shared.is_judged or len(set(shared.expected)) != 2 or set(shared.texts) not in judged
    ]


def _shared(suite: str, name: str, runs: Sequence[ScoredPairs], runs_of_a: int) -> SharedSet | None:
    aligned = align([run.scores for run in runs])
    if aligned is None:
        return None
    texts = dict(zip(runs[0].scores.items, runs[0].texts, strict=True))
    scales = [{run.scale for run in side} for side in (runs[:runs_of_a], runs[runs_of_a:])]
    first, second = (side.pop() if len(side) == 1 else None for side in scales)
    return SharedSet(suite, name, [texts[item] for item in aligned.items], aligned, runs_of_a, (first, second))
