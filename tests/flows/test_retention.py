"""What `facetflow gc --releases` and `[retention]` delete, and what they never delete."""

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from sentences import refused

from features.core.errors import StoreError
from features.core.faults import MissingKey, ReleaseKept, Usage
from features.core.types import Fingerprint, Shard
from features.store.releases import Release, write_release
from features.store.runs import FailedShard, RunRecord, now
from features.store.storage import FolderStorage
from features.store.store import Store
from flows import project as project_file
from flows import retention
from flows.project import RetentionSettings
from flows.retention import (
    Extent,
    delete_by_age,
    delete_obsolete,
    find_obsolete,
    find_old_builds,
    find_old_records,
    find_old_releases,
    find_old_runs,
)
from training.run_records import in_use

LONG_AGO = "2020-01-01T00:00:00+00:00"


@pytest.fixture(scope="module")
def _releases(_built, generated, facetflow, tmp_path_factory):
    """Return a project with three releases, the first of which a training reads."""
    project = generated(Path(shutil.copytree(_built.folder, tmp_path_factory.mktemp("releases") / "built")))
    for pairs in (70, 80):
        write(project, pairs)
        facetflow.done(project, "build")
    run = project.folder / "runs" / "syntax" / "00001-aaaaaa" / "seed-0"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"state": "failed", "message": "killed", "at": LONG_AGO}))
    return project


@pytest.fixture
def releases(_releases, generated, tmp_path):
    """Return a copy of that project."""
    return generated(Path(shutil.copytree(_releases.folder, tmp_path / "built")))


def write(project, pairs, more=""):
    """Write the project, from 80 pairs on with other word vectors, so that metrics are measured anew."""
    project.write(pairs, sentences=8, per_shard=8, more=more)
    if pairs >= 80:
        with (project.folder / "vectors.txt").open("a") as file:
            file.write("zebra 1 2 3\n")


def numbers(project):
    return [release.number for release in project.store.releases()]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.soak
def test_releases_that_nothing_reads_go_with_their_files(releases, here, facetflow):
    before = {}
    for number in (1, 3):
        pinned = releases.store.release(number)
        before[number] = releases.store.read("metrics", version=pinned.versions["metrics"]).sort("pair_id")

    everything = sorted(path for path in (releases.folder / "store").rglob("*") if path.is_file())
    said = here.done(releases, "gc", "--releases", "--older-than", "0m", "--dry-run")
    assert "releases/00002.json" in said.splitlines()
    assert sorted(path for path in (releases.folder / "store").rglob("*") if path.is_file()) == everything
    without = here.done(releases, "gc", "--older-than", "0m", "--dry-run")
    foreseen = json.loads(here.done(releases, "gc", "--releases", "--older-than", "0m", "--dry-run", "--json"))
    assert len(foreseen["files"]) > sum(line.endswith(".parquet") for line in without.splitlines())

    said = here.done(releases, "gc", "--releases", "--older-than", "0m", "--json")
    done = json.loads(said[said.index("{") :])
    assert done["releases"] == [2]
    assert (done["files"], done["bytes"]) == (foreseen["files"], foreseen["bytes"])
    assert numbers(releases) == [1, 3]
    assert not [file for file in done["files"] if (releases.folder / "store" / file).exists()]
    for number, rows in before.items():
        pinned = releases.store.release(number)
        assert releases.store.read("metrics", version=pinned.versions["metrics"]).sort("pair_id").equals(rows)
    here.done(releases, "verify", "--deep")
    here.done(releases, "status")

    write(releases, 90)
    facetflow.done(releases, "build")
    assert numbers(releases) == [1, 3, 4], "no number is used twice"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.soak
