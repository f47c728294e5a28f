"""Two encoders side by side: the same scores on the same items, and whether they differ by more than chance.

    one run each         items are resampled with replacement, the same for both   (paired bootstrap, `bootstrap`)
    several seeds each   mean ± standard deviation over seeds; Welch's t-test of the two means
    one against several  a difference without a verdict

Suites that keep single items (`Suite.items`) are scored again on the items that all runs have in common: evaluations
of different releases or sets would compare different questions. Where an item's value depends on the rest of the data,
as the rank of a neighbour does, evaluations of different data are not compared. For other suites, the numbers of the
evaluations are used where these are on the same data; single runs get no verdict there.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from features.core.errors import InputError
from features.metrics.bootstrap import Bootstrap
from training.evaluation.bootstrap import Difference, Verdict, compare
from training.evaluation.items import Aligned, ItemScores, align
from training.evaluation.run import read_evaluation
from training.evaluation.seen import tell_use, uses_of
from training.evaluation.suites import Result, Suite, scored_suites

Basis = Literal["items", "seeds", "nothing"]
"""What a verdict is based on."""
_SIGNIFICANT = 0.05
_EQUAL = 1e-9
"""Scores of seeds that differ by less are equal: the rest is rounding."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One score over the runs of a side.

    Args:
        mean: over the runs; None where a run has none.
        deviation: standard deviation over the runs, with n - 1; None for a single run.
    """

    mean: float | None
    deviation: float | None


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """One score of both sides.

    Args:
        suite: name of the suite.
        measure: what its scores are, such as Spearman.
        name: of the score.
        items: number of items it was computed on; None where it was taken from the evaluations.
        unit: what an item is, in the plural.
        a: score of the first side.
        b: score of the second side.
        difference: b minus a, with the ends of its 95 % interval; None where there is none.
        p: of Welch's test; None where no test was made.
    """

    suite: str
    measure: str
    name: str
    items: int | None
    unit: str
    a: Spread
    b: Spread
    difference: Difference | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides.

    Args:
        runs: number of runs of each side.
        basis: of the verdicts.
        scores: scores that both sides have.
        left_out: name of a score or a suite → why it was not compared.
        same_items: names of the suites whose scores are all on the same items.
        caveats: which side was trained or chosen on data that it is scored on, a sentence each.
    """

    runs: tuple[int, int]
    basis: Basis
    scores: tuple[ComparedScore, ...]
    left_out: Mapping[str, str]
    same_items: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


