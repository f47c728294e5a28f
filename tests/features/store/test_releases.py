"""Releases are complete, stay readable, and survive the garbage collection."""

import dataclasses
import json
from datetime import timedelta
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import (
    NoRelease,
    NotComplete,
    StoreDamaged,
    StoreUnreachable,
    TooManyRejects,
    UnknownTable,
    WrittenByAnother,
)
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.plan import plan
from features.store.publishing import obstacles
from features.store.releases import write_release
from features.store.runs import RunRecord, now
from features.store.scope import PlannedStage
from features.store.storage import FolderStorage

NOW = timedelta(0)


def parquet(store):
    return sorted(str(file.relative_to(Path(store.location))) for file in Path(store.location).rglob("*.parquet"))


@pytest.fixture
def reject(store, filled, recipes, commit):
    """Return a function that stores which rows of files were rejected, in place of those of before."""

    def put(*rows):
        rejects = filled("amr", [], [*rows]).rejects
        commit(store.write_rejects("ingest", "corpora", fingerprint(recipes["ingest"], rows), rejects))

    return put


def test_a_new_release_is_above_numbers_that_are_taken_and_is_none_where_nothing_changed(store, build, stages):
    build()
    assert store.publish("run-1", stages=stages(), after=4).number == 5
    assert store.publish("run-2", stages=stages(), after=7).number == 5, "nothing changed"


def test_labels_are_published_where_there_are_any(store, build, stages, write, commit):
    build()
    assert "labels" not in store.publish("run-1", stages=stages()).rows
    commit(write("labels", "l0", ["a", "b"]))
    assert store.publish("run-2", stages=stages()).rows["labels"] == 2


def test_damaged_rejects_of_ingest_are_not_published_and_those_of_a_stage_without_shards_do_not_count(
    store, build, stages, recipes, filled, commit
):
    build()
    for stage in ("srl", "ingest"):
        before = set(parquet(store))
        rejects = filled("sentences", [], ["a"]).rejects
        commit(store.write_rejects(stage, "r0", fingerprint(recipes[stage], []), rejects))
        (file,) = set(parquet(store)) - before
        (Path(store.location) / file).unlink()
        if stage == "srl":
            assert store.publish("run-1", stages=stages()).rejects == {}
    with refused(StoreDamaged):
        store.publish("run-2", stages=stages())


def test_a_number_that_another_process_took_meanwhile_is_refused(store, build, stages):
    build()
    release = store.publish("run-1", stages=stages())
    with refused(WrittenByAnother):
        write_release(store.storage, release)
    assert store.releases() == [release]


def test_release_says_what_it_holds(store, build, stages, recipes, reject):
    build(rejected=1)
    reject("f:1", "f:2")

    release = store.publish("run-1", stages=stages())

    assert (release.number, release.run_id) == (1, "run-1")
    assert release.rows == {"sentences": 3, "pairs": 0, "amr": 9}
    assert release.rejects == {"amr": 3, "ingest": 2}
    assert release.versions["amr"] == store.versions()["amr"]
    assert release.recipe("amr") == stages()[0].recipe
    assert release.recipe("sentences") == recipes["sentences"]
    assert release.missing == {}
    assert release == store.release() == store.release() == store.release(1)


def test_a_changed_recipe_of_a_stage_without_shards_publishes_nothing(store, build, stages):
    build()
    chains = [[*stages(), PlannedStage("metrics", "pairs", ("pairs",), Recipe("metrics", {"n": n}))] for n in (1, 2)]
    assert [store.publish("run", stages=chain).number for chain in chains] == [1, 1]


def test_content_that_went_and_came_back_publishes_nothing(store, build, stages, reject):
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


def test_rejected_rows_that_differ_from_those_of_the_release_are_published(store, build, stages, reject):
    build()
    assert store.publish("run-1", stages=stages()).rejects == {}
    reject("f:1")
    assert store.publish("run-2", stages=stages()).number == 2
    reject()
    assert store.publish("run-3", stages=stages()).number == 3


def test_as_many_rows_with_other_content_are_published(store, build, stages, filled):
    build()
    first = store.publish("run-1", stages=stages())
    used = {"amr": stages()[0].recipe}
    known = store.committed("amr")["s1"]
    store.commit(
        [store.write_shard("amr", "s1", known.fingerprint, filled("amr", list("abcd")))], run_id="b", recipes=used
    )

    second = store.publish("run-2", stages=stages())

    assert (second.number, second.rows) == (2, first.rows)


def test_a_release_that_lost_a_shard_holds_less_than_the_store_that_made_it_again(store, build, stages):
    build()
    first = store.publish("run-1", stages=stages())
    (Path(store.location) / f"tables/amr/_delta_log/{first.versions['amr']:020d}.json").write_text("")
    build()

    second = store.publish("run-2", stages=stages())

    assert (second.number, second.rows) == (2, first.rows)
    assert store.release(2) == second