def test_a_build_deletes_what_its_project_says(releases, facetflow):
    for number in (1, 2, 3):
        file = releases.folder / "store" / "releases" / f"{number:05d}.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"created": LONG_AGO}))
    old = RunRecord("20200101T000000-00aa", "build_features", LONG_AGO, state="done", finished=LONG_AGO)
    releases.store.record_run(old)

    retention = "[retention]\ndays = 30\nreleases = true\n"
    write(releases, 80, retention)
    said = facetflow.done(releases, "build")
    assert numbers(releases) == [1, 3]
    assert "Deleted what is older than 30 days: 0 files of the store, 1 release, the record of 1 build and " in said
    assert old.run_id not in {record.run_id for record in releases.store.runs()}
    assert "Deleted" not in facetflow.done(releases, "build"), "there is nothing to say when nothing is old"
    write(releases, 90, retention)
    facetflow.done(releases, "build")
    assert numbers(releases) == [1, 3, 4], "release 3 was the newest a moment ago: a training may be about to read it"


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "facetflow.toml").write_text(
        'name = "p"\n[[corpora]]\ndataset = "pairs"\nfiles = { train = "pairs.tsv" }\n'
    )
    settings = project_file.load(tmp_path / "facetflow.toml")
    store = Store.open(settings.store, create=True)
    for number in (1, 2, 3):
        write_release(store.storage, Release(number, f"run-{number}", LONG_AGO, "1", store.versions(), {}, {}, {}))
    return settings


def test_a_training_keeps_the_release_in_its_id_also_behind_a_link(settings, tmp_path):
    store = Store.open(settings.store)
    assert find_old_releases(settings, store, timedelta(0)) == [1, 2]
    before = settings.runs / "twin" / "00001-aaaaaa" / "seed-0"
    (before / "encoder").mkdir(parents=True)
    (before / "train.json").write_text("no longer readable")
    assert find_old_releases(settings, store, timedelta(0)) == [2]
    shutil.rmtree(before)
    elsewhere = tmp_path / "large disk" / "syntax" / "00002-aaaaaa" / "seed-0"
    (elsewhere / "encoder").mkdir(parents=True)
    (elsewhere / "encoder" / "training.json").write_text("{}")
    (settings.runs / "syntax").symlink_to(tmp_path / "large disk" / "syntax", target_is_directory=True)
    assert find_old_releases(settings, store, timedelta(0)) == [1]
    write_release(store.storage, Release(4, "run-4", now(), "1", store.versions(), {}, {}, {}))
    assert find_old_releases(settings, store, timedelta(0)) == [1, 3]
    assert find_old_releases(settings, store, timedelta(days=1)) == [1], "the third was the newest a moment ago"


def test_what_a_training_begins_to_read_while_gc_looks_is_kept(settings, monkeypatch):
    store = Store.open(settings.store)
    look = store.collect_garbage

    def train_meanwhile(*given, dry_run=False, **named):
        if dry_run:
            run = settings.runs / "syntax" / "00001-aaaaaa" / "seed-0"
            run.mkdir(parents=True)
            (run / "run.json").write_text("{}")
        return look(*given, dry_run=dry_run, **named)

    monkeypatch.setattr(store, "collect_garbage", train_meanwhile)
    deleted = delete_obsolete(settings, store, Extent(timedelta(0), trainings=True, releases=True))
    assert deleted.releases == (2,)
    assert [release.number for release in store.releases()] == [1, 3]


def test_a_build_does_not_fail_over_what_cannot_be_deleted(settings, monkeypatch, capsys):
    store = Store.open(settings.store)

    def refuse(*_given, **_named):
        raise StoreError("Release 1 does not hold what was published.")

    monkeypatch.setattr(store, "collect_garbage", refuse)
    kept = settings.model_copy(update={"retention": RetentionSettings(days=1, releases=True)})
    delete_by_age(kept, store)
    said = " ".join(capsys.readouterr().err.split())
    assert "Older than 1 day, and not deleted: Release 1 does not hold what was published. The next build tries" in said
    assert len(store.releases()) == 3
    delete_by_age(settings, store)
    assert capsys.readouterr().err == "", "nothing is asked for"


