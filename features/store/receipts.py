"""Files of tables, and the receipt that a worker hands to the flow for a shard it has written but not committed."""

from dataclasses import dataclass

from features.core.types import Fingerprint, Shard


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table, as its log describes it or will; the path is relative to the table's folder.

    `stage` is the one that rejected the rows, None outside `rejects`; `committed` the time of the commit, in
    milliseconds since 1970, 0 before it.
    """

    path: str
    bytes: int
    rows: int
    shard: Shard
    fingerprint: Fingerprint
    stage: str | None
    committed: int = 0

    @property
    def key(self) -> tuple[str | None, Shard]:
        """The key that is unique within a table."""
        return (self.stage, self.shard)

    @property
    def partition(self) -> dict[str, str | None]:
        """The partition values, in the order of the table's partitions."""
        stage: dict[str, str | None] = {} if self.stage is None else {"stage": self.stage}
        return {**stage, "shard": self.shard, "fingerprint": self.fingerprint}


@dataclass(frozen=True, slots=True)
class Receipt:
    """One shard of one stage, written by a worker; small, picklable, and without effect until the flow commits it.

    A stage that has rejects only (ingest) has no data. `seconds` is the time the stage took, for the record of the run;
    `columns` are those of the data.
    """

    stage: str
    shard: Shard
    fingerprint: Fingerprint
    data: DataFile | None
    reject_data: DataFile | None = None
    seconds: float = 0.0
    columns: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows that were made."""
        return self.data.rows if self.data else 0

    @property
    def rejects(self) -> int:
        """Rows that could not be made."""
        return self.reject_data.rows if self.reject_data else 0
