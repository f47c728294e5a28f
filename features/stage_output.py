"""What a stage returns for a shard: the rows it made and the rows it could not make.

A bad row never fails a shard, so every entity that goes in comes out exactly once, in `rows` or in `rejects`
(label vectors are the exception: their rows are words, not sentences).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from features.core.types import RejectCode
from features.schemas import REJECTS


@dataclass(frozen=True, slots=True)
class Reject:
    """One entity that could not be processed: its id, or `file:line` where none could be made, and what was wrong."""

    entity_id: str
    code: RejectCode
    message: str


def rejects_frame(rejects: Sequence[Reject]) -> pl.DataFrame:
    """Return rejects as a table with the columns of `REJECTS`."""
    return pl.DataFrame(rejects, schema=REJECTS)


@dataclass(frozen=True, slots=True)
class StageOutput:
    """Rows and rejects of one shard of one stage."""

    rows: pl.DataFrame
    rejects: pl.DataFrame = field(default_factory=lambda: rejects_frame(()))
