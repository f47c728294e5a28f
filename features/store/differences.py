"""Differences between two releases of a store: rows, rejects, recipes, values, and how the metrics moved.

    files of both releases ── the same file ──> the same rows, not read
                           └─ another file ───> rows added, lost and changed, a few shards at a time

A row stays in the shard in which it was created, so rows are compared shard by shard in the memory of a few shards,
whatever the size of the store. Only the metrics' columns are held as a whole, one version and metric at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from features.metrics.registry import METRIC_NAMES
from features.stages.metrics import METRIC_STAGE
from features.stages.registry import KEYS
from features.store.drift import Drift, compare_values
from features.store.fingerprints import RecipeChange, recipe_changes
from features.store.publishing import reject_codes
from features.store.reader import StoreReader, decoding
from features.store.releases import Release

_BY_PART = ("pairs", "labels", METRIC_STAGE.name)
_SHARDS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class TableDifference:
    """How the rows of a table differ: how many each release has, added ones, lost ones, and those with other values."""

    table: str
    old: int
    new: int
    added: int = 0
    lost: int = 0
    changed: int = 0

    @property
    def same(self) -> bool:
        """Whether no row differs."""
        return not (self.added or self.lost or self.changed)


@dataclass(frozen=True, slots=True)
class PartDifference:
    """How many rows of a corpus and split were added and lost; `table` is `pairs`, `labels` or `metrics`."""

    table: str
    corpus: str
    split: str
    added: int
    lost: int


@dataclass(frozen=True, slots=True)
class RejectDifference:
    """How many rows each release rejected with a code."""

    stage: str
    code: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """How many of the rows in both releases changed their value in a column.

    `largest` is the largest change of a number; None if the values are not numbers, or were added or removed.
    """

    table: str
    column: str
    rows: int
    largest: float | None


@dataclass(frozen=True, slots=True)
class ReleaseDifference:
    """The differences between two releases, by their numbers."""

    old: int
    new: int
    tables: tuple[TableDifference, ...]
    parts: tuple[PartDifference, ...]
    rejects: tuple[RejectDifference, ...]
    recipes: tuple[RecipeChange, ...]
    values: tuple[ValueDifference, ...]
    drift: tuple[Drift, ...]

    @property
    def none(self) -> bool:
        """Whether the two releases have the same rows, made in the same way, and the same rejects."""
        return (
            all(table.same for table in self.tables)
            and not self.recipes
            and all(reject.old == reject.new for reject in self.rejects)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the differences as JSON values."""
        return {"same": self.none, **asdict(self)}


def compare_releases(store: StoreReader, old: Release, new: Release) -> ReleaseDifference:
    """Compare a release of a store with the reference `old`, which may be the newer of the two."""
    tables, parts, values = [], [], []
    for table in (name for name in KEYS if name in old.rows or name in new.rows):
        counts, of_parts, of_values = _compare_table(store, table, old, new)
        tables.append(counts)
        parts += of_parts
        values += of_values
    before, after = reject_codes(store, old), reject_codes(store, new)
    codes = sorted(before.keys() | after.keys())
    moved = any(each.table == METRIC_STAGE.name and not each.same for each in tables)
    return ReleaseDifference(
        old=old.number,
        new=new.number,
        tables=tuple(tables),
        parts=tuple(parts),
        rejects=tuple(RejectDifference(*code, before.get(code, 0), after.get(code, 0)) for code in codes),
        recipes=tuple(recipe_changes(old.recipes, new.recipes)),
        values=tuple(values),
        drift=tuple(_drift(store, old, new)) if moved else (),
    )


