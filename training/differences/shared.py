"""The sets of pairs that all runs of two encoders scored, and the pairs that they place differently.

    place, 0 to 100          A     B    people      moved
    a cat / a dog           80    30      20        + 50: |80 − 20| − |30 − 20|, towards people
    he ran / she ran        55    70      50        − 15: |55 − 50| − |70 − 50|, away from them

The **place** of a pair is the share of the pairs of its set that score lower, plus half of the ties: this is what
Spearman's correlation and AUROC use, so that the scales of the encoders do not matter. Where classifiers scored both
sides, the place is the probability itself. The human place of a judged pair is 1 or 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from features.metrics.bootstrap import Bootstrap
from training.evaluation.bootstrap import Difference, compare
from training.evaluation.items import Aligned, Scale, align
from training.evaluation.run import read_evaluation
from training.evaluation.suites import scored_suites

SHOWN = 5
"""Pairs shown for each direction."""
_NOTHING = 1e-9
"""Moves up to this size are rounding errors."""


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
        a, b = (None if np.isnan(score) else float(score) for score in self.sides(some.scores()))
        if a is None or b is None:
            return BothScores(len(rows), a, b, None)
        drawn = some.draw(bootstrap)
        before, after = self.sides(drawn.draws)
        return BothScores(len(rows), a, b, compare(after, before, drawn.bootstrap))


def shared_sets(a: Sequence[Path], b: Sequence[Path]) -> list[SharedSet]:
    """Return the sets of pairs that all runs of both encoders, given by their folders, scored, suite by suite.

    Judged pairs that were also scored as rated ones, with two ratings, are included once.
    """
    runs = [
        {
            (suite.title, scores.name): scores
            for suite, result in scored_suites(read_evaluation(folder))
            for scores in suite.items(folder, result)
            if scores.texts
        }
        for folder in (*a, *b)
    ]
    every = []
    for key in (key for key in runs[0] if all(key in run for run in runs)):
        of_runs = [run[key] for run in runs]
        if (aligned := align(of_runs)) is None:
            continue
        texts = dict(zip(of_runs[0].items, of_runs[0].texts, strict=True))
        scales = [{run.scale for run in side} for side in (of_runs[: len(a)], of_runs[len(a) :])]
        first, second = (side.pop() if len(side) == 1 else None for side in scales)
        every.append(SharedSet(key[0], [texts[item] for item in aligned.items], aligned, len(a), (first, second)))
    judged = [set(shared.texts) for shared in every if shared.is_judged]
    return [
        shared
        for shared in every
        if shared.is_judged or len(set(shared.expected)) != 2 or set(shared.texts) not in judged
    ]


@dataclass(frozen=True, slots=True)
class Moves:
    """The places of a set's pairs, (n_pairs,), in [0, 1]: by A and by B, means over their runs, and by people."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    wanted: NDArray[np.float64]

    @property
    def gains(self) -> NDArray[np.float64]:
        """How much closer to the human place B puts each pair than A, (n_pairs,), in [-1, 1]."""
        return np.abs(self.before - self.wanted) - np.abs(self.after - self.wanted)

    def towards(self) -> list[int]:
        """Return the pairs that moved most towards people, the furthest first."""
        return self.furthest(np.flatnonzero(self.gains > _NOTHING))

    def furthest(self, rows: Iterable[int]) -> list[int]:
        """Return which of some pairs, by their positions, moved most in either direction, the furthest first."""
        sizes = np.abs(self.gains)
        return sorted(map(int, rows), key=lambda row: -sizes[row])[:SHOWN]

    def away(self) -> list[int]:
        """Return the pairs that moved most away from people, the furthest first."""
        return self.furthest(np.flatnonzero(self.gains < -_NOTHING))


def move(shared: SharedSet) -> Moves:
    """Return the places of a set's pairs by both encoders."""
    predicted = shared.scored.predicted
    columns = predicted if shared.by_probability else np.stack([places(column) for column in predicted.T], axis=1)
    before, after = shared.sides(columns)
    wanted = shared.expected if shared.is_judged else places(shared.expected)
    return Moves(before, after, wanted)


def places(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value the share of values that are lower, plus half of the ties, (n,), in (0, 1).

    >>> places([0.2, 0.9, 0.2, 0.5]).tolist()
    [0.25, 0.875, 0.25, 0.625]
    """
    from scipy.stats import rankdata  # here: it takes over a second to import

    return np.asarray((rankdata(values) - 0.5) / len(values), dtype=np.float64)
