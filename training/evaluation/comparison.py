"""Two encoders side by side: the same scores on the same items, and whether they differ by more than chance.

    one run each         items are resampled with replacement, the same for both   (paired bootstrap, `bootstrap`)
    several seeds each   mean ± standard deviation over seeds; Welch's t-test of the two means
    one against several  a difference without a verdict

Suites that keep single items (`Suite.items`) are scored again on the items that all runs have in common: evaluations
of different releases or sets would compare different questions. Where an item's value depends on the rest of the data,
as the rank of a neighbour does, evaluations of different data are not compared. Other suites are not compared.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from features.core.faults import ScoredDifferently
from features.core.pages import UNDEFINED, tell
from features.metrics.bootstrap import Bootstrap
from training.evaluation.bootstrap import Difference, Drawn, verdict
from training.evaluation.items import Aligned, ItemScores, align
from training.evaluation.run import read_evaluation
from training.evaluation.seen import uses_of
from training.evaluation.suites import Suite, scored_suites
from training.evaluation.tables import NOTES, ScoreTable, hundred

_Items = Mapping[tuple[str, str], ItemScores]  # name and measure of a score of a run → its items
Basis = Literal["items", "seeds", "nothing"]
"""What a verdict is based on."""
_SIGNIFICANT = 0.05
_EQUAL = 1e-9
"""Scores of seeds that differ by less are equal: the rest is rounding."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One score over the runs of a side: mean, None where a run has none, and standard deviation, with n - 1."""

    mean: float | None
    deviation: float | None


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """One score of both sides."""

    suite: str  # name of the suite
    measure: str  # what its scores are, such as Spearman
    name: str  # of the score
    items: int  # number of items it was computed on
    unit: str  # what an item is, in the plural
    a: Spread  # score of the first side
    b: Spread  # score of the second side
    difference: Difference | None  # b minus a, with the ends of its 95 % interval; None where there is none
    p: float | None  # of Welch's test; None where no test was made


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scores of two sides, and which of them differ."""

    runs: tuple[int, int]  # number of runs of each side
    basis: Basis  # of the verdicts
    scores: tuple[ComparedScore, ...]  # scores that both sides have
    left_out: Mapping[str, str]  # name of a score or a suite → why it was not compared
    same_items: tuple[str, ...] = ()  # names of the suites whose scores are all on the same items
    caveats: tuple[str, ...] = ()  # which side was trained or chosen on data that it is scored on, a sentence each


def compare_runs(a: Sequence[Path], b: Sequence[Path], bootstrap: Bootstrap | None = None) -> Comparison:
    """Compare the evaluated runs of two sides, given by their folders; by default drawing as an evaluation does."""
    basis: Basis = "items" if len(a) == len(b) == 1 else "seeds" if min(len(a), len(b)) > 1 else "nothing"
    sides = _Sides((len(a), len(b)), basis, bootstrap or Bootstrap())
    folders = [*a, *b]
    evaluations = [
        {suite.name: (suite, result) for suite, result in scored_suites(read_evaluation(folder))} for folder in folders
    ]
    scores: list[ComparedScore] = []
    same: list[str] = []
    used: dict[tuple[str, str], set[str]] = {}
    for name in dict.fromkeys(name for evaluation in evaluations for name in evaluation):
        if not all(name in evaluation for evaluation in evaluations):
            sides.left_out[name] = "not every run has a score for it"
            continue
        suite, results = evaluations[0][name][0], [evaluation[name][1] for evaluation in evaluations]
        items = [
            {(score.name, score.measure): score for score in suite.items(*of_run)}
            for of_run in zip(folders, results, strict=True)
        ]
        of_suite, same_items = sides.by_items(suite, items)
        same += [name] if same_items else []
        scores += of_suite
        for position, result in enumerate(results) if of_suite else ():
            for use in uses_of(result):
                used.setdefault(use, set()).add("A" if position < len(a) else "B")
    if not scores:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in sides.left_out.items())
        why = f" ({reasons})" if reasons else ""
        raise ScoredDifferently(
            f"The encoders have no score in common{why}: a run is scored on its own release and on the sets under "
            "[[evaluation]]. Compare runs of one release and split, or name such sets and evaluate again."
        )
    caveats = tuple(tell(NOTES, "use", *use, sorted(by)) for use, by in used.items())
    return Comparison(sides.runs, basis, tuple(scores), sides.left_out, tuple(same), caveats)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The number of runs of each side, how they are judged, and what was left out, with the reason."""

    runs: tuple[int, int]
    basis: Basis
    bootstrap: Bootstrap
    left_out: dict[str, str] = field(default_factory=dict)

    def judge(
        self, suite: type[Suite], like: Aligned, scores: NDArray[np.float64], drawn: Drawn | None
    ) -> ComparedScore:
        """Return one score of both sides, from those of the runs of A and then of B, (n_runs,); NaN if undefined."""
        a, b = scores[: self.runs[0]], scores[self.runs[0] :]
        difference, p = None, None
        if not np.isnan(scores).any():
            if drawn is not None:
                difference = drawn.difference(of=1, to=0)
            elif self.basis == "seeds":
                difference, p = _welch(a, b)
        about = (suite.name, like.measure or suite.measure, like.name, len(like.items), like.unit)
        return ComparedScore(*about, _spread(a), _spread(b), difference, p)

    def by_items(self, suite: type[Suite], runs: Sequence[_Items]) -> tuple[list[ComparedScore], bool]:
        """Return the scores of a suite on common items with their mean, and whether all are on the same items."""
        judged: list[ComparedScore] = []
        averaged: list[tuple[Aligned, Drawn | None]] = []
        undefined: list[str] = []
        every = set[tuple[str, ...]]()
        for aligned in self._in_common(suite, runs):
            scores = aligned.scores()
            drawn = aligned.draw(self.bootstrap) if self.basis == "items" else None
            every.add(tuple(aligned.items))
            judged.append(self.judge(suite, aligned, scores, drawn))
            if not aligned.measure and np.isnan(scores).any():
                undefined.append(f"{suite.name} {aligned.name}")
            elif not aligned.measure:
                averaged.append((aligned, drawn))
        if suite.mean and len(averaged) > 1:
            self.left_out.update(dict.fromkeys(undefined, "it is undefined, and not part of the mean"))
            means = np.mean([aligned.scores() for aligned, _ in averaged], axis=0)
            mean = Drawn.average([drawn for _, drawn in averaged if drawn is not None])
            items = [item for items in {tuple(aligned.items) for aligned, _ in averaged} for item in items]
            judged.append(self.judge(suite, replace(averaged[-1][0], name=suite.mean, items=items), means, mean))
        return judged, len(every) == 1

    def _in_common(self, suite: type[Suite], runs: Sequence[_Items]) -> Iterator[Aligned]:
        """Yield the common items of each score that all runs of a suite have."""
        for key in dict.fromkeys(key for run in runs for key in run):
            called = f"{suite.name} {', '.join(filter(None, key))}"
            scores = [run[key] for run in runs if key in run]
            if len(scores) < len(runs):
                self.left_out[called] = "not every run has it"
                continue
            aligned = align(scores) if len({score.depends_on for score in scores}) == 1 else None
            if aligned is None:
                what = scores[0].unit if not scores[0].depends_on else "data"
                self.left_out[called] = f"the runs were evaluated on different {what}"
                continue
            yield aligned


