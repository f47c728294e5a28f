"""Releases are complete, stay readable, and survive the garbage collection."""

import dataclasses
import json
import os
import threading
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from sentences import refused

from features.core.errors import StoreError
from features.core.faults import (
    NoRelease,
    NotComplete,
    StoreDamaged,
    StoreUnreachable,
    TableFileDamaged,
    TooManyRejects,
    UnknownTable,
    WrittenByAnother,
)
from features.stages.stage import Recipe
from features.store import delta
from features.store.fingerprints import fingerprint
from features.store.plan import plan
from features.store.publishing import obstacles
from features.store.releases import release_numbers, write_release
from features.store.runs import RunRecord, now
from features.store.scope import PlannedStage
from features.store.storage import FolderStorage
from features.store.store import Garbage, Store

NOW = timedelta(0)


def stages(size=1):
    return [PlannedStage("amr", "sentences", ("sentences",), Recipe("amr", {"size": size}))]


@pytest.fixture
def build(store, filled, recipes):
    """Return a function that ingests three shards and makes their graphs, with a given number of rejects."""

    def make(size=1, rejected=0, only=("s0", "s1", "s2")):
        ingested = [
            store.write_shard(
                "sentences", shard, fingerprint(recipes["sentences"], [shard]), filled("sentences", [shard])
            )
            for shard in ("s0", "s1", "s2")
        ]
        store.commit(ingested, run_id="ingest", recipes=recipes)
        used = {stage.name: stage.recipe for stage in stages(size)}
        for work in plan(store, stages(size)).todo:
            if work.shard in only:
                ids = [f"{work.shard}-{size}-{number}" for number in range(4)]
                output = filled("amr", ids[rejected:], ids[:rejected])
                store.commit([store.write_shard("amr", work.shard, work.fingerprint, output)], run_id="b", recipes=used)

    return make


def parquet(store):
    return sorted(str(file.relative_to(Path(store.location))) for file in Path(store.location).rglob("*.parquet"))


def age(store, days):
    then = time.time() - days * 86400
    for file in [*Path(store.location).rglob("*.parquet"), *Path(store.location).rglob("_tmp-*")]:
        os.utime(file, (then, then))


# -- publishing ------------------------------------------------------------------------------------------------------


def test_a_new_release_is_above_numbers_that_are_taken(store, build):
    build()
    assert store.publish("run-1", stages=stages(), after=4).number == 5
    assert store.publish("run-2", stages=stages(), after=7).number == 5, "nothing changed"


def test_labels_are_published_where_there_are_any(store, build, recipes, filled):
    build()
    assert "labels" not in store.publish("run-1", stages=stages()).rows
    shard = store.write_shard("labels", "l0", fingerprint(recipes["labels"], []), filled("labels", ["a", "b"]))
    store.commit([shard], run_id="i", recipes=recipes)
    assert store.publish("run-2", stages=stages()).rows["labels"] == 2


def test_damaged_rejects_of_ingest_are_not_published_and_those_of_a_stage_without_shards_do_not_count(
    store, build, recipes, filled
):
    build()
    for stage in ("srl", "ingest"):
        before = set(parquet(store))
        rejects = filled("sentences", [], ["a"]).rejects
        receipt = store.write_rejects(stage, "r0", fingerprint(recipes[stage], []), rejects)
        store.commit([receipt], run_id="i", recipes=recipes)
        (file,) = set(parquet(store)) - before
        (Path(store.location) / file).unlink()
        if stage == "srl":
            assert store.publish("run-1", stages=stages()).rejects == {}
    with refused(StoreDamaged):
        store.publish("run-2", stages=stages())


def test_a_number_that_another_process_took_meanwhile_is_refused(store, build):
    build()
    release = store.publish("run-1", stages=stages())
    with refused(WrittenByAnother):
        write_release(store.storage, release)


