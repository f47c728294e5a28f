"""A built-in table that gains a column: the store that exists gets it, for readers other than ours too."""

from pathlib import Path

import polars as pl
from deltalake import DeltaTable

from features.schemas import SENTENCES, StageOutput
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store

OLD, NEW = Recipe("embeddings", {}, "1"), Recipe("embeddings", {}, "2")


def commit(store: Store, recipe: Recipe, shard: str, rows: pl.DataFrame) -> int:
    receipt = store.write_shard("embeddings", shard, fingerprint(recipe, []), StageOutput(rows))
    return store.commit([receipt], run_id="r", recipes={"embeddings": recipe})["embeddings"]


def test_a_column_of_a_later_version_is_in_the_table_for_every_reader(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "store", create=True)
    rows = pl.DataFrame({"sentence_id": ["a"], "vector": [[0.5]]}, schema=TABLES["embeddings"])
    before = commit(store, OLD, "sentences-0", rows)
    commit(store, OLD, "sentences-1", rows.with_columns(pl.lit("b").alias("sentence_id")))

    grown = {**TABLES["embeddings"], "tokens": pl.List(pl.String)}
    monkeypatch.setitem(TABLES, "embeddings", grown)
    store = Store.open(tmp_path / "store", create=True)
    new = rows.with_columns(pl.Series("tokens", [["a"]], pl.List(pl.String)))
    commit(store, NEW, "sentences-0", new)

    assert store.read("embeddings")["tokens"].to_list() == [["a"], None]
    assert store.read("embeddings", before)["tokens"].to_list() == [None], "an old version lacks the values"
    folder = Path(store.location) / "tables" / "embeddings"
    others = pl.from_arrow(DeltaTable(folder).to_pyarrow_table().select(["sentence_id", "tokens"])).sort("sentence_id")
    assert others.rows() == [("a", ["a"]), ("b", None)]
    assert pl.read_delta(str(folder)).sort("sentence_id")["tokens"].to_list() == [["a"], None]


def test_a_table_of_a_later_version_comes_to_a_store_that_exists(tmp_path, monkeypatch):
    Store.open(tmp_path / "store", create=True)
    monkeypatch.setitem(TABLES, "lengths", {**SENTENCES})
    assert Store.open(tmp_path / "store").committed("lengths") == {}
    store = Store.open(tmp_path / "store", create=True)
    assert store.versions()["lengths"] == 0
