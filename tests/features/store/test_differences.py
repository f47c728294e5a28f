"""Differences between two releases: rows, rejects, recipes, values, and changes of the metrics."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from features.core.types import RejectCode
from features.schemas import Reject, StageOutput, rejects_frame
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.differences import PartDifference, RejectDifference, compare_releases
from features.store.plan import plan
from features.store.scope import PlannedStage

SHARD = 40


def stages(version):
    return [
        PlannedStage("amr", "sentences", ("sentences",), Recipe("amr", {"max_words": 512})),
        PlannedStage("metrics", "pairs", ("pairs", "amr"), Recipe("metrics", {}, version)),
    ]


@pytest.fixture
def publish(store, filled, write, commit):
    """Return a function that makes a release of a number of pairs, `SHARD` per shard, with metrics of some version."""

    def make(pairs, version="1", shift=0.0, rejected=()):
        for start in range(0, pairs, SHARD):
            shard = f"{start // SHARD:03d}"
            ids = [f"{number:05d}" for number in range(start, min(start + SHARD, pairs))]
            if f"pairs-{shard}" in store.committed("pairs"):
                continue
            corpus = "sick" if start % (2 * SHARD) else "stsb"
            columns = {"corpus": corpus, "split": "train", "kind": "positive", "shard_a": f"s-{shard}"}
            commit(
                write("sentences", f"s-{shard}", ids, inputs=[shard], text="two cats"),
                write("pairs", f"pairs-{shard}", ids, inputs=[shard], **columns, shard_b=f"s-{shard}"),
            )
        chain = stages(version)
        for work in plan(store, chain).todo:
            number = work.shard.rpartition("-")[2]
            source = f"s-{number}" if work.stage == "amr" else f"pairs-{number}"
            key = "sentence_id" if work.stage == "amr" else "pair_id"
            ids = store.read("sentences" if work.stage == "amr" else "pairs", shards=[source])[key].to_list()
            if work.stage == "amr":
                output = filled("amr", ids, parser="p", penman="(c / cat)")
            else:
                out = [name for name in ids if name in rejected]
                output = _metrics([name for name in ids if name not in rejected], shift, out)
            receipt = store.write_shard(work.stage, work.shard, work.fingerprint, output)
            store.commit([receipt], run_id="b", recipes={stage.name: stage.recipe for stage in chain})
        return store.publish("b", stages=chain)

    return make


def _metrics(ids, shift, rejected):
    values = [(int(name) % 20) / 20 for name in ids]
    columns = {name: [None] * len(ids) for name in TABLES["metrics"]}
    columns |= {"pair_id": ids, "smatch": [min(1.0, value + shift) for value in values], "root": values}
    rejects = [Reject(name, RejectCode.NO_GRAPH, "no graph") for name in rejected]
    return StageOutput(pl.DataFrame(columns, schema=TABLES["metrics"]), rejects_frame(rejects))


def counts(found, table):
    (of,) = [entry for entry in found.tables if entry.table == table]
    return (of.old, of.new, of.added, of.lost, of.changed)


def test_equal_releases_have_no_difference(store, publish):
    release = publish(60)
    found = compare_releases(store, release, release)
    assert found.none
    assert (found.drift, found.values, found.parts) == ((), (), ())


def test_new_rows_are_counted_by_table_corpus_and_split(store, publish):
    old, new = publish(40), publish(100)
    found = compare_releases(store, old, new)
    assert not found.none
    assert counts(found, "pairs") == counts(found, "metrics") == (40, 100, 60, 0, 0)
    assert counts(found, "amr") == (40, 100, 60, 0, 0)
    assert [part for part in found.parts if part.table == "pairs"] == [
        PartDifference("pairs", "sick", "train", added=40, lost=0),
        PartDifference("pairs", "stsb", "train", added=20, lost=0),
    ]
    assert {(drift.old.rows, drift.new.rows) for drift in found.drift} == {(40, 100)}
    assert {drift.size for drift in found.drift} <= {"none", "within chance"}


def test_the_other_way_round_what_was_added_is_lost(store, publish):
    old, new = publish(40), publish(100)
    found = compare_releases(store, new, old)
    assert counts(found, "metrics") == (100, 40, 0, 60, 0)
    assert found.parts[0].lost == 40


def test_a_changed_recipe_is_named_with_the_rows_and_the_size_of_what_it_changed(store, publish):
    old, new = publish(80), publish(80, version="2", shift=0.15)
    found = compare_releases(store, old, new)
    assert [str(change) for change in found.recipes] == ["metrics: algorithm 1 → 2"]
    # Of 20 values in steps of 0.05 all move by 0.15 but the last two, 0.9 and 0.95, which move to 1.
    assert counts(found, "metrics") == (80, 80, 0, 0, 80)
    assert counts(found, "amr") == (80, 80, 0, 0, 0)
    (value,) = found.values
    assert (value.table, value.column, value.rows) == ("metrics", "smatch", 80)
    assert value.largest == pytest.approx(0.15)
    moved = {drift.metric: drift for drift in found.drift}
    assert moved["root"].size == "none"
    assert moved["smatch"].distance == pytest.approx(0.15)
    assert moved["smatch"].new.mean - moved["smatch"].old.mean == pytest.approx(0.1425)


def test_a_value_that_came_or_went_is_a_change_without_a_size(store, publish, write, commit):
    old = publish(40)
    (shard,) = store.committed("metrics")
    commit(write("metrics", shard, store.read("metrics")["pair_id"].to_list()))
    new = replace(old, number=2, versions=store.versions())
    found = compare_releases(store, old, new)
    assert {(value.column, value.rows, value.largest) for value in found.values} == {
        ("smatch", 40, None),
        ("root", 40, None),
    }
    assert found.drift == (), "a metric without values has no distribution"


def test_what_only_one_release_has_is_new_or_gone_and_has_not_moved(store, publish):
    new = publish(40)
    parts = ("versions", "recipes", "rows", "rejects")
    without = {part: {name: of for name, of in getattr(new, part).items() if name != "metrics"} for part in parts}
    old = replace(new, **without)
    came, went = compare_releases(store, old, new), compare_releases(store, new, old)
    assert (counts(came, "metrics"), counts(went, "metrics")) == ((0, 40, 40, 0, 0), (40, 0, 0, 40, 0))
    assert [(change.stage, change.kind) for change in (*came.recipes, *went.recipes)] == [
        ("metrics", "new"),
        ("metrics", "gone"),
    ]
    assert came.drift == went.drift == ()


def test_texts_change_by_no_size(store, publish, write, commit):
    old = publish(40)
    (shard,) = store.committed("amr")
    commit(write("amr", shard, store.read("amr")["sentence_id"].to_list(), parser="p", penman="(d / dog)"))
    found = compare_releases(store, old, replace(old, versions=store.versions()))
    assert [(value.column, value.rows, value.largest) for value in found.values] == [("penman", 40, None)]


def test_rejects_are_counted_by_code_as_each_release_counts_them(store, publish):
    old = publish(80, rejected={"00003"})
    new = publish(80, version="2", rejected={"00001", "00002", "00050"})
    found = compare_releases(store, old, new)
    assert found.rejects == (RejectDifference("metrics", "no_graph", 1, 3),)
    assert (old.rejects["metrics"], new.rejects["metrics"]) == (1, 3)
    assert counts(found, "metrics") == (79, 77, 1, 3, 0)


def test_all_of_it_is_strict_json(store, publish):
    old, new = publish(40), publish(80, version="2", shift=0.1)
    content = json.loads(json.dumps(compare_releases(store, old, new).as_json(), allow_nan=False))
    assert content["same"] is False
    assert content["recipes"][0]["changes"][0] == {"part": "algorithm", "old": "1", "new": "2"}
    assert len(content["drift"][0]["old"]["quantiles"]) == 5


def test_only_files_that_differ_are_read(store, publish, monkeypatch):
    old, new = publish(400), publish(440)
    read = []
    scan = type(store).scan

    def noted(self, table, version=None, shards=None, *args, **kwargs):
        read.append((table, shards))
        return scan(self, table, version, shards, *args, **kwargs)

    monkeypatch.setattr(type(store), "scan", noted)
    compare_releases(store, old, new)
    assert {tuple(shards) for table, shards in read if table == "amr"} == {(), ("s-010",)}
    assert np.all([shards is not None for table, shards in read if table in {"pairs", "sentences"}])


def test_labels_are_compared_too(store, publish, write, commit):
    old = publish(40)
    columns = {"corpus": "papers", "split": "train", "sentence": "00000", "sentence_shard": "s-000"}
    commit(write("labels", "labels-00000", ["a", "b"], **columns, aspect="task", label="parsing"))
    new = replace(old, number=2, versions=store.versions(), rows={**old.rows, "labels": 2})
    found = compare_releases(store, old, new)
    assert counts(found, "labels") == (0, 2, 2, 0, 0)
    assert found.parts == (PartDifference("labels", "papers", "train", added=2, lost=0),)
    assert not found.none
