"""What the garbage collection deletes: what no release, no reader of lately and nobody who commits needs."""

import os
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import polars as pl
from sentences import refused

from features.core.faults import TableFileDamaged
from features.store import delta
from features.store.plan import plan
from features.store.store import Garbage, Store

NOW = timedelta(0)


def parquet(store):
    return sorted(str(file.relative_to(Path(store.location))) for file in Path(store.location).rglob("*.parquet"))


def age(store, days):
    then = time.time() - days * 86400
    for file in [*Path(store.location).rglob("*.parquet"), *Path(store.location).rglob("_tmp-*")]:
        os.utime(file, (then, then))


def test_files_of_releases_and_of_now_stay(store, build, stages):
    build(1)
    first = store.publish("run-1", stages=stages(1))
    build(2)
    unpublished = store.versions()["amr"]
    build(3)
    before = [store.read("amr", version) for version in (first.versions["amr"], None)]

    garbage = store.collect_garbage(NOW)

    assert len(garbage.files) == 3
    assert all("tables/amr/shard=" in file for file in garbage.files)
    assert store.read("amr", first.versions["amr"]).equals(before[0])
    assert store.read("amr").equals(before[1])
    with refused(TableFileDamaged):
        store.read("amr", unpublished)


def checkpoints(store):
    return sorted(path.name for path in Path(store.location).glob("tables/amr/_delta_log/*.checkpoint.parquet"))


def test_pinned_releases_open_after_checkpoints_and_gc_and_spare_checkpoints_go(store, build, stages):
    releases = []
    for size in range(21):  # three commits each
        build(size)
        if size in {3, 9}:
            releases.append(store.publish(f"run-{size}", stages=stages(size)))
    table, newest = store._table("amr"), store.versions()["amr"]
    before = {version: table.files(version) for version in range(newest + 1)}
    rows = [store.read("amr", release.versions["amr"]) for release in releases]
    first, second, last = checkpoints(store)

    assert table.spare_checkpoints([int(second[:20])]) == [f"_delta_log/{first}"], "that of the version itself"
    planned = store.collect_garbage(NOW, dry_run=True)
    assert checkpoints(store) == [first, second, last]
    assert store.collect_garbage(NOW) == planned
    assert checkpoints(store) == [first, last], "the second release is read from the first one"

    again = Store.open(store.location)
    assert [again.release(release.number) for release in releases] == releases
    assert all(again.read("amr", of.versions["amr"]).equals(held) for of, held in zip(releases, rows, strict=True))
    assert {version: table.files(version) for version in range(newest + 1)} == before, "any version can be opened"
    assert again.verify(deep=True).damaged == again.verify(deep=True).broken == ()
    build(21)
    assert again.publish("run-21", stages=stages(21)).number == 3


def test_what_was_removed_long_ago_leaves_the_checkpoints(store, build, monkeypatch):
    month_ago = time.time_ns() - 31 * 86400 * 10**9
    with monkeypatch.context() as past:
        past.setattr(delta, "time", SimpleNamespace(time_ns=lambda: month_ago, sleep=time.sleep))
        for size in range(6):
            build(size)
    for size in range(6, 8):
        build(size)
    (checkpoint,) = Path(store.location).glob("tables/amr/_delta_log/*.checkpoint.parquet")
    removed = pl.read_parquet(checkpoint)["remove"].struct.field("path").drop_nulls()
    assert 0 < removed.len() < 9, "18 were removed, 15 of them a month ago"


def test_garbage_collection_is_no_change_of_the_store(store, build):
    build(1)
    build(2)
    versions = store.versions()

    assert store.collect_garbage(NOW).files
    assert store.versions() == versions
    assert store.collect_garbage(NOW).files == ()


def test_dry_run_only_tells(store, build):
    build(1)
    build(2)
    before = parquet(store)
    temporary = Path(store.location) / "_tmp-x"
    temporary.write_bytes(b"x")

    garbage = store.collect_garbage(NOW, dry_run=True)
    assert parquet(store) == before
    assert temporary.exists()
    assert store.collect_garbage(NOW) == garbage
    assert {*before, temporary.name} - {*parquet(store)} == set(garbage.files)


def test_files_that_were_never_committed_go_when_they_are_old(store, build, write, commit):
    build()
    old = write("amr", "s9", ["a"], inputs=["old"])
    temporaries = [Path(store.location) / f"_tmp-{name}" for name in ("x", "y")]
    for file in temporaries:
        file.write_bytes(b"x")
    age(store, 8)
    young = write("amr", "s9", ["a"], inputs=["young"])

    garbage = store.collect_garbage(timedelta(days=7))

    assert set(garbage.files) == {
        f"tables/amr/{old.data.path}",
        *(str(file.relative_to(Path(store.location))) for file in temporaries),
    }
    commit(young)
    assert "s9" in store.committed("amr")
    assert not (Path(store.location) / "tables" / "amr" / old.data.path).exists()


def test_files_behind_a_link_in_a_table_are_not_ours_to_delete(store, build, tmp_path):
    build(1)
    build(2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    (Path(store.location) / "tables/amr/shard=s7").symlink_to(tmp_path / "mine")

    assert store.collect_garbage(NOW).files
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_temporary_files_may_vanish_while_they_are_counted(store, monkeypatch):
    kept, gone = (Path(store.location) / f"_tmp-{name}" for name in ("kept", "gone"))
    kept.write_bytes(b"xyz")
    monkeypatch.setattr(Path, "glob", lambda *_: [gone, kept])

    assert store.collect_garbage(NOW, dry_run=True) == Garbage((kept.name,), 3)


def test_files_replaced_lately_stay_for_their_readers(store, build):
    build(1)
    version = store.versions()["amr"]
    build(2)
    age(store, 30)

    assert store.collect_garbage(timedelta(days=7)).files == ()
    assert store.read("amr", version).height == 12


def test_shard_written_again_as_it_once_was_stays_until_it_is_committed(store, build, stages, filled, monkeypatch):
    build(1)
    month_ago = time.time_ns() - 30 * 86400 * 10**9
    with monkeypatch.context() as past:
        past.setattr(delta, "time", SimpleNamespace(time_ns=lambda: month_ago, sleep=time.sleep))
        build(2)
    age(store, 30)
    assert len(store.collect_garbage(timedelta(hours=1), dry_run=True).files) == 3
    [work] = [work for work in plan(store, stages(1)).todo if work.shard == "s0"]
    again = store.write_shard("amr", "s0", work.fingerprint, filled("amr", [f"s0-1-{number}" for number in range(4)]))

    store.collect_garbage(timedelta(hours=1))
    store.commit([again], run_id="b", recipes={"amr": stages(1)[0].recipe})
    assert store.read("amr", shards=["s0"])["sentence_id"].to_list() == [f"s0-1-{number}" for number in range(4)]


def test_empty_folders_go(store, build):
    build(1)
    build(2)
    store.collect_garbage(NOW)

    assert all(any(found.iterdir()) for found in (Path(store.location) / "tables").rglob("*=*") if found.is_dir())