def compare_runs(a: Sequence[Path], b: Sequence[Path], bootstrap: Bootstrap | None = None) -> Comparison:
    """Compare the evaluated runs of two sides.

    Args:
        a: folders of the evaluations of the first side.
        b: of the second.
        bootstrap: how items are drawn; by default as in an evaluation.

    Raises:
        InputError: when they have no score in common, or an evaluation cannot be read.
    """
    basis: Basis = "nothing"
    if len(a) == len(b) == 1:
        basis = "items"
    elif min(len(a), len(b)) > 1:
        basis = "seeds"
    sides = _Sides((len(a), len(b)), basis, bootstrap or Bootstrap())
    folders = [*a, *b]
    evaluations = [
        {suite.name: (suite, result) for suite, result in scored_suites(read_evaluation(folder))} for folder in folders
    ]
    found: list[ComparedScore] = []
    left_out: dict[str, str] = {}
    same: list[str] = []
    used: dict[tuple[str, str], set[str]] = {}
    for name in dict.fromkeys(name for evaluation in evaluations for name in evaluation):
        known = [evaluation[name] for evaluation in evaluations if name in evaluation]
        if len(known) < len(evaluations):
            left_out[name] = "not every run has a score for it"
            continue
        suite, results = known[0][0], [result for _, result in known]
        items = [
            {(score.name, score.measure): score for score in suite.items(*of)}
            for of in zip(folders, results, strict=True)
        ]
        if all(items):
            of_suite = _by_items(suite, items, sides, left_out)
            found += of_suite.scores
            same += [name] if of_suite.same_items else []
        else:
            found += _by_numbers(suite, results, sides, left_out)
        if any(score.suite == name for score in found):
            for place, result in enumerate(results):
                for use in uses_of(result):
                    used.setdefault(use, set()).add("A" if place < len(a) else "B")
    if not found:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        why = f" ({reasons})" if reasons else ""
        raise InputError(f"The encoders have no score in common{why}; evaluate all of them on one release and split.")
    caveats = tuple(tell_use(*use, sorted(of)) for use, of in used.items())
    return Comparison(sides.runs, basis, tuple(found), left_out, tuple(same), caveats)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A score of two runs in each draw of their items.

    Args:
        scores: (resamples, 2).
        items: number of items, or groups of them, that a draw takes, of the smallest set.
        differ: number of items, or groups of them, in which the two runs differ.
        mean: whether the score is the mean of items.
    """

    scores: NDArray[np.float64]
    items: int
    differ: int
    mean: bool

    @classmethod
    def average(cls, several: "Sequence[_Drawn]") -> Self:
        """Return the mean of several scores.

        Scores of the same items are drawn together; those of sets of their own are independent in every draw.
        """
        return cls(
            scores=np.mean([each.scores for each in several], axis=0),
            items=min(each.items for each in several),
            differ=sum(each.differ for each in several),
            mean=all(each.mean for each in several),
        )


@dataclass(frozen=True, slots=True)
class _Sides:
    """The number of runs of each side, and how they are judged."""

    runs: tuple[int, int]
    basis: Basis
    bootstrap: Bootstrap

    def draw(self, aligned: Aligned) -> _Drawn | None:
        """Return a score in each draw of its items; None where items are not the basis."""
        if self.basis != "items":
            return None
        draws = aligned.draws(self.bootstrap)
        return _Drawn(draws, aligned.drawn, aligned.differing, mean=aligned.expected is None)

    def judge(
        self,
        suite: type[Suite],
        name: str,
        scores: NDArray[np.float64],
        drawn: _Drawn | None = None,
        *,
        items: int | None = None,
        unit: str = "",
        measure: str = "",
    ) -> ComparedScore:
        """Return one score of both sides.

        Args:
            suite: of the score.
            name: of the score.
            scores: of the runs of the first side and then of the second, (n_runs,); NaN where undefined.
            drawn: those of the two runs in each draw, where items are the basis.
            items: number of items it was computed on.
            unit: what an item is.
            measure: of the score, where it is not that of the suite.
        """
        a, b = scores[: self.runs[0]], scores[self.runs[0] :]
        difference, p = None, None
        if not np.isnan(scores).any():
            if drawn is not None:
                first, second = drawn.scores.T
                difference = compare(second, first, self.bootstrap, drawn.items, mean=drawn.mean, differ=drawn.differ)
            elif self.basis == "seeds":
                difference, p = _welch(a, b)
        measured = measure or suite.measure
        return ComparedScore(suite.name, measured, name, items, unit, _spread(a), _spread(b), difference, p)


@dataclass(frozen=True, slots=True)
class _OfSuite:
    """The scores of a suite on common items.

    Args:
        scores: with their mean, where the suite has one.
        same_items: whether all of them are on the same items.
    """

    scores: tuple[ComparedScore, ...]
    same_items: bool


def _by_items(
    suite: type[Suite], runs: Sequence[Mapping[tuple[str, str], ItemScores]], sides: _Sides, left_out: dict[str, str]
) -> _OfSuite:
    """Return the scores of a suite on common items, and their mean where the suite has one.

    Args:
        suite: of the scores.
        runs: (name, measure) → items of each run.
        sides: how many runs each side has.
        left_out: name of a score → why it was not compared; extended here.
    """
    judged: list[ComparedScore] = []
    averaged: list[tuple[_Common, _Drawn | None]] = []
    every = set[tuple[str, ...]]()
    for common in _in_common(suite, runs, left_out):
        items, scores, drawn = common.aligned.items, common.aligned.scores(), sides.draw(common.aligned)
        every.add(tuple(items))
        judged.append(
            sides.judge(suite, common.name, scores, drawn, items=len(items), unit=common.unit, measure=common.measure)
        )
        if not common.measure and np.isnan(scores).any():
            left_out[f"{suite.name} {common.name}"] = "it is undefined, and not part of the mean"
        elif not common.measure:
            averaged.append((common, drawn))
    if suite.mean and len(averaged) > 1:
        means = np.mean([common.aligned.scores() for common, _ in averaged], axis=0)
        draws = [drawn for _, drawn in averaged if drawn is not None]
        count = sum(map(len, {tuple(common.aligned.items) for common, _ in averaged}))
        mean = _Drawn.average(draws) if draws else None
        judged.append(sides.judge(suite, suite.mean, means, mean, items=count, unit=averaged[-1][0].unit))
    return _OfSuite(tuple(judged), len(every) == 1)


@dataclass(frozen=True, slots=True)
class _Common:
    """A score of all runs on the items that they have in common.

    Args:
        name: of the score.
        measure: of the score, where it is not that of its suite.
        unit: what an item is, in the plural.
        aligned: the items.
    """

    name: str
    measure: str
    unit: str
    aligned: Aligned


def _in_common(
    suite: type[Suite], runs: Sequence[Mapping[tuple[str, str], ItemScores]], left_out: dict[str, str]
) -> Iterator[_Common]:
    """Yield the scores of a suite that all runs have, on common items; arguments as for `_by_items`."""
    for name, measure in dict.fromkeys(key for run in runs for key in run):
        called = f"{suite.name} {name}{f', {measure}' if measure else ''}"
        known = [run[name, measure] for run in runs if (name, measure) in run]
        if len(known) < len(runs):
            left_out[called] = "not every run has it"
            continue
        aligned = align(known) if len({scores.depends_on for scores in known}) == 1 else None
        if aligned is None:
            what = known[0].unit if not known[0].depends_on else "data"
            left_out[called] = f"the runs were evaluated on different {what}"
            continue
        yield _Common(name, measure, known[0].unit, aligned)


def _by_numbers(
    suite: type[Suite], results: Sequence[Result], sides: _Sides, left_out: dict[str, str]
) -> Iterator[ComparedScore]:
    """Yield the headline numbers of a suite, as the evaluations found them."""
    numbers = [suite.headline(result) for result in results]
    if not all(suite.same_data(results[0], other) for other in results[1:]):
        left_out[suite.name] = "the runs were evaluated on different data"
        return
    for name in dict.fromkeys(name for of in numbers for name in of):
        values = [of.get(name) for of in numbers]
        yield sides.judge(suite, name, np.array([np.nan if value is None else value for value in values]))


def _welch(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[Difference | None, float | None]:
    """Return how the mean of b differs from that of a, by Welch's t-test; None where all seeds score the same."""
    from scipy import stats

    if max(np.ptp(a), np.ptp(b)) < _EQUAL:
        return None, None
    with warnings.catch_warnings():  # if the seeds of one side score the same, the other's have the variance
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        test = stats.ttest_ind(b, a, equal_var=False)
    ends = test.confidence_interval(1 - _SIGNIFICANT)
    verdict: Verdict = "above" if ends.low > 0 else "below" if ends.high < 0 else "unclear"
    return Difference(float(ends.low), float(ends.high), verdict), float(test.pvalue)


def _spread(scores: NDArray[np.float64]) -> Spread:
    if np.isnan(scores).any():
        return Spread(None, None)
    return Spread(float(scores.mean()), float(scores.std(ddof=1)) if len(scores) > 1 else None)
