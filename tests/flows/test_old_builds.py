"""Which pages and logs of builds `facetflow gc` removes, and which it never removes."""

import json
import os
from datetime import timedelta

import pytest

from features.store.runs import RunRecord
from flows import project as project_file
from flows.building.store_access import only_writer
from flows.retention import find_old_builds

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

WEEK = 7 * 24 * 3600


@pytest.fixture
def builds(built):
    """Return the real build, which published, and a function that adds one that ended in some state, `age` s ago."""
    place = built.folder / "runs" / "builds"
    (published,) = place.iterdir()
    facts = json.loads((published / "build.json").read_text())

    def add(run_id, state="done", age=2 * WEEK):
        folder = place / run_id
        folder.mkdir()
        (folder / "worker-0.log").write_text("begun\n")
        (folder / "build.html").write_text("<!DOCTYPE html>")
        (folder / "build.json").write_text(json.dumps(facts | {"run_id": run_id, "state": state}))
        make_older(folder, age)
        return folder

    def make_older(folder, age):
        for file in (*folder.iterdir(), folder):
            time = folder.stat().st_mtime - age
            os.utime(file, (time, time))

    make_older(published, 3 * WEEK)
    return published, add


def test_gc_removes_builds_that_published_nothing_and_keeps_the_rest(built, builds, here):
    published, add = builds
    old = add("20200101T000000-00aa")
    killed = add("20200102T000000-00aa", "killed")
    running = add("20200103T000000-00aa", "running")
    young = add("20200104T000000-00aa", age=WEEK / 2)
    own = published.parent / "notes"
    own.mkdir()
    newest = add("20990101T000000-00aa")

    said = here.done(built, "gc", "--dry-run")
    assert said.splitlines()[:2] == [str(old), str(killed)]
    assert "Would delete 0 files of the store and the pages and logs of 2 builds, " in said
    assert old.exists()

    said = here.done(built, "gc", "--json")
    removed = json.loads(said[said.index("{") :])
    assert removed["builds"] == [str(old), str(killed)]
    assert removed["bytes"] > 0
    assert [folder.exists() for folder in (old, killed)] == [False, False]
    assert all(folder.exists() for folder in (published, running, young, own, newest))
    *_, said = here.done(built, "gc").splitlines()
    assert said == "Deleted 0 files of the store and the pages and logs of 0 builds, 0.0 MB."


def test_gc_removes_trainings_where_it_is_asked_to(built, here):
    for number in (1, 2):
        run = built.folder / "runs" / "syntax" / f"{number:05d}-aaaaaa" / "seed-0"
        (run / "encoder").mkdir(parents=True)
        (run / "encoder" / "training.json").write_text("{}")
    old = run.parents[1] / "00001-aaaaaa"

    assert json.loads(here.done(built, "gc", "--older-than", "0m", "--json"))["runs"] == []
    said = here.done(built, "gc", "--runs", "--older-than", "0m", "--dry-run")
    assert str(old) in said.splitlines()
    assert ", the pages and logs of 0 builds and 1 training, " in said
    assert old.exists()
    here.done(built, "gc", "--runs", "--older-than", "0m")
    assert not old.exists()
    assert run.exists()


def test_the_newest_page_stays_where_the_newest_build_has_none(built, builds):
    _, add = builds
    paged, bare = add("20990101T000000-00aa"), add("20990102T000000-00aa")
    (bare / "build.html").unlink()
    for number, build in enumerate((paged, bare), start=2):
        built.store.record_run(RunRecord(build.name, "build_features", "2099", number=number))
    settings = project_file.load(built.folder / "facetflow.toml")
    assert find_old_builds(settings, built.store, timedelta(0)) == {}
    assert paged.exists()


def test_gc_leaves_pages_alone_while_a_build_runs(built, builds, here):
    _, add = builds
    old = add("20200101T000000-00aa")
    with only_writer(built.store):
        code, said = here.run(built, "gc")
    assert (code, old.exists()) == (1, True)
    assert said.startswith("facetflow: A build or a clean-up works on the store")
