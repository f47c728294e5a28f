"""Read-only access to the tables of a feature store at a release, as polars frames."""

from pathlib import Path

import polars as pl

from facetflow.arguments import near
from features.core.faults import UnknownTable
from features.stages.registry import TABLES
from features.store.releases import Release
from features.store.store import Store

__all__ = ["FeatureStore", "open_store"]


class FeatureStore:
    """A feature store at one release, opened by `open_store`; later builds do not change what it reads.

    Each table is an attribute, a lazy frame: `store.pairs.filter(…).collect()` reads only the columns and rows that it
    needs. `sentences`, `pairs` and `labels` come from the corpora, `rejects` are rows that a stage could not process,
    and each stage has the table of its name (`features.stages`).

    Attributes:
        path: folder of the store, or its address in an object storage.
        release: the release that is read, with its number, and the rows, rejects and recipes of each table.
        tables: names of the tables of the release.
    """

    def __init__(self, store: Store, release: Release) -> None:
        self._store, self.release = store, release
        self.path: Path | str = store.location if "://" in store.location else Path(store.location)
        self.tables = tuple(name for name in TABLES if name in release.versions)

    @property
    def releases(self) -> tuple[Release, ...]:
        """All releases of the store, oldest first."""
        return tuple(self._store.releases())

    def at(self, release: int) -> "FeatureStore":
        """Return the same store at another release.

        Raises:
            StoreError: there is no such release, or its tables do not hold what was published.
        """
        return FeatureStore(self._store, self._store.release(release))

    def table(self, name: str) -> pl.LazyFrame:
        """Return a table at the release.

        Args:
            name: of the table, one of `tables`.

        Raises:
            StoreError: the release has no such table, or one of its files is missing or has another size.
        """
        if name not in self.tables:
            raise UnknownTable(f"release {self.release.number} has no table {name!r}; {near(name, self.tables)}")
        return self._store.scan(name, self.release.versions[name])

    def __getattr__(self, name: str) -> pl.LazyFrame:
        if name not in TABLES:
            raise AttributeError(f"a feature store has no {name!r}; {near(name, TABLES)}")
        return self.table(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {count:,}" for name, count in self.release.rows.items())
        return f"<feature store {str(self.path)!r} at release {self.release.number}: {rows}>"


def open_store(path: str | Path, release: int | None = None) -> FeatureStore:
    """Open a feature store to read one release of it.

    Args:
        path: folder of the store, or of the project that keeps it in its folder `store`; or its address, such as
            `s3://bucket/prefix`, with credentials from the environment.
        release: number of the release; by default the newest.

    Raises:
        StoreError: there is no store, no release yet or no such release, or its tables do not hold what was published.
    """
    within = Path(str(path)).expanduser() / "store"
    store = Store.open(within if (within / "store.json").is_file() else path)
    return FeatureStore(store, store.release(release))