def _welch(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[Difference | None, float | None]:
    """Return how the mean of b differs from that of a, by Welch's t-test; None where all seeds score the same."""
    from scipy import stats

    if max(np.ptp(a), np.ptp(b)) < _EQUAL:
        return None, None
    with warnings.catch_warnings():  # if the seeds of one side score the same, the other's have the variance
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        test = stats.ttest_ind(b, a, equal_var=False)
    ends = test.confidence_interval(1 - _SIGNIFICANT)
    low, high = float(ends.low), float(ends.high)
    return Difference(low, high, verdict(low, high)), float(test.pvalue)


def _spread(scores: NDArray[np.float64]) -> Spread:
    if np.isnan(scores).any():
        return Spread(None, None)
    return Spread(float(scores.mean()), float(scores.std(ddof=1)) if len(scores) > 1 else None)


def comparison_table(comparison: Comparison, a: str, b: str) -> ScoreTable:
    """Return a comparison of sides with these names as a table, with the basis of its verdicts."""
    measures = {score.measure for score in comparison.scores}
    only = measures.pop() if len(measures) == 1 else None
    rows = tuple(
        (
            f"{score.suite}: {score.name.removesuffix(f' {score.measure}')}{'' if only else f', {score.measure}'}",
            _tell_spread(score.a),
            _tell_spread(score.b),
            *tell_difference(score.a.mean, score.b.mean, score.difference),
        )
        for score in comparison.scores
    )
    columns = (f"{only or 'score'} × 100", "A", "B", "B − A", "95 % interval", "B is")
    return ScoreTable(f"A: {a}, B: {b}", columns, rows, _note(comparison))


def _note(comparison: Comparison) -> str:
    scores = comparison.scores
    units = list(dict.fromkeys(score.unit for score in scores))
    judged = sum(score.difference is not None for score in scores)
    reasons: dict[str, list[str]] = {}
    for name, reason in comparison.left_out.items():
        reasons.setdefault(reason, []).append(name)
    counts: dict[str, str] = {}  # once per suite where all of its scores have the same items
    for score in scores:
        name = score.suite if score.suite in comparison.same_items else score.name
        unit = score.unit if score.items > 1 else "item"
        counts[f"{score.suite}\0{name}"] = f"{name} {score.items:,} {unit}"
    return tell(NOTES, "comparison", comparison, units, judged, list(counts.values()), reasons)


def signed(difference: float | None) -> str:
    """Return a difference of two scores times 100 with its sign and one digit, or a dash where it is undefined.

    >>> signed(0.012), signed(-0.0004)
    ('+1.2', '0.0')
    """
    if difference is None:
        return UNDEFINED
    number = f"{100 * difference:+z.1f}"
    return "0.0" if number == "+0.0" else number


def tell_difference(a: float | None, b: float | None, difference: Difference | None) -> tuple[str, str, str]:
    """Return b minus a times 100, the ends of its interval, and the verdict, as displayed."""
    minus = signed(None if a is None or b is None else b - a)
    if difference is None:
        return minus, UNDEFINED, ""
    judged = difference.verdict != "unclear"  # then each end keeps its sign, also where it is rounded to 0
    ends = (f"{100 * end:+.1f}" if judged else signed(end) for end in (difference.low, difference.high))
    return minus, " to ".join(ends), difference.verdict


def _tell_spread(spread: Spread) -> str:
    deviation = "" if spread.deviation is None else f" ± {100 * spread.deviation:.1f}"
    return f"{hundred(spread.mean)}{deviation}"