def test_release_says_what_it_holds(store, build, recipes, filled):
    build(rejected=1)
    rejects = filled("amr", [], ["f:1", "f:2"]).rejects
    receipt = store.write_rejects("ingest", "corpora", fingerprint(recipes["ingest"], []), rejects)
    store.commit([receipt], run_id="i", recipes=recipes)

    release = store.publish("run-1", stages=stages())

    assert (release.number, release.run_id) == (1, "run-1")
    assert release.rows == {"sentences": 3, "pairs": 0, "amr": 9}
    assert release.rejects == {"amr": 3, "ingest": 2}
    assert release.versions["amr"] == store.versions()["amr"]
    assert release.recipe("amr") == stages()[0].recipe
    assert release.recipe("sentences") == recipes["sentences"]
    assert release.missing == {}
    assert release == store.release() == store.release() == store.release(1)


def test_nothing_new_publishes_nothing(store, build):
    build()
    first = store.publish("run-1", stages=stages())

    assert store.publish("run-2", stages=stages()) == first
    assert len(store.releases()) == 1


def test_a_changed_recipe_of_a_stage_without_shards_publishes_nothing(store, build):
    build()
    chains = [[*stages(), PlannedStage("metrics", "pairs", ("pairs",), Recipe("metrics", {"n": n}))] for n in (1, 2)]
    assert [store.publish("run", stages=chain).number for chain in chains] == [1, 1]


@pytest.fixture
def reject(store, filled, recipes):
    """Return a function that stores which rows of files were rejected, in place of those of before."""

    def put(*rows):
        receipt = store.write_rejects(
            "ingest", "corpora", fingerprint(recipes["ingest"], rows), filled("amr", [], [*rows]).rejects
        )
        store.commit([receipt], run_id="i", recipes=recipes)

    return put


def test_content_that_went_and_came_back_publishes_nothing(store, build, reject):
    build(1, rejected=1)
    reject("f:1")
    first = store.publish("run-1", stages=stages(1))

    for rows in (("f:1", "f:2", "f:3"), (), ("f:2",)):
        reject(*rows)
    build(2)
    build(1, rejected=1)

    assert all(store.versions()[name] > first.versions[name] for name in ("rejects", "amr"))
    assert store.publish("run-2", stages=stages(1)) == first
    store.collect_garbage(NOW)
    found = store.verify(deep=True)
    assert (found.damaged, found.broken) == ((), ())
    assert store.read("amr", first.versions["amr"]).height == store.release(1).rows["amr"] == 9
    assert store.read("rejects", first.versions["rejects"]).height == 4


def test_rejected_rows_that_differ_from_those_of_the_release_are_published(store, build, reject):
    build()
    assert store.publish("run-1", stages=stages()).rejects == {}
    reject("f:1")
    assert store.publish("run-2", stages=stages()).number == 2
    reject()
    assert store.publish("run-3", stages=stages()).number == 3


def test_as_many_rows_with_other_content_are_published(store, build, filled):
    build()
    first = store.publish("run-1", stages=stages())
    used = {"amr": stages()[0].recipe}
    known = store.committed("amr")["s1"]
    store.commit(
        [store.write_shard("amr", "s1", known.fingerprint, filled("amr", list("abcd")))], run_id="b", recipes=used
    )

    second = store.publish("run-2", stages=stages())

    assert (second.number, second.rows) == (2, first.rows)


def test_a_release_that_lost_a_shard_holds_less_than_the_store_that_made_it_again(store, build):
    build()
    first = store.publish("run-1", stages=stages())
    (Path(store.location) / f"tables/amr/_delta_log/{first.versions['amr']:020d}.json").write_text("")
    build()

    second = store.publish("run-2", stages=stages())

    assert (second.number, second.rows) == (2, first.rows)
    assert store.release(2) == second


