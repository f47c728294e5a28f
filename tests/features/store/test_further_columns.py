"""The table of metrics may gain columns; what was committed and released before stays readable as it was."""

import polars as pl
import pytest
from sentences import refused

from features.core.faults import RowsWrong, UnknownTable
from features.metrics.registry import METRIC_COLUMNS
from features.schemas import SENTENCES, StageOutput
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store

PLAIN, OWN = Recipe("metrics"), Recipe("metrics", {"own": {"length": "abc"}})


def rows(*ids: str, **own: float) -> pl.DataFrame:
    frame = pl.DataFrame({"pair_id": list(ids)}).with_columns(
        pl.lit(None, dtype).alias(name) for name, dtype in METRIC_COLUMNS.items() if name != "pair_id"
    )
    return frame.with_columns(pl.lit(value).alias(name) for name, value in own.items())


def commit(store: Store, recipe: Recipe, **shards: pl.DataFrame) -> int:
    receipts = [
        store.write_shard("metrics", name.replace("_", "-"), fingerprint(recipe, []), StageOutput(frame))
        for name, frame in shards.items()
    ]
    return store.commit(receipts, run_id="r", recipes={"metrics": recipe})["metrics"]


def test_a_column_comes_with_the_first_shard_that_has_it(store):
    before = commit(store, PLAIN, pairs_0=rows("a"), pairs_1=rows("b"))
    after = commit(store, OWN, pairs_0=rows("a", length=0.5))
    assert store.read("metrics", before).columns == list(METRIC_COLUMNS)
    table = store.read("metrics", after, with_shard=True)
    assert table.columns == [*METRIC_COLUMNS, "length", "shard"]
    assert table.select("pair_id", "length").rows() == [("a", 0.5), ("b", None)]
    assert store.read("metrics", columns=["length"], shards=["pairs-0"])["length"].to_list() == [0.5]


def test_old_versions_are_read_as_they_were_after_the_column_came(store):
    before = commit(store, PLAIN, pairs_0=rows("a"))
    commit(store, OWN, pairs_0=rows("a", length=0.5))
    assert store.read("metrics", before)["pair_id"].to_list() == ["a"]
    with refused(UnknownTable):
        store.read("metrics", before, columns=["length"])


def test_a_column_that_goes_is_empty_and_comes_back(store):
    commit(store, OWN, pairs_0=rows("a", length=0.5))
    commit(store, PLAIN, pairs_0=rows("a"))
    assert store.read("metrics")["length"].to_list() == [None]
    commit(store, OWN, pairs_0=rows("a", length=0.7))
    assert store.read("metrics")["length"].to_list() == [0.7]


def test_columns_of_two_recipes_are_found_by_name(store):
    commit(store, OWN, pairs_0=rows("a", length=0.5, depth=0.1))
    commit(store, OWN, pairs_1=rows("b", depth=0.2, length=0.6))
    assert store.read("metrics").select("length", "depth").rows() == [(0.5, 0.1), (0.6, 0.2)]


def test_the_table_keeps_its_id_and_adding_what_is_there_commits_nothing(store):
    commit(store, OWN, pairs_0=rows("a", length=0.5))
    version = store.versions()["metrics"]
    assert Store.open(store.location).read("metrics").height == 1  # the id is that of store.json
    assert commit(store, OWN, pairs_0=rows("a", length=0.5)) == version


@pytest.mark.parametrize(
    "frame",
    [
        rows("a").with_columns(pl.lit("x").alias("length")),
        rows("a").with_columns(pl.lit(0.5).alias("Length of it")),
        rows("a").select(pl.lit(0.5).alias("length"), pl.all()),
    ],
)
def test_further_columns_are_numbers_with_plain_names_and_come_last(store, frame):
    with refused(RowsWrong):
        store.write_shard("metrics", "pairs-0", fingerprint(PLAIN, []), StageOutput(frame))


def test_no_other_table_grows(store):
    frame = pl.DataFrame(
        {"sentence_id": ["a"], "text": ["A."], "length": [0.5]}, schema={**SENTENCES, "length": pl.Float64}
    )
    with refused(RowsWrong):
        store.write_shard("sentences", "sentences-0", fingerprint(Recipe("sentences"), []), StageOutput(frame))