def test_a_release_that_lost_its_rejects_is_followed_by_another(store, build, stages, reject):
    build()
    reject("f:1")
    store.publish("run-1", stages=stages())
    (file,) = Path(store.location).glob("tables/rejects/stage=ingest/**/*.parquet")
    reject("f:2")
    file.unlink()

    assert store.publish("run-2", stages=stages()).number == 2


def test_a_release_that_cannot_be_reached_is_not_followed_by_its_copy(store, build, stages, reject, monkeypatch):
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


def test_a_release_with_a_table_of_another_version_of_facetflow_is_told_and_keeps_its_files(store, build, stages):
    build()
    release = store.publish("run-1", stages=stages())
    store.storage.delete("releases/00001.json")
    further = {"versions": {**release.versions, "trees": 1}, "rows": {**release.rows, "trees": 4}}
    write_release(store.storage, dataclasses.replace(release, **further))
    with pytest.raises(UnknownTable):
        store.collect_garbage(NOW)
    with refused(UnknownTable):
        store.release()
    assert len(store.verify().broken) == 1


def test_release_reads_the_same_after_the_store_went_on(store, build, stages):
    build(1)
    first = store.publish("run-1", stages=stages(1))
    before = store.read("amr", first.versions["amr"])
    build(2)
    second = store.publish("run-2", stages=stages(2))

    assert second.number == 2
    assert store.read("amr", first.versions["amr"]).equals(before)
    assert not store.read("amr", second.versions["amr"]).equals(before)


def test_incomplete_store_is_not_published(store, build, stages):
    build(only=("s0", "s2"))

    with refused(NotComplete):
        store.publish("run-1", stages=stages())
    assert store.releases() == []


def test_mixed_store_is_not_published_whatever_the_limit(store, build, stages):
    build(1)
    build(2, only=("s0", "s2"))

    with refused(NotComplete):
        store.publish("run-1", stages=stages(2), failed_shards=1)


def test_missing_shards_are_accepted_up_to_the_limit_and_named(store, build, stages):
    build(only=("s0", "s2"))

    with refused(NotComplete):
        store.publish("run-1", stages=stages(), failed_shards=0.3)
    assert store.publish("run-1", stages=stages(), failed_shards=0.34).missing == {"amr": ("s1",)}


def test_too_many_rejects_are_not_published(store, build, stages):
    build(rejected=1)

    with refused(TooManyRejects):
        store.publish("run-1", stages=stages(), rejected_rows=0.2)
    assert store.publish("run-1", stages=stages(), rejected_rows=0.25).number == 1


def test_what_is_in_the_way_of_a_release_is_known_before_the_build(store, build, stages):
    def told(size=1, rejected_rows=1.0):
        return obstacles(store, plan(store, stages(size)), stages(size), rejected_rows=rejected_rows)

    assert [sentence[:22] for sentence in told()] == ["There are no sentences"]
    build(rejected=1, only=("s1", "s2"))
    assert told() == []
    assert [sentence.partition(",")[0] for sentence in told(rejected_rows=0.6)] == [
        "Nothing will be published: stage 'amr' has rejected 2 of 3 rows"
    ]
    assert told(rejected_rows=2 / 3) == told(2, rejected_rows=0.0) == []


def test_sentences_of_two_settings_are_not_published(store, build, stages, filled):
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


def test_missing_and_damaged_releases_are_named(store, build, stages):
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
    written = file.read_text()
    for content in (
        json.dumps({"number": 1}),
        written.replace('"amr": 3', '"amr": "x"'),
        written.replace('"amr": 3', '"other": 3'),  # rows without the version that has them
    ):
        file.write_text(content)
        with refused(StoreDamaged):
            store.release()


def test_a_release_that_the_system_refuses_is_not_damaged(store, build, stages):
    build()
    file = Path(store.location) / "releases" / f"{store.publish('run-1', stages=stages()).number:05}.json"
    file.unlink()
    file.symlink_to(file)
    with refused(StoreUnreachable):
        store.release(1)


def test_the_log_is_replayed_as_it_is_opened(store, build, reject, monkeypatch):
    monkeypatch.setattr("features.store.delta._AT_ONCE", 2)
    build(1, rejected=1)
    reject("f:1")
    store.withdraw([("amr", "s1")], run_id="later")
    build(2, rejected=2, only=("s0", "s1"))
    for name, version in store.versions().items():
        table, wanted = store._table(name), range(0, version + 1, 2)
        replayed = {at: sorted(files, key=lambda file: file.path) for at, files in table.files_at(wanted)}
        assert replayed == {at: sorted(table.files(at), key=lambda file: file.path) for at in wanted}, name
    assert list(store._table("amr").files_at(())) == []
