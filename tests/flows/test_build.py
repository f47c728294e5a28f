"""Builds on a real cluster with a real server: first, repeated, refreshed, changed, with failing shards."""

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from generated import ENCODER, write_backbone

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_build_makes_every_row_once_and_publishes(built):
    tables = built.tables()
    assert {name: tables[name].height for name in ("sentences", "pairs", "amr", "metrics")} == {
        "sentences": 60,
        "pairs": 120,
        "amr": 60,
        "metrics": 120,
    }
    assert tables["metrics"]["pair_id"].sort().equals(tables["pairs"]["pair_id"].sort())
    assert tables["rejects"].is_empty()
    release = built.store.release()
    assert (release.number, release.versions["metrics"]) == (1, built.store.versions()["metrics"])


def test_the_record_of_a_build_says_where_the_time_went(built):
    record = built.store.runs()[0]
    assert record.state == "done"
    assert record.made == {"amr": 8, "label_vectors": 8, "metrics": 16}
    assert {"start", "check", "ingest", "plan", "cluster", "stages", "publish", "other", "total"} == set(record.wall)
    assert sum(record.wall.values()) == pytest.approx(2 * record.wall["total"], abs=0.01)
    assert set(record.spans) == {"amr", "label_vectors", "metrics"}
    assert 0 < record.outside < 1


def test_a_second_build_starts_no_cluster_and_changes_nothing(built, facetflow):
    before = built.store.versions()
    code, output = facetflow.run(built, "build")
    assert (code, built.store.versions()) == (0, before)
    assert "release 1 is up to date" in output
    record = built.store.runs()[0]
    assert (record.made, record.outside) == ({}, None)
    assert "cluster" not in record.wall


def test_a_refresh_makes_the_new_shards_only(built, facetflow):
    before = built.tables()
    known = {name: built.store.committed(name) for name in ("sentences", "amr", "label_vectors", "metrics")}
    built.write(85, sentences=8, per_shard=8)
    facetflow.done(built, "build")
    now = {name: built.store.committed(name) for name in known}
    assert all(now[name].items() > known[name].items() for name in known)
    record = built.store.runs()[0]
    assert record.made == {name: len(now[name]) - len(known[name]) for name in ("amr", "label_vectors", "metrics")}
    for name, rows in built.tables().items():
        old = rows.filter(pl.col("shard").is_in(before[name]["shard"].unique().implode()))
        assert old.equals(before[name]), name
    assert built.store.release().rows["pairs"] == 170


def test_a_changed_setting_is_explained_and_built_again(built, here):
    built.write(60, sentences=8, per_shard=8, amr="max_words = 100")
    output = here.done(built, "plan", "--explain")
    assert "amr: 8 shards, 8 to do: 8 because parameters.max_words 512 → 100" in output
    assert "metrics: 16 shards, 16 to do: 16 because amr of sentences-00000, " in output
    versions = built.store.versions()
    assert here.done(built, "plan").splitlines()[1:] == [
        "amr: 8 shards, 8 to do",
        "label_vectors: 8 shards, 8 to do",
        "metrics: 16 shards, 16 to do",
        "Release 2 would follow.",
        "1 encoder would be trained: s3bert, because it has no finished training.",
    ]
    assert built.store.versions() == versions


@pytest.mark.soak
def test_packages_of_the_user_hide_none_of_ours_from_any_process_of_a_refresh(project, facetflow_alone):
    write_backbone(project.folder / "backbone")
    project.write(20, per_shard=32, more=ENCODER)
    project.hide_ours()
    code, output = facetflow_alone.run(project, "refresh")  # a server, a worker, a training and an evaluation
    assert code == 0, output
    assert "is now the current run of the encoder 's3bert'" in output