def test_a_release_that_lost_its_rejects_is_followed_by_another(store, build, reject):
    build()
    reject("f:1")
    store.publish("run-1", stages=stages())
    (file,) = Path(store.location).glob("tables/rejects/stage=ingest/**/*.parquet")
    reject("f:2")
    file.unlink()

    assert store.publish("run-2", stages=stages()).number == 2


def test_a_release_that_cannot_be_reached_is_not_followed_by_its_copy(store, build, reject, monkeypatch):
    build()
    reject("f:1")
    first = store.publish("run-1", stages=stages())
    reject()
    reject("f:1")
    stat = FolderStorage.stat

    def cut_off(storage, name):
        if name.endswith(f"rejects/_delta_log/{first.versions['rejects']:020d}.json"):
            raise OSError("no route to host")
        return stat(storage, name)

    monkeypatch.setattr(FolderStorage, "stat", cut_off)
    with pytest.raises(StoreUnreachable):
        store.publish("run-2", stages=stages())
    monkeypatch.undo()
    assert store.publish("run-2", stages=stages()) == first


def test_a_release_with_a_table_of_another_version_of_facetflow_is_told_and_keeps_its_files(store, build):
    build()
    release = store.publish("run-1", stages=stages())
    store.storage.delete("releases/00001.json")
    further = {"versions": {**release.versions, "trees": 1}, "rows": {**release.rows, "trees": 4}}
    write_release(store.storage, dataclasses.replace(release, **further))
    with pytest.raises(UnknownTable):
        store.collect_garbage(NOW)
    assert len(store.verify().broken) == 1


def test_release_reads_the_same_after_the_store_went_on(store, build):
    build(1)
    first = store.publish("run-1", stages=stages(1))
    before = store.read("amr", first.versions["amr"])
    build(2)
    second = store.publish("run-2", stages=stages(2))

    assert second.number == 2
    assert store.read("amr", first.versions["amr"]).equals(before)
    assert not store.read("amr", second.versions["amr"]).equals(before)


def test_incomplete_store_is_not_published(store, build):
    build(only=("s0", "s2"))

    with refused(NotComplete):
        store.publish("run-1", stages=stages())
    assert store.releases() == []


def test_mixed_store_is_not_published_whatever_the_limit(store, build):
    build(1)
    build(2, only=("s0", "s2"))

    with refused(NotComplete):
        store.publish("run-1", stages=stages(2), failed_shards=1)


def test_missing_shards_are_accepted_up_to_the_limit_and_named(store, build):
    build(only=("s0", "s2"))

    with refused(NotComplete):
        store.publish("run-1", stages=stages(), failed_shards=0.3)
    assert store.publish("run-1", stages=stages(), failed_shards=0.34).missing == {"amr": ("s1",)}


def test_too_many_rejects_are_not_published(store, build):
    build(rejected=1)

    with refused(TooManyRejects):
        store.publish("run-1", stages=stages(), rejected_rows=0.2)
    assert store.publish("run-1", stages=stages(), rejected_rows=0.25).number == 1


def test_what_is_in_the_way_of_a_release_is_known_before_the_build(store, build):
    def told(size=1, rejected_rows=1.0):
        return obstacles(store, plan(store, stages(size)), stages(size), rejected_rows=rejected_rows)

    assert [sentence[:22] for sentence in told()] == ["There are no sentences"]
    build(rejected=1, only=("s1", "s2"))
    assert told() == []
    assert [sentence.partition(",")[0] for sentence in told(rejected_rows=0.6)] == [
        "Nothing will be published: stage 'amr' has rejected 2 of 3 rows"
    ]
    assert told(rejected_rows=2 / 3) == told(2, rejected_rows=0.0) == []


def test_sentences_of_two_settings_are_not_published(store, build, filled):
    build()
    other = {"sentences": Recipe("sentences", {"size": 2})}
    receipt = store.write_shard("sentences", "s0", fingerprint(other["sentences"], []), filled("sentences", ["x"]))
    store.commit([receipt], run_id="i", recipes=other)
    used = {"amr": stages()[0].recipe}
    for work in plan(store, stages()).todo:
        receipt = store.write_shard("amr", work.shard, work.fingerprint, filled("amr", ["x"]))
        store.commit([receipt], run_id="b", recipes=used)

    with refused(NotComplete):
        store.publish("run-1", stages=stages())


