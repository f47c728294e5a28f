"""Small shards to fill a store with."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from features.core.types import RejectCode
from features.schemas import Reject, StageOutput, rejects_frame
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.store import Store

Filler = Callable[..., StageOutput]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def recipes() -> dict[str, Recipe]:
    return {name: Recipe(name, {"size": 1}) for name in (*TABLES, "ingest")}


@pytest.fixture
def filled() -> Filler:
    """Return a function that fills a shard of any table: given ids, other columns null or as given."""

    def fill(table: str, ids: list[str], rejected: list[str] | None = None, **columns: str) -> StageOutput:
        key, *rest = TABLES[table]
        values = {key: ids} | {name: [columns.get(name)] * len(ids) for name in rest}
        rejects = [Reject(entity, RejectCode.NO_GRAPH, "no graph") for entity in rejected or []]
        return StageOutput(pl.DataFrame(values, schema=TABLES[table]), rejects_frame(rejects))

    return fill
