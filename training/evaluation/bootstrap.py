"""Confidence intervals of correlations by the bootstrap over pairs (Efron & Tibshirani 1993), and verdicts from them.

    pairs       0 1 2 3 4 5      draw 1: 5 0 0 3 2 1  ──>  Spearman of encoder, of each baseline
                                 draw 2: 1 1 4 0 5 5  ──>  …
                                 draw 1000: …              2.5 % and 97.5 % of them: the interval

Every draw takes as many pairs as there are, with replacement, and ranks them again. Encoder and baselines use the same
draws, so the interval of their difference is paired.

The draws of a mean over n items vary less than the mean itself, by √((n − 1) / n), and know nothing of Student's t: of
ten items, their 95 % interval holds the true mean in 90 % of cases. Intervals of means therefore reach further out into
the draws (the expanded percentile interval of Hesterberg 2015, section 3.4). Fewer than six items have no interval,
whatever the score: were their differences all of one sign, that could still be chance (2 / 2⁵ > 0.05). For the same
reason the interval of a difference includes 0 where two models differ in fewer than six items, of however many
(`differing`).

Pairs with the same sentence a, such as the hypotheses of one premise, are right or wrong together more often than
others: they are drawn together, and count as one item here (`in_groups`).
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from features.metrics.bootstrap import FEWEST, Bootstrap
from training.similarity import spearman

Verdict = Literal["above", "below", "unclear"]
_DEFINED = 0.9


@dataclass(frozen=True, slots=True)
class GroupedBootstrap(Bootstrap):
    """Draws groups of items, with replacement, instead of single ones."""

    # number of each item's group, (n_items,), from 0 without gaps
    groups: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    def draws(self, items: int) -> Iterator[NDArray[np.int64]]:
        """Yield how often each of `items` items occurs in each draw, (items,); the same in every call."""
        for times in Bootstrap.draws(self, self.count):
            yield times[self.groups]


def in_groups(bootstrap: Bootstrap, groups: Sequence[Hashable]) -> GroupedBootstrap:
    """Return a bootstrap that draws items with the same key of `groups`, (n_items,), together.

    If every item is a group of its own, the draws stay the same.
    """
    numbers: dict[Hashable, int] = {}
    numbered = np.array([numbers.setdefault(group, len(numbers)) for group in groups], np.int64)
    return GroupedBootstrap(bootstrap.resamples, bootstrap.seed, bootstrap.confidence, numbered)


def differing(first: NDArray[Any], second: NDArray[Any], groups: Sequence[Hashable] = ()) -> int:
    """Return in how many items two models differ, (n_items,) each, or in how many groups of items by their keys."""
    rows = np.flatnonzero(np.asarray(first) != np.asarray(second))
    return len({groups[int(row)] for row in rows}) if len(groups) else len(rows)


def draw_means(values: NDArray[np.float64], bootstrap: GroupedBootstrap) -> NDArray[np.float64]:
    """Return the mean of each column of (n_items, n_columns) in each draw of the items, (resamples, n_columns)."""
    columns = np.concatenate([values, np.ones((len(values), 1))], axis=1)
    sums = np.zeros((bootstrap.count, columns.shape[1]))
    np.add.at(sums, bootstrap.groups, columns)
    drawn = [times @ sums for times in Bootstrap.draws(bootstrap, len(sums))]
    totals = np.array(drawn, dtype=np.float64).reshape(-1, columns.shape[1])
    return np.asarray(totals[:, :-1] / totals[:, -1:])


def draw_spearman(
    predictors: NDArray[np.floating], measured: NDArray[np.floating], bootstrap: Bootstrap
) -> NDArray[np.float64]:
    """Return Spearman's correlation of predictors with measured values of pairs in each draw.

    Predictors are (n_pairs, n_predictors), measured values (n_pairs,); the correlations, in [-1, 1], are (resamples,
    n_predictors), NaN where either is constant in the draw.
    """
    drawn = np.full((bootstrap.resamples, predictors.shape[1]), np.nan)
    # The place of each value among the sorted distinct values of its column, (n_columns, n_pairs).
    places = np.stack([np.unique(column, return_inverse=True)[1] for column in (measured, *predictors.T)])
    apart = (places + len(measured) * np.arange(len(places))[:, None]).ravel()
    for draw, times in enumerate(bootstrap.draws(len(measured))):
        sizes = np.bincount(apart, np.tile(times, len(places)), minlength=apart.size).reshape(places.shape)
        ranks = np.cumsum(sizes, axis=1) - (sizes - 1) / 2  # equal values share their mean rank
        centred = np.take_along_axis(ranks - (times.sum() + 1) / 2, places, axis=1)
        weighted = centred * times
        lengths = (weighted * centred).sum(axis=1)
        norms = np.sqrt(lengths[0] * lengths[1:])
        np.divide(weighted[1:] @ centred[0], norms, out=drawn[draw], where=norms > 0)
    return drawn


@dataclass(frozen=True, slots=True)
class Difference:
    """A score minus that of a baseline, on the same draws: the ends of its interval, and the verdict on it.

    The score is above or below the baseline where the interval excludes 0, otherwise that is unclear.
    """

    low: float
    high: float
    verdict: Verdict


def interval(draws: NDArray[np.float64], bootstrap: GroupedBootstrap, *, mean: bool = False) -> dict[str, float] | None:
    """Return the interval that most draws of one score, (resamples,), lie within; `mean` if it is that of the items.

    Its ends are `low` and `high`, in [-1, 1] for a correlation, in [-2, 2] for a difference. None where more than a
    tenth of the draws are undefined (NaN), because too few pairs differ, or for fewer than `FEWEST` items, or groups of
    them.
    """
    defined, items = draws[~np.isnan(draws)], bootstrap.count
    if len(defined) < max(1, _DEFINED * len(draws)) or items < FEWEST:
        return None
    if mean:  # the share of the draws that has the coverage of Student's interval
        from scipy.special import ndtr, stdtrit

        reach = stdtrit(items - 1, (1 + bootstrap.confidence) / 2) * sqrt(items / (items - 1))
        bootstrap = replace(bootstrap, confidence=float(2 * ndtr(reach) - 1))
    return dict(zip(("low", "high"), bootstrap.ends(defined), strict=True))


def compare(
    draws: NDArray[np.float64],
    baseline: NDArray[np.float64],
    bootstrap: GroupedBootstrap,
    *,
    mean: bool = False,
    differ: int | None = None,
) -> Difference | None:
    """Return how a score differs from a baseline's in the same draws; None where `interval` returns None.

    They `differ` in a number of items, or groups of them; in all where that is None. In fewer than `FEWEST`, the
    interval includes 0.
    """
    ends = interval(draws - baseline, bootstrap, mean=mean)
    if ends is None:
        return None
    low, high = ends.values()
    if differ is not None and differ < FEWEST:
        low, high = min(low, 0.0), max(high, 0.0)
    return Difference(low, high, verdict(low, high))


def verdict(low: float, high: float) -> Verdict:
    """Return on which side of 0 an interval lies."""
    return "above" if low > 0 else "below" if high < 0 else "unclear"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Scores of several models on the same items, and in the same draws of them."""

    scores: Sequence[float | None]  # one per model, the encoder's first; None where it is undefined
    draws: NDArray[np.float64]  # of the same scores, (resamples, n_models)
    bootstrap: GroupedBootstrap  # that drew them
    mean: bool = False  # whether a score is the mean of the items
    differ: int | None = None  # number of items, or groups, in which the first two models differ; None for all

    @classmethod
    def average(cls, several: "Sequence[Drawn]") -> "Drawn | None":
        """Return the mean of the scores of several sets; None for a single set, or where a score is undefined.

        Scores of the same items are drawn together; those of sets of their own are independent in every draw.
        """
        if len(several) < 2 or any(score is None for each in several for score in each.scores):
            return None
        differ = [each.differ for each in several if each.differ is not None]
        return cls(
            scores=np.array([each.scores for each in several], dtype=np.float64).mean(axis=0).tolist(),
            draws=np.mean([each.draws for each in several], axis=0),
            bootstrap=min((each.bootstrap for each in several), key=lambda bootstrap: bootstrap.count),
            mean=all(each.mean for each in several),
            differ=sum(differ) if len(differ) == len(several) else None,
        )

    def interval(self, of: int = 0) -> dict[str, float] | None:
        """Return the interval of the score of one model, by default the first; None also where it is undefined."""
        return None if self.scores[of] is None else interval(self.draws[:, of], self.bootstrap, mean=self.mean)

    def difference(self, *, to: int = 1, of: int = 0) -> Difference | None:
        """Return how the score of one model, by default the first, differs from that of another."""
        if None in {self.scores[of], self.scores[to]}:
            return None
        drawn = self.draws[:, of], self.draws[:, to]
        return compare(*drawn, self.bootstrap, mean=self.mean, differ=self.differ)

    def paired(self) -> dict[str, Any]:
        """Return the scores of the encoder and of its start model, as JSON.

        `encoder` and `start`, None where undefined or unknown; `encoder_interval` and `start_interval`, each `low` and
        `high`, None where there are too few items; `difference` of the two, as a `Difference`.
        """
        several = len(self.scores) > 1
        difference = self.difference() if several else None
        return {
            "encoder": self.scores[0],
            "start": self.scores[1] if several else None,
            "encoder_interval": self.interval(),
            "start_interval": self.interval(1) if several else None,
            "difference": difference and asdict(difference),
        }


def paired_mean(several: Sequence[Drawn]) -> dict[str, Any] | None:
    """Return the mean of the scores of several sets as `Drawn.paired` does; None where `Drawn.average` returns None."""
    mean = Drawn.average(several)
    return None if mean is None else mean.paired()


def correlate(predictors: NDArray[np.floating], measured: NDArray[np.floating], bootstrap: GroupedBootstrap) -> Drawn:
    """Return Spearman's correlations of predictors with measured values; arguments as for `draw_spearman`."""
    scores = spearman(predictors, measured)
    return Drawn(scores, draw_spearman(predictors, measured, bootstrap), bootstrap)


def draw_right(right: NDArray[np.bool_], groups: Sequence[Hashable], bootstrap: Bootstrap) -> Drawn:
    """Return the shares of items that models got right, (n_items, n_models), with items of a group drawn together."""
    grouped, shares = in_groups(bootstrap, groups), right.astype(np.float64)
    differ = differing(right[:, 0], right[:, -1], groups)
    scores = [float(share) for share in shares.mean(axis=0)]
    return Drawn(scores, draw_means(shares, grouped), grouped, mean=True, differ=differ)
