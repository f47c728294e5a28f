"""A release of a store opened for training: every byte of its tables has been verified."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from features.core.errors import InputError
from features.core.faults import ReleaseLacks
from features.stages.metrics import METRIC_STAGE


class OpenRelease:
    """The tables of a release.

    Args:
        root: folder of the store.
        release: number of the release; the latest when missing.

    Raises:
        StoreError: when the store or the release does not exist, or a file of it has changed since it was written.
    """

    def __init__(self, root: Path, release: int | None = None) -> None:
        from features.store.store import Store

        self._store = Store.open(root)
        self._pinned = self._store.release(release)
        self.name = f"release {self._pinned.number} of {str(root)!r}"
        # Every byte, since damaged rows would not be noticeable in an encoder.
        self._store.verify_files(self._pinned.versions)

    def __contains__(self, table: str) -> bool:
        """Return whether the release has a table."""
        return table in self._pinned.versions

    @property
    def source(self) -> dict[str, Any]:
        """Contents of the release for model cards: its number, versions of tables, identities of recipes."""
        from features.store.fingerprints import identity

        pinned = self._pinned
        return {
            "release": pinned.number,
            "versions": dict(pinned.versions),
            "recipes": {stage: identity(pinned.recipe(stage)) for stage in pinned.recipes},
        }

    def read(self, table: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows of a table, with some columns or all."""
        version = self._pinned.versions[table]
        return self._store.read(table, version=version, columns=None if columns is None else list(columns))

    def parameters(self, stage: str) -> Mapping[str, Any]:
        """Return the parameters of the recipe of a stage of this release."""
        return self._pinned.recipe(stage).parameters

    def weights(self, stage: str) -> str:
        """Return the digest of the model of a stage of this release; empty for a stage without one."""
        return self._pinned.recipe(stage).weights or ""

    def own_metrics(self) -> dict[str, Any]:
        """Return the project's own metrics that this release was measured with: name → digest."""
        own: dict[str, Any] = self._pinned.recipe(METRIC_STAGE.name).parameters.get("own", {})
        return own

    def texts_of(self, sentences: pl.Series) -> pl.DataFrame:
        """Return the texts of some sentences, sorted by id: `sentence_id`, `text`, `position` from 0.

        Args:
            sentences: ids, in any order and number.
        """
        return (
            self.read("sentences", ("sentence_id", "text"))
            .filter(pl.col("sentence_id").is_in(sentences.unique().implode()))
            .sort("sentence_id")  # the order of rows in a store is not guaranteed
            .with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("position"))
        )

    def lacks(self, what: str) -> InputError:
        """Return the error for a release without the training data: "no labels: ..."."""
        return ReleaseLacks(f"{self.name} has {what}")


def has_rows(root: Path, release: int | None, table: str) -> bool:
    """Return whether a table of a release has rows, without reading it.

    Args:
        root: folder of the store.
        release: number of the release; the latest when missing.
        table: its name.

    Raises:
        StoreError: when the store or the release does not exist.
    """
    from features.store.store import Store

    store = Store.open(root)
    pinned = store.release(release)
    return pinned.rows.get(table, 0) > 0


def distinct_rows(root: Path, release: int | None, table: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return the distinct combinations of values in some columns of a table of a release, without nulls.

    Args:
        root: folder of the store.
        release: number of the release; the latest when missing.
        table: name of the table.
        columns: their names; no others are read.

    Raises:
        StoreError: when the store or the release does not exist, or a file is damaged.
    """
    from features.store.store import Store

    store = Store.open(root)
    pinned = store.release(release)
    if not pinned.rows.get(table, 0):
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    found = store.read(table, version=pinned.versions[table], columns=list(columns))
    return found.drop_nulls().unique().sort(columns)
