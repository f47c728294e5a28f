"""The receipt that a worker hands to the flow for a shard it has written but not committed."""

from dataclasses import dataclass

from features.core.types import Fingerprint, Shard


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A Parquet file that is not yet part of its table; the path is relative to the table's folder."""

    path: str
    rows: int
    bytes: int
    sha256: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """One shard of one stage, written by a worker; small, picklable, and without effect until the flow commits it.

    A stage that has rejects only (ingest) has no data. `expected` are the rows that went in, if every one must come out
    as a row or as a reject; `seconds` is the time the stage took, for the record of the run.
    """

    stage: str
    shard: Shard
    fingerprint: Fingerprint
    data: WrittenFile | None
    reject_data: WrittenFile | None = None
    expected: int | None = None
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        """Rows that were made."""
        return self.data.rows if self.data else 0

    @property
    def rejects(self) -> int:
        """Rows that could not be made."""
        return self.reject_data.rows if self.reject_data else 0