@pytest.mark.parametrize("meanwhile", ["read", "trained again"])
def test_a_training_that_is_read_or_there_again_meanwhile_is_kept_with_its_release(settings, monkeypatch, meanwhile):
    old, new = (settings.runs / "syntax" / f"{number:05d}-aaaaaa" / "seed-0" for number in (1, 3))
    for training in (old, new):
        training.mkdir(parents=True)
        (training / "train.json").write_text("{}")
    found = find_old_runs(settings, timedelta(0))
    assert [*found] == [old.parent]
    monkeypatch.setattr(retention, "find_old_runs", lambda *_: found)
    if meanwhile == "trained again":
        monkeypatch.setattr(retention, "remove", lambda folders, _: folders)
    store = Store.open(settings.store)
    with in_use(old):
        deleted = find_obsolete(settings, store, Extent(timedelta(0), trainings=True, releases=True), delete=True)
    assert deleted.trainings == ({} if meanwhile == "read" else found)
    assert (deleted.releases, deleted.bytes) == ((2,), 2 * len(deleted.trainings))


@pytest.mark.parametrize("trainings", [False, True])
@pytest.mark.parametrize("releases", [False, True])
def test_trainings_and_releases_go_where_the_project_says_so(settings, trainings, releases, capsys):
    for number in (1, 3):
        run = settings.runs / "syntax" / f"{number:05d}-aaaaaa" / "seed-0"
        (run / "encoder").mkdir(parents=True)
        (run / "encoder" / "training.json").write_text("{}")
        os.utime(run / "encoder" / "training.json", (number, number))
    asked = RetentionSettings(days=1, trainings=trainings, releases=releases)
    store = Store.open(settings.store)
    for number, run_id in enumerate(("unpublished", "run-2", "run-3")):
        store.record_run(RunRecord(run_id, "build_features", LONG_AGO, finished=LONG_AGO, number=number))
    foreseen = find_obsolete(settings, store, Extent(timedelta(days=1), trainings, releases))
    delete_by_age(settings.model_copy(update={"retention": asked}), store)
    assert (settings.runs / "syntax" / "00001-aaaaaa").exists() is not trainings
    kept = {1, 2, 3} - ({2} if releases else set()) - ({1} if releases and trainings else set())
    assert {release.number for release in store.releases()} == kept
    assert {1, 2, 3} - {*foreseen.releases} == kept, "as `gc --dry-run` says"
    assert foreseen.records == ("unpublished", *(["run-2"] if releases else []))
    assert [record.run_id for record in store.runs()] == ["run-3"] + ["run-2"] * (not releases)
    said = " ".join(capsys.readouterr().err.split())
    assert f"the record{'s' * releases} of " in said
    assert [" and 1 training, " in said, f" {3 - len(kept)} release" in said] == [trainings, releases]


def test_what_is_removed_while_others_read_is_no_error(settings, monkeypatch):
    store = Store.open(settings.store)
    store.record_run(RunRecord("one", "build_features", LONG_AGO))
    monkeypatch.setattr("features.store.store.release_numbers", lambda _: [1, 2, 3, 4])
    assert [release.number for release in store.releases()] == [1, 2, 3]
    monkeypatch.setattr(FolderStorage, "names", lambda *_: ["gone.json", "one.json"])
    assert [record.run_id for record in store.runs()] == ["one"]


@pytest.mark.parametrize("age", ["200000w", "99999999999999d", "40000d"])
def test_an_age_beyond_all_sense_is_refused(age, settings, refuses):
    refuses(Usage, "--project", str(settings.base), "gc", "--older-than", age)