def test_number_is_given_once(store, build):
    build()
    release = store.publish("run-1", stages=stages())
    refused = []

    def again():
        try:
            write_release(store.storage, release)
        except StoreError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=again) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3
    assert store.release(1) == release
    assert release_numbers(store.storage) == [1]


def test_missing_and_damaged_releases_are_named(store, build):
    with refused(NoRelease):
        store.release()
    store.record_run(RunRecord("run-0", "build_features", now()))
    with refused(NoRelease):
        store.release()
    store.record_run(RunRecord("run-0", "build_features", now(), "failed", message="The disk is full.\nNo space left."))
    with refused(NoRelease):
        store.release()
    build()
    store.publish("run-1", stages=stages())
    with refused(NoRelease):
        store.release(2)
    with refused(UnknownTable):
        store.release(1).recipe("tea")

    file = Path(store.location) / "releases" / "00001.json"
    for content in (json.dumps({"number": 1}), file.read_text().replace('"amr": 3', '"amr": "x"')):
        file.write_text(content)
        with refused(StoreDamaged):
            store.release()


def test_a_release_that_the_system_refuses_is_not_damaged(store, build):
    build()
    file = Path(store.location) / "releases" / f"{store.publish('run-1', stages=stages()).number:05}.json"
    file.unlink()
    file.symlink_to(file)
    with refused(StoreUnreachable):
        store.release(1)


# -- garbage ---------------------------------------------------------------------------------------------------------


def test_files_of_releases_and_of_now_stay(store, build):
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


def test_pinned_releases_open_after_checkpoints_and_gc_and_spare_checkpoints_go(store, build):
    releases = []
    for size in range(21):  # three commits each
        build(size)
        if size in {3, 9}:
            releases.append(store.publish(f"run-{size}", stages=stages(size)))
    table, newest = store._table("amr"), store.versions()["amr"]
    before = {version: table.files(version) for version in range(newest + 1)}
    rows = [store.read("amr", release.versions["amr"]) for release in releases]
    first, second, last = checkpoints(store)

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


def test_the_log_is_replayed_as_it_is_opened(store, build, reject):
    build(1, rejected=1)
    reject("f:1")
    store.withdraw([("amr", "s1")], run_id="later")
    build(2, rejected=2, only=("s0", "s1"))
    for name, version in store.versions().items():
        table, wanted = store._table(name), range(0, version + 1, 2)
        replayed = {at: sorted(files, key=lambda file: file.path) for at, files in table.files_at(wanted)}
        assert replayed == {at: sorted(table.files(at), key=lambda file: file.path) for at in wanted}, name
    assert list(store._table("amr").files_at(())) == []


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


def test_files_that_were_never_committed_go_when_they_are_old(store, build, filled, recipes):
    build()
    old = store.write_shard("amr", "s9", fingerprint(recipes["amr"], ["old"]), filled("amr", ["a"]))
    temporaries = [Path(store.location) / f"_tmp-{name}" for name in ("x", "y")]
    for file in temporaries:
        file.write_bytes(b"x")
    age(store, 8)
    young = store.write_shard("amr", "s9", fingerprint(recipes["amr"], ["young"]), filled("amr", ["a"]))

    garbage = store.collect_garbage(timedelta(days=7))

    assert set(garbage.files) == {
        f"tables/amr/{old.data.path}",
        *(str(file.relative_to(Path(store.location))) for file in temporaries),
    }
    store.commit([young], run_id="b", recipes=recipes)
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


def test_shard_written_again_as_it_once_was_stays_until_it_is_committed(store, build, filled, monkeypatch):
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
