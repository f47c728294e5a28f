"""The differences between two releases, as readable tables."""

from collections.abc import Iterator

from features.store.differences import ReleaseDifference
from features.store.drift import LARGE, QUANTILES, SMALL, Drift
from training.evaluation.tables import UNDEFINED, ScoreTable


def difference_tables(difference: ReleaseDifference) -> Iterator[ScoreTable]:
    """Yield the tables that are not empty, except the one of the drift."""
    columns = (f"release {difference.old}", f"release {difference.new}")
    yield ScoreTable(
        "Rows",
        ("table", *columns, "added", "lost", "changed"),
        tuple(
            (table.table, *map(_count, (table.old, table.new, table.added, table.lost, table.changed)))
            for table in difference.tables
        ),
        "Changed: rows in both releases whose values differ, because they were made again in another way.",
    )
    if difference.parts:
        rows = tuple((f"{p.table}: {p.corpus} {p.split}", _count(p.added), _count(p.lost)) for p in difference.parts)
        yield ScoreTable("Pairs and labels by corpus and split", ("of", "added", "lost"), rows)
    if difference.rejects:
        rows = tuple((f"{r.stage}: {r.code}", _count(r.old), _count(r.new)) for r in difference.rejects)
        yield ScoreTable("Rejected rows", ("code", *columns), rows)
    if difference.values:
        rows = tuple(
            (f"{v.table}.{v.column}", _count(v.rows), UNDEFINED if v.largest is None else f"{v.largest:.4g}")
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
                _move(_count(moved.old.rows), _count(moved.new.rows)),
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


def _count(rows: int) -> str:
    return f"{rows:,}"


def _move(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"