def test_a_failed_shard_stops_the_release_and_is_made_by_retry(built, facetflow, here):
    # Other vectors make every label vector stale; one shard of the graphs that they are made from cannot be read.
    vectors = built.folder / "vectors.txt"
    vectors.write_text(vectors.read_text().replace("cat ", "tiger "))
    (damaged,) = (built.folder / "store/tables/amr/shard=sentences-00003").rglob("*.parquet")
    intact, status = damaged.read_bytes(), damaged.stat()
    damaged.write_bytes(bytes(len(intact)))
    os.utime(damaged, ns=(status.st_atime_ns, status.st_mtime_ns))  # size and time hide it from a build
    code, output = facetflow.run(built, "build")
    assert code == 2
    assert "failed: label_vectors sentences-00003: " in output
    assert built.store.release().number == 1
    record = built.store.runs()[0]
    assert [(shard.stage, shard.shard) for shard in record.failed] == [("label_vectors", "sentences-00003")]
    assert record.state == "partly"
    assert record.made["label_vectors"] == 7
    assert 0 < record.made["metrics"] < 16, "pairs of other shards are measured, those that need the failed one wait"
    page = built.folder / "runs" / "builds" / record.run_id / "build.html"
    shards = json.loads((page.parent / "build.json").read_text())["shards"]
    states = Counter((shard["stage"], shard["state"]) for shard in shards)
    assert states == {
        ("label_vectors", "committed"): 7,
        ("label_vectors", "failed"): 1,
        ("metrics", "committed"): record.made["metrics"],
        ("metrics", "left out"): 16 - record.made["metrics"],
    }
    assert "Failed shards" in page.read_text()

    output = here.done(built, "status")
    assert "failed: label_vectors sentences-00003" in output
    planned = json.loads(here.done(built, "plan", "--json"))
    assert (planned["release"], planned["publishes"], planned["obstacles"]) == (2, True, [])
    assert {work["stage"]: work["kind"] for work in planned["to_do"]} == {"label_vectors": "failed", "metrics": "input"}

    damaged.write_bytes(intact)
    output = facetflow.done(built, "retry", "--failed")
    retried = built.store.runs()[0]
    assert retried.made == {"label_vectors": 1, "metrics": 16 - record.made["metrics"]}
    assert "ingest" not in retried.wall
    assert built.store.release().number == 2


def test_a_build_makes_again_what_was_lost(built, facetflow, here):
    tables = built.tables()
    lost = [
        next((built.folder / "store/tables" / name).rglob("*.parquet")) for name in ("sentences", "pairs", "metrics")
    ]
    for file in lost:
        file.unlink()
    code, output = here.run(built, "verify")
    assert code == 1
    assert [file.name in output for file in lost] == [True] * 3
    assert "3 files are damaged" in output

    output = facetflow.done(built, "build")
    assert "Rebuilt 2 damaged shards of the corpora, with today's scores and labels." in output
    assert built.store.runs()[0].made == {"metrics": 1}
    here.done(built, "verify", "--deep")
    assert all(rows.equals(tables[name]) for name, rows in built.tables().items())
    assert built.store.release().number == 1, "the same bytes in the same place: there is nothing to publish"


def test_too_many_rejected_rows_are_not_published(built, facetflow):
    built.write(60, sentences=8, per_shard=8, amr="max_words = 3")
    code, output = facetflow.run(built, "build")
    assert code == 2
    assert "Nothing was published: Stage 'amr' rejected 60 of 60 rows" in output
    assert "or raise limits.rejected_rows (FF317)." in output
    assert built.store.release().number == 1


def test_a_night_of_malformed_rows_leaves_no_trace_in_the_releases(built, facetflow):
    pairs = built.folder / "pairs.tsv"
    whole = pairs.read_text()
    pairs.write_text(re.sub(r"\t.*(run|wait) \.", "", whole))
    for command in (["build"], ["retry", "--failed"]):
        code, output = facetflow.run(built, *command)
        assert code == 2, output
        assert "as 'wrong_columns'" in output
    pairs.write_text(whole)
    code, output = facetflow.run(built, "build")
    assert (code, [release.number for release in built.store.releases()]) == (0, [1])
    assert "Nothing changed: release 1 is up to date." in output


def test_two_builds_of_one_store_do_not_run_at_once(built, facetflow):
    from flows.building.store_access import only_writer

    with only_writer(built.store):
        code, output = facetflow.run(built, "build")
    assert code == 1
    assert output.startswith("facetflow: A build or a clean-up works on the store")


def test_with_quiet_the_result_of_a_build_is_said_and_nothing_else(built, facetflow):
    code, output = facetflow.run(built, "build", "--quiet")
    assert (code, output) == (0, "Nothing changed: release 1 is up to date.\n")


def test_garbage_is_collected_with_a_release_left_whole(built, here):
    before = built.tables()
    committed = next((built.folder / "store/tables/amr/shard=sentences-00000").rglob("*.parquet"))
    stray = committed.with_stem("0" * 20)
    shutil.copy(committed, stray)
    assert here.done(built, "gc", "--older-than", "0m", "--dry-run").count(stray.name) == 1
    here.done(built, "gc", "--older-than", "0m")
    assert not stray.exists()
    assert all(rows.equals(before[name]) for name, rows in built.tables().items())
    assert Path(built.folder, "store/releases/00001.json").exists()
