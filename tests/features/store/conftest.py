"""Small shards to fill a store with, in a folder or in an object storage."""

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from faulty_s3 import CREDENTIALS, S3, faulty_s3

from features.core.types import RejectCode
from features.schemas import Reject, StageOutput, rejects_frame
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.locations import storage_at
from features.store.object_storage import ObjectStorage
from features.store.plan import plan
from features.store.receipts import Receipt
from features.store.releases import Release
from features.store.scope import PlannedStage
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


@pytest.fixture
def write(store, recipes, filled) -> Callable[..., Receipt]:
    """Return a function that writes a shard of given ids and rejects; its fingerprint depends on `inputs`."""

    def write(table: str, shard: str, ids: list[str], rejected: list[str] | None = None, inputs=(), **columns: str):
        return store.write_shard(
            table, shard, fingerprint(recipes[table], inputs), filled(table, ids, rejected, **columns)
        )

    return write


@pytest.fixture
def commit(store, recipes) -> Callable[..., dict[str, int]]:
    """Return a function that commits receipts and returns the versions of their tables."""
    return lambda *receipts, run_id="run": store.commit(receipts, run_id=run_id, recipes=recipes)


@pytest.fixture
def fill(recipes, filled) -> Callable[[Store], Release]:
    """Return a function that ingests a shard of three sentences, makes two graphs and a reject, and publishes."""
    amr = PlannedStage("amr", "sentences", ("sentences",), recipes["amr"])

    def fill(store: Store) -> Release:
        if not store.committed("sentences"):
            mark = fingerprint(recipes["sentences"], ["in"])
            receipt = store.write_shard("sentences", "s1", mark, filled("sentences", ["a", "b", "c"]), expected=3)
            store.commit([receipt], run_id="run", recipes=recipes)
        for work in plan(store, [amr]).todo:
            rows = filled("amr", ["a", "b"], ["c"])
            receipt = store.write_shard("amr", work.shard, work.fingerprint, rows, expected=3)
            store.commit([receipt], run_id="run", recipes=recipes)
        return store.publish("run", stages=[amr])

    return fill


@pytest.fixture(scope="session")
def server() -> Iterator[S3]:
    with faulty_s3() as started:
        yield started


@pytest.fixture
def url(server, monkeypatch) -> str:
    """Return the URL of a store in the bucket of the server, which is empty."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    server.clear()
    return server.url()


@pytest.fixture
def place(url) -> ObjectStorage:
    return storage_at(url)


@pytest.fixture
def stages() -> Callable[..., list[PlannedStage]]:
    """Return a function that returns the stage of graphs, with a parameter of its recipe."""
    return lambda size=1: [PlannedStage("amr", "sentences", ("sentences",), Recipe("amr", {"size": size}))]


@pytest.fixture
def build(store, filled, write, commit, stages):
    """Return a function that ingests three shards and makes their graphs, with a given number of rejects."""

    def make(size=1, rejected=0, only=("s0", "s1", "s2")):
        commit(*(write("sentences", shard, [shard], inputs=[shard]) for shard in ("s0", "s1", "s2")))
        used = {"amr": stages(size)[0].recipe}
        for work in plan(store, stages(size)).todo:
            if work.shard in only:
                ids = [f"{work.shard}-{size}-{number}" for number in range(4)]
                output = filled("amr", ids[rejected:], ids[:rejected])
                store.commit([store.write_shard("amr", work.shard, work.fingerprint, output)], run_id="b", recipes=used)

    return make
