"""Where training data are read from: a release of a store, verified byte by byte, or an exported table."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from features.core.errors import InputError
from features.core.faults import ReleaseLacks, RowWrong
from features.core.files import read_table
from features.core.wording import counted
from features.store.locations import Location


class OpenRelease:
    """The tables of a release, by default the latest; of those that are read, every byte is verified."""

    def __init__(self, root: Location, release: int | None = None) -> None:
        from features.store.store import Store

        self._store = Store.open(root)
        self._pinned = self._store.release(release)
        self.recipe = self._pinned.recipe  # of a stage
        self.name = f"release {self._pinned.number} of {str(root)!r}"

    def __contains__(self, table: str) -> bool:
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
        """Return the rows of a table, with some columns or all; raise a StoreError if a byte of it is damaged."""
        version = self._pinned.versions[table]
        self._store.verify_files({table: version})  # every byte: damaged rows would not be noticeable in an encoder
        return self._store.read(table, version, columns=columns)

    def texts_of(self, *sentences: pl.Series) -> pl.DataFrame:
        """Return the texts of sentences by their ids, sorted by id: `sentence_id` and `text`."""
        ids = pl.concat(sentences).unique().implode()
        return (
            self.read("sentences", ("sentence_id", "text"))
            .filter(pl.col("sentence_id").is_in(ids))
            .sort("sentence_id")  # the order of rows in a store is not guaranteed
        )

    def lacks(self, what: str) -> InputError:
        """Return the error for a release without the training data: "no labels: ..."."""
        return ReleaseLacks(f"{self.name} has {what}")


def read_export(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Read columns of text of a table that was exported from a store, with a text in every row."""
    table = read_table(path, columns).cast(pl.String)
    for name in columns:
        if empty := table[name].null_count():
            raise RowWrong(f"{str(path)!r} has {counted(empty, 'row')} without {name!r}; every row must have one.")
    return table


def choose_rows(table: pl.DataFrame, **wanted: Collection[str]) -> pl.DataFrame:
    """Return the rows whose columns have one of the wanted values; no values accept every one."""
    for column, values in wanted.items():
        if values:
            table = table.filter(pl.col(column).is_in(list(values)))
    return table
