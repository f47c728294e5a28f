"""A score of the encoder paired with that of its start model, both on the same draws."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.metrics.bootstrap import Bootstrap
from training.evaluation.bars import Bar, Mark, draw_bars, ends_of, hundredths
from training.evaluation.bootstrap import Difference, Interval, compare, interval, tell_verdict
from training.evaluation.tables import UNDEFINED, ends, hundred

COLUMNS = ("start model", "encoder", "95 % interval", "vs start model")
"""Headers of the cells that `cells` returns."""
_START = Mark("start model", "circle")


@dataclass(frozen=True, slots=True)
class Paired:
    """A score of both models; None where it is undefined.

    Args:
        encoder: of the encoder.
        start: of its start model; also None where that is unknown.
        encoder_interval: of `encoder`; None where there are too few items for one.
        start_interval: of `start`.
        difference: the encoder's score minus that of the start model.
    """

    encoder: float | None
    start: float | None
    encoder_interval: Interval | None
    start_interval: Interval | None
    difference: Difference | None


def pair(
    scores: Sequence[float | None],
    draws: NDArray[np.float64],
    bootstrap: Bootstrap,
    items: int,
    *,
    mean: bool = False,
    differ: int | None = None,
) -> Paired:
    """Return scores with their intervals and difference.

    Args:
        scores: of the encoder, and of its start model where that is known.
        draws: of the same scores, (resamples, n_scores).
        bootstrap: how the draws were made.
        items: number of items, or groups of them, that were drawn.
        mean: whether a score is the mean of the items.
        differ: number of items, or groups of them, in which the two models differ; None if that is all of them.
    """
    known = [
        None if score is None else interval(drawn, bootstrap, items, mean=mean)
        for score, drawn in zip(scores, draws.T, strict=True)
    ]
    both = len(scores) > 1 and None not in scores
    return Paired(
        encoder=scores[0],
        start=scores[1] if len(scores) > 1 else None,
        encoder_interval=known[0],
        start_interval=known[1] if len(scores) > 1 else None,
        difference=compare(draws[:, 0], draws[:, 1], bootstrap, items, mean=mean, differ=differ) if both else None,
    )


def average(
    scores: Sequence[Sequence[float | None]],
    draws: Sequence[NDArray[np.float64]],
    bootstrap: Bootstrap,
    items: int,
    *,
    mean: bool = False,
    differ: int | None = None,
) -> dict[str, Any] | None:
    """Return the mean of the scores of several sets, as JSON; None for a single set, or where a score is undefined.

    Args:
        scores: of each set, as `pair` takes them.
        draws: of each set, as `pair` takes them; independent between sets (`Bootstrap.of`).
        bootstrap: how the draws were made.
        items: number of items, or groups of them, of the smallest set.
        mean: whether scores are means of items.
        differ: as for `pair`, of all sets together.
    """
    if len(scores) < 2 or any(score is None for each in scores for score in each):
        return None
    means = np.array(scores, dtype=np.float64).mean(axis=0)
    drawn = np.mean(draws, axis=0)
    return asdict(pair([float(mean) for mean in means], drawn, bootstrap, items, mean=mean, differ=differ))


def cells(score: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return a score as cells of a table (`COLUMNS`).

    Args:
        score: a `Paired` as a dict.
    """
    return (hundred(score["start"]), hundred(score["encoder"]), ends(score["encoder_interval"]), tell(score))


def tell(score: Mapping[str, Any]) -> str:
    """Return how the encoder compares with its start model, a dash where one of them has no score."""
    return UNDEFINED if None in {score["encoder"], score["start"]} else tell_verdict(score["difference"])


def draw(scored: Sequence[tuple[str, str, Mapping[str, Any]]], axis: str) -> str:
    """Draw scores of the encoder as bars, with marks for those of its start model, as HTML.

    Args:
        scored: name, description, and a `Paired` as a dict.
        axis: what the scores are.
    """
    bars = [
        Bar(
            name=name,
            about=about,
            value=hundredths(score["encoder"]),
            interval=ends_of(score["encoder_interval"]),
            marks={} if score["start"] is None else {_START.name: 100 * score["start"]},
            verdict=tell(score),
        )
        for name, about, score in scored
    ]
    return draw_bars(bars, [_START] if any(bar.marks for bar in bars) else [], of="this encoder", axis=axis)