def test_the_newest_release_is_never_removed(tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    write_release(store.storage, Release(1, "one", LONG_AGO, "1", {"rejects": 0}, {}, {}, {}))
    with refused(ReleaseKept):
        store.remove_release(1)


def test_records_of_old_builds_go_but_for_the_last_failure_of_a_shard(tmp_path):
    store = Store.open(tmp_path / "store", create=True)

    def add(day, *failed, state="done", finished=LONG_AGO):
        began = f"2020-01-{day:02d}T00:00:00+00:00"
        shards = tuple(FailedShard("amr", Shard(shard), Fingerprint("00"), "no memory") for shard in failed)
        run = RunRecord(f"day-{day}", "build_features", began, state=state, finished=finished, failed=shards)
        store.record_run(run)

    add(1, "s1", state="partly")
    add(2, "s1", "s2", state="partly")
    add(3, "s1", state="partly")
    add(4)
    write_release(store.storage, Release(1, "day-4", LONG_AGO, "1", {"rejects": 0}, {}, {}, {}))
    add(5)
    add(6, state="running", finished="")
    add(7)
    assert find_old_records(store, timedelta(days=1)) == ["day-1", "day-5", "day-6"]
    assert find_old_records(store, timedelta(days=1), without=[1]) == ["day-1", "day-4", "day-5", "day-6"]
    add(8, "s1", "s2", state="partly", finished=now())
    old = find_old_records(store, timedelta(days=1))
    assert old == ["day-1", "day-2", "day-3", "day-5", "day-6", "day-7"], "their shards failed again since"
    add(9)
    assert find_old_records(store, timedelta(days=1)) == old, "the eighth has just ended"
    assert find_old_records(store, timedelta(days=36500)) == []


def test_an_age_is_needed(project):
    project.write(8, more="[retention]\nreleases = true\n")
    with refused(MissingKey):
        project_file.load(project.folder / "facetflow.toml")


def test_releases_of_trainings_that_would_go_are_foreseen_also_where_the_runs_are_behind_a_link(settings, tmp_path):
    (elsewhere := tmp_path / "large disk").mkdir()
    settings.runs.symlink_to(elsewhere, target_is_directory=True)
    for number in (1, 3):
        (run := settings.runs / "syntax" / f"{number:05d}-aaaaaa" / "seed-0").mkdir(parents=True)
        (run / "train.json").write_text("{}")
    found = find_old_runs(settings, timedelta(0))
    assert find_old_releases(settings, Store.open(settings.store), timedelta(0), without=found) == [1, 2]


def test_the_record_of_a_build_is_as_old_as_its_end(tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    for number, finished in enumerate((LONG_AGO, now(), LONG_AGO)):
        store.record_run(RunRecord(f"run-{number}", "build_features", LONG_AGO, finished=finished, number=number))
    assert find_old_records(store, timedelta(days=1)) == ["run-0"]


def test_folders_that_are_no_builds_stay_among_them_and_so_does_what_published_or_is_newest(settings, tmp_path):
    store = Store.open(settings.store)
    for number, run_id in ((4, published := "20200102T000000-00aa"), (5, "run-5")):
        write_release(store.storage, Release(number, run_id, LONG_AGO, "1", store.versions(), {}, {}, {}))
    for name in ("20200101T000000-00aa", published, "20200103T000000-00aa", "notes", "20200101T000000-00aa.bak"):
        (settings.builds / name).mkdir(parents=True)
    (settings.builds / "20200101T000000-00bb").symlink_to(tmp_path, target_is_directory=True)
    (settings.builds / "20200101T000000-00cc").touch()
    assert [*find_old_builds(settings, store, timedelta(0))] == [settings.builds / "20200101T000000-00aa"]
    found = find_obsolete(settings, store, Extent(timedelta(0), releases=True))
    assert [folder.name for folder in found.builds] == ["20200101T000000-00aa", published], "its release goes as well"
    assert find_old_builds(settings, store, timedelta(days=1)) == {}


def test_files_are_looked_for_at_the_age_and_without_the_releases_that_go(settings, monkeypatch):
    store, asked = Store.open(settings.store), []
    look = store.collect_garbage
    monkeypatch.setattr(store, "collect_garbage", lambda *at, **how: asked.append((at, how)) or look(*at, **how))
    for delete in (False, True):
        find_obsolete(settings, store, Extent(timedelta(days=1), releases=True), delete=delete)
    assert asked == [((timedelta(days=1),), {"without": [1, 2], "dry_run": dry}) for dry in (True, False)]


def test_a_record_stays_with_the_last_failure_of_a_shard_in_any_stage(tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    for number, stage in enumerate(("amr", "srl", "srl")):
        failed = (FailedShard(stage, Shard("s1"), Fingerprint("00"), "no memory"),)
        store.record_run(RunRecord(f"run-{number}", "build_features", LONG_AGO, number=number, failed=failed))
    assert find_old_records(store, timedelta(days=1)) == ["run-1"]