def _compare_table(
    store: StoreReader, table: str, old: Release, new: Release
) -> tuple[TableDifference, list[PartDifference], list[ValueDifference]]:
    """Compare the rows of the shards of a table whose files differ."""
    files = [store.committed(table, release.versions[table]) if table in release.rows else {} for release in (old, new)]
    paths = [{shard: file.path for shard, file in side.items()} for side in files]
    differ = sorted(shard for shard in {*paths[0], *paths[1]} if paths[0].get(shard) != paths[1].get(shard))
    counts = {"added": 0, "lost": 0, "changed": 0}
    parts: dict[tuple[str, str], list[int]] = {}
    values: dict[str, tuple[int, float | None]] = {}
    for start in range(0, len(differ), _SHARDS_AT_ONCE):
        shards = differ[start : start + _SHARDS_AT_ONCE]
        frames = [
            _read(store, table, release, [shard for shard in shards if shard in side])
            for release, side in zip((old, new), files, strict=True)
        ]
        key = list(KEYS[table])
        lost = frames[0].join(frames[1].select(key), on=key, how="anti")
        added = frames[1].join(frames[0].select(key), on=key, how="anti")
        counts["added"] += added.height
        counts["lost"] += lost.height
        counts["changed"] += _count_changes(frames, key, values)
        if table in _BY_PART:
            for index, (frame, release) in enumerate(((added, new), (lost, old))):
                for corpus, split, count in _by_part(store, table, frame, release, shards):
                    parts.setdefault((corpus, split), [0, 0])[index] += count
    return (
        TableDifference(table, old.rows.get(table, 0), new.rows.get(table, 0), **counts),
        [PartDifference(table, corpus, split, *changes) for (corpus, split), changes in sorted(parts.items())],
        [ValueDifference(table, column, *changes) for column, changes in values.items()],
    )


def _read(store: StoreReader, table: str, release: Release, shards: Sequence[str]) -> pl.DataFrame:
    # A table that the release lacks has no shards.
    version = release.versions[table] if shards else None
    return store.read(table, version, shards, with_shard="shard" in KEYS[table])


def _count_changes(frames: Sequence[pl.DataFrame], key: list[str], values: dict[str, tuple[int, float | None]]) -> int:
    """Count the rows of both frames whose values differ; add to `values` how much each column changed."""
    old, new = frames
    columns = [name for name in dict.fromkeys([*old.columns, *new.columns]) if name not in key]
    # A column that only one of them has is null in the other.
    empty = pl.concat([old.clear(), new.clear()], how="diagonal")
    old, new = (pl.concat([empty, frame], how="diagonal") for frame in frames)
    both = old.join(new, on=key, how="inner", suffix=":new")
    differ = both.select(pl.col(name).ne_missing(pl.col(f"{name}:new")).alias(name) for name in columns)
    for name in columns:
        count = int(differ[name].sum())
        if not count:
            continue
        before, largest = values.get(name, (0, None))
        size = _largest(both.filter(differ[name]), name)
        values[name] = (before + count, size if largest is None else max(largest, size or 0.0))
    return int(differ.select(pl.any_horizontal(pl.all())).to_series().sum())


def _largest(rows: pl.DataFrame, name: str) -> float | None:
    """Return the largest change in a column of numbers, or in any component of a column of vectors."""
    dtype = rows.schema[name]
    if isinstance(dtype, pl.List) and dtype.inner.is_float():
        # Vectors of different lengths cannot be subtracted.
        alike = rows.filter(pl.col(name).list.len() == pl.col(f"{name}:new").list.len())
        rows = alike.select(name, f"{name}:new").explode(name, f"{name}:new")
    elif not dtype.is_float():
        return None
    size: float | None = rows.select((pl.col(f"{name}:new") - pl.col(name)).abs().max()).item()
    return size


def _by_part(
    store: StoreReader, table: str, rows: pl.DataFrame, release: Release, shards: Iterable[str]
) -> list[tuple[str, str, int]]:
    """Return rows of pairs, labels or metrics by corpus and split."""
    if rows.is_empty():
        return []
    if table == METRIC_STAGE.name:
        version = release.versions["pairs"]
        present = store.committed("pairs", version).keys() & set(shards)
        pairs = store.read("pairs", version, present, ["pair_id", "corpus", "split"])
        rows = rows.select("pair_id").join(pairs, on="pair_id")
    return list(rows.group_by("corpus", "split").len().iter_rows())


def _drift(store: StoreReader, old: Release, new: Release) -> Iterator[Drift]:
    """Yield the drift of each metric that both releases have."""
    if not (METRIC_STAGE.name in old.rows and METRIC_STAGE.name in new.rows):
        return
    scans = [store.scan(METRIC_STAGE.name, release.versions[METRIC_STAGE.name]) for release in (old, new)]
    before, after = (scan.collect_schema() for scan in scans)
    own = [name for name, dtype in after.items() if dtype.is_float() and name in before and name not in METRIC_NAMES]
    for name in (*METRIC_NAMES, *own):
        with decoding(METRIC_STAGE.name, store.location):
            values = [scan.select(pl.col(name).drop_nulls()).collect().to_series().to_numpy() for scan in scans]
        finite = [side[np.isfinite(side)] for side in values]
        if all(len(side) for side in finite):
            yield compare_values(name, *finite)
