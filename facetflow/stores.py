"""Read-only access to the tables of a feature store at a release, as polars frames."""

from pathlib import Path

import polars as pl

from facetflow.names import near
from features.errors import StoreError
from features.schemas import TABLES
from features.store.releases import Release
from features.store.store import Store

__all__ = ["FeatureStore", "open_store"]


class FeatureStore:
    """A feature store at one release, opened by `open_store`; later builds do not change what it reads.

    Each table is a lazy frame: `store.pairs.filter(…).collect()` reads only the columns and rows that it needs.

    Args:
        store: the store.
        release: the release to read.
    """

    def __init__(self, store: Store, release: Release) -> None:
        self._store = store
        self._release = release

    @property
    def path(self) -> Path:
        """Folder of the store."""
        return self._store.path

    @property
    def release(self) -> Release:
        """The release being read: `number`, `created`, `rows` and `rejects` of each table, `recipes` and more."""
        return self._release

    @property
    def releases(self) -> tuple[Release, ...]:
        """All releases of the store, oldest first."""
        return tuple(self._store.releases())

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables of the release."""
        return tuple(name for name in TABLES if name in self._release.versions)

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
            raise StoreError(f"release {self._release.number} has no table {name!r}; {near(name, self.tables)}")
        return self._store.scan(name, self._release.versions[name])

    @property
    def sentences(self) -> pl.LazyFrame:
        """Each sentence once: `sentence_id`, `text`."""
        return self.table("sentences")

    @property
    def pairs(self) -> pl.LazyFrame:
        """Pairs: `pair_id`, `corpus`, `split`, `kind`, `sentence_a`, `sentence_b` (ids), `score`, `label` and more."""
        return self.table("pairs")

    @property
    def labels(self) -> pl.LazyFrame:
        """Labels of texts: `label_id`, `corpus`, `split`, `sentence_id`, `aspect`, `label`."""
        return self.table("labels")

    @property
    def amr(self) -> pl.LazyFrame:
        """AMR graphs: `sentence_id`, `penman`, `parser`, and the graph as lists."""
        return self.table("amr")

    @property
    def dependencies(self) -> pl.LazyFrame:
        """Dependency trees: `sentence_id`, `parser`, `tokens`, `lemmas`, `tags`, `starts`, `heads`, `relations`."""
        return self.table("dependencies")

    @property
    def srl(self) -> pl.LazyFrame:
        """Semantic roles: `sentence_id`, `parser`, `words`, `predicates`, and the spans as lists."""
        return self.table("srl")

    @property
    def embeddings(self) -> pl.LazyFrame:
        """Embeddings by the teacher: `sentence_id`, `vector`."""
        return self.table("embeddings")

    @property
    def label_vectors(self) -> pl.LazyFrame:
        """Vectors of the words of the graphs' labels: `label`, `vector`; a word occurs once per shard that has it."""
        return self.table("label_vectors")

    @property
    def metrics(self) -> pl.LazyFrame:
        """Measured pairs: `pair_id`, the fifteen metrics, `<name>_optimal`, and the project's own metrics."""
        return self.table("metrics")

    @property
    def rejects(self) -> pl.LazyFrame:
        """What a stage could not process: `entity_id`, `code`, `message`, `stage`."""
        return self.table("rejects")

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {count:,}" for name, count in self._release.rows.items())
        return f"<feature store {str(self.path)!r} at release {self._release.number}: {rows}>"


def open_store(path: str | Path, release: int | None = None) -> FeatureStore:
    """Open a feature store to read one release of it.

    Args:
        path: folder of the store, or of the project that keeps it in its folder `store`.
        release: number of the release; by default the newest.

    Raises:
        StoreError: there is no store, no release yet or no such release, or its tables do not hold what was published.
    """
    folder = Path(str(path))
    within = folder / "store"
    store = Store.open(within if (within / "store.json").is_file() else path)
    return FeatureStore(store, store.release(release))
