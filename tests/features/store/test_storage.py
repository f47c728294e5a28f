"""The seam between a store and where it is kept: a storage that is no folder, and one whose answers get lost."""

import ast
import errno
import os
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from features.core.durable import TEMPORARY
from features.core.errors import StoreError
from features.core.faults import AnotherProcess
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.locations import STORAGES
from features.store.plan import plan
from features.store.runs import RunRecord, now
from features.store.scope import PlannedStage
from features.store.storage import FolderStorage
from features.store.store import Store

ROOT = Path(__file__).parents[3]
RECIPES = {name: Recipe(name) for name in ("sentences", "amr", "ingest")}
AMR = PlannedStage("amr", "sentences", ("sentences",), RECIPES["amr"])


class Elsewhere(FolderStorage):
    """Objects of which only this class knows where they are: no path leads from its location to them.

    Args:
        location: a URL of no file system.
        folder: where they are.
        lost: parts of names of objects that arrive although their writer is told otherwise, once each.
    """

    def __init__(self, location, folder, lost=()):
        super().__init__(location)
        self._folder = folder
        self._lost = list(lost)

    def _path(self, name=""):
        return self._folder / name

    def put(self, name, content):
        super().put(name, content)
        self._answer(name)

    def put_if_absent(self, name, content):
        super().put_if_absent(name, content)
        self._answer(name)

    def _answer(self, name):
        if self._lost and self._lost[0] in name:
            self._lost.pop()
            raise OSError(errno.ETIMEDOUT, "no answer")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Return a function that makes the store at `test://store`, its answers to some writes lost."""

    def make(*lost):
        storage = Elsewhere("test://store", tmp_path / "hidden", lost)
        monkeypatch.setitem(STORAGES, "test", lambda _: storage)
        return storage

    monkeypatch.chdir(tmp_path)
    return make


def fill(store, filled):
    """Ingest a shard, make its graphs, and publish: what a build does."""
    if not store.committed("sentences"):
        output = filled("sentences", ["a", "b", "c"])
        receipt = store.write_shard("sentences", "s1", fingerprint(RECIPES["sentences"], ["in"]), output, expected=3)
        store.commit([receipt], run_id="run", recipes=RECIPES)
    for work in plan(store, [AMR]).todo:
        receipt = store.write_shard("amr", work.shard, work.fingerprint, filled("amr", ["a", "b"], ["c"]), expected=3)
        store.commit([receipt], run_id="run", recipes=RECIPES)
    return store.publish("run", stages=[AMR])


def test_a_store_lives_where_no_path_leads(elsewhere, filled, tmp_path):
    elsewhere()
    store = Store.open("test://store", create=True, project="p")
    release = fill(store, filled)

    again = Store.open("test://store")
    assert (again.location, again.id, again.project) == ("test://store", store.id, "p")
    assert again.read("amr", release.versions["amr"])["sentence_id"].to_list() == ["a", "b"]
    assert again.rejected()["amr", "s1"].rows == 1
    assert again.verify(deep=True).damaged == ()
    again.record_run(RunRecord("run", "build_features", now()))
    assert [record.run_id for record in again.runs()] == ["run"]
    again.withdraw([("amr", "s1")], run_id="later")
    assert again.collect_garbage(timedelta(0)).files == (), "the release needs it"
    again.write_shard("amr", "s9", fingerprint(RECIPES["amr"], ["x"]), filled("amr", ["z"]))
    assert [file.split("/")[:3] for file in again.collect_garbage(timedelta(0)).files] == [
        ["tables", "amr", "shard=s9"]
    ]
    again.remove_run("run")
    assert again.runs() == []
    assert {path.name for path in tmp_path.iterdir()} == {"hidden"}, "nobody made a folder of the location"


def test_one_process_at_a_time_holds_a_lease(elsewhere):
    storage = elsewhere()
    Store.open("test://store", create=True)
    assert storage.lease_of("lease") is None
    with storage.lease("lease", "host:1", "A build works"):
        assert (storage.lease_of("lease").holder, storage.lease_of("lease").ended) == ("host:1", False)
        with pytest.raises(AnotherProcess), storage.lease("lease", "host:2", "A build works"):
            pass
    assert (storage.lease_of("lease").holder, storage.lease_of("lease").ended) == ("host:1", True)


def test_what_a_killed_process_left_goes_when_it_is_old(tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    young, old = (tmp_path / "store" / f"{TEMPORARY}{name}" for name in ("young", "old"))
    for file in (young, old):
        file.write_bytes(b"x")
    os.utime(old, (0, 0))
    for dry_run in (True, False):
        assert store.collect_garbage(timedelta(days=1), dry_run=dry_run).files == (old.name,)
        assert (young.exists(), old.exists()) == (True, dry_run)


@pytest.mark.parametrize("lost", ["store.json", "_delta_log", "shard=s1", "releases/"])
def test_a_write_that_was_done_although_its_answer_got_lost_doubles_nothing(elsewhere, filled, lost):
    elsewhere(lost)
    with pytest.raises(StoreError, match="no answer"):
        fill(Store.open("test://store", create=True), filled)

    store = Store.open("test://store", create=True)
    fill(store, filled)
    assert store.read("amr")["sentence_id"].to_list() == ["a", "b"]
    assert [release.number for release in store.releases()] == [1]
    assert store.verify(deep=True).broken == ()


def test_polars_and_delta_read_what_the_storage_names(elsewhere, filled):
    storage = elsewhere()
    fill(Store.open("test://store", create=True), filled)
    assert pl.read_delta(storage.url("tables/amr")).height == 2


def test_no_file_is_named_by_the_location_of_a_store_outside_the_storage():
    """Layers above may pass a location on; making a path of it is for what reads folders only."""
    allowed = {"features/store/storage.py", "facetflow/stores.py", "flows/train_encoder.py"}
    for package in ("features", "tasks", "flows", "training", "facetflow"):
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                is_path = isinstance(node, ast.Call) and ast.unparse(node.func) == "Path"
                is_path |= isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
                if is_path and ".location" in ast.unparse(node):
                    assert file.relative_to(ROOT).as_posix() in allowed, f"{file}:{node.lineno}"
