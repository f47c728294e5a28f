"""The differences between two releases, as tables and as a page: rows, rejects, recipes, distributions of metrics.

smatch                 moderate
▁▁▂▂▃▅█▇▄▂▁▁▁    filled: the newer release, line: the older one
0           1
mean 0.612 → 0.648 · distance 0.071
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from features.core.pages import UNDEFINED, render, tell_date
from features.core.pages.plots import Axis, bars, draw_plot
from features.metrics.registry import METRICS
from features.store.differences import ReleaseDifference
from features.store.drift import BINS, LARGE, QUANTILES, SMALL, Drift, Size
from training.evaluation.tables import ScoreTable

_ORDER: Sequence[Size] = ("large", "moderate", "small", "within chance", "none")


def render_difference(difference: ReleaseDifference, project: str, old_created: str, new_created: str) -> str:
    """Return the page of a comparison; times are ISO 8601 with time zone."""
    old, new = difference.old, difference.new
    return render(
        "flows.pages/difference.html",
        title=f"Releases {old} and {new}",
        project=project,
        releases=f"release {old} of {tell_date(old_created)}, release {new} of {tell_date(new_created)}",
        **difference_values(difference),
    )


def difference_values(difference: ReleaseDifference) -> dict[str, Any]:
    """Return what the template `drift.html` shows of a comparison."""
    return {
        "old": difference.old,
        "new": difference.new,
        "same": difference.none,
        "recipes": difference.recipes,
        "tables": [] if difference.none else list(difference_tables(difference)),
        "drift": [
            _drawn(moved)
            for moved in sorted(difference.drift, key=lambda moved: (_ORDER.index(moved.size), -moved.distance))
        ],
        "numbers": drift_table(difference.drift),
        "questions": {name: metric.question for name, metric in METRICS.items()},
        "small": SMALL,
        "large": LARGE,
    }


def _drawn(moved: Drift) -> dict[str, Any]:
    """Return what the page shows of a metric: filled its new distribution, as a line around it the old one."""
    low, high = moved.range
    edges = [low + (high - low) * part / BINS for part in range(BINS + 1)]
    old, new = ([100 * share for share in side.shares] for side in (moved.old, moved.new))
    numbers = f"mean {moved.old.mean:.3f} → {moved.new.mean:.3f} · distance {moved.distance:.3f}"
    plot = draw_plot(
        f"{moved.metric}: {moved.size} drift, {numbers}",
        Axis("", low, high, 3),
        Axis.over("% of rows", [0.0, *old, *new], 3),
        boxes={0.4: bars(edges, new)},
        lines=[(), [(edge, share) for ends, share in zip(pairwise(edges), old, strict=True) for edge in ends]],
    )
    return {"metric": moved.metric, "size": moved.size, "numbers": numbers, "plot": plot}


def difference_tables(difference: ReleaseDifference) -> Iterator[ScoreTable]:
    """Yield the tables that are not empty, except the one of the drift."""
    columns = (f"release {difference.old}", f"release {difference.new}")
    yield ScoreTable(
        "Rows",
        ("table", *columns, "added", "lost", "changed"),
        tuple(
            (table.table, *(f"{rows:,}" for rows in (table.old, table.new, table.added, table.lost, table.changed)))
            for table in difference.tables
        ),
        "Changed: rows in both releases whose values differ: they were made again, in another way or from other input.",
    )
    if difference.parts:
        rows = tuple((f"{p.table}: {p.corpus} {p.split}", f"{p.added:,}", f"{p.lost:,}") for p in difference.parts)
        yield ScoreTable("Pairs and labels by corpus and split", ("of", "added", "lost"), rows)
    if difference.rejects:
        rows = tuple((f"{r.stage}: {r.code}", f"{r.old:,}", f"{r.new:,}") for r in difference.rejects)
        yield ScoreTable("Rejected rows", ("code", *columns), rows)
    if difference.values:
        rows = tuple(
            (f"{v.table}.{v.column}", f"{v.rows:,}", UNDEFINED if v.largest is None else f"{v.largest:.4g}")
            for v in difference.values
        )
        yield ScoreTable("Values that changed in rows of both releases", ("column", "rows", "largest change"), rows)


def drift_table(drift: tuple[Drift, ...]) -> ScoreTable:
    """Return how the distribution of each metric moved, in numbers; there is at least one."""
    return ScoreTable(
        "Drift of the metrics",
        (
            *("metric", "drift", "distance", "moved by", "rows", "mean", "deviation"),
            *(f"{quantile:.0%}" for quantile in QUANTILES),
        ),
        tuple(
            (
                moved.metric,
                moved.size,
                f"{moved.distance:.3f}",
                f"{moved.transport:.4f}",
                _move(f"{moved.old.rows:,}", f"{moved.new.rows:,}"),
                _move(f"{moved.old.mean:.3f}", f"{moved.new.mean:.3f}"),
                _move(f"{moved.old.deviation:.3f}", f"{moved.new.deviation:.3f}"),
                *(
                    _move(f"{old:.2f}", f"{new:.2f}")
                    for old, new in zip(moved.old.quantiles, moved.new.quantiles, strict=True)
                ),
            )
            for moved in drift
        ),
        f"Distance: Kolmogorov-Smirnov, moderate from {SMALL} and large from {LARGE}. Within chance: two "
        "samples of this size from one distribution differ by less in 99 of 100 cases. Moved by: Wasserstein, in units "
        "of the metric.",
    )


def _move(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"
