"""The seam between a store and where it is kept: a storage that is no folder, and one whose answers get lost."""

import ast
import errno
import fcntl
import os
from datetime import timedelta
from pathlib import Path

import pytest

from features.core.durable import TEMPORARY
from features.core.errors import StoreError
from features.core.faults import AnotherProcess
from features.store.locations import STORAGES
from features.store.storage import FolderStorage
from features.store.store import Store

ROOT = Path(__file__).parents[3]


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


def test_one_process_at_a_time_holds_a_lease(tmp_path):
    storage = FolderStorage(str(tmp_path))
    storage.delete("lease", "of/none")
    assert storage.lease_of("lease") is None
    with storage.lease("lease", "host:1", "A build works"):
        assert (storage.lease_of("lease").holder, storage.lease_of("lease").ended) == ("host:1", False)
        with pytest.raises(AnotherProcess), storage.lease("lease", "host:2", "A build works"):
            pass
    assert (storage.lease_of("lease").holder, storage.lease_of("lease").ended) == ("host:1", True)


def test_what_a_killed_process_left_goes_when_it_is_old(tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    files = [tmp_path / "store" / f"{TEMPORARY}{name}" for name in ("ahead", "old", "young")]
    for file in files:
        file.write_bytes(b"x")
    assert not [name for name in store.storage.names() if name.startswith(TEMPORARY)]
    os.utime(files[0], (2**32, 2**32))  # the clock went back since
    os.utime(files[1], (0, 0))
    with files[1].open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        left = store.collect_garbage(timedelta(days=1), dry_run=True).files
        assert left == (files[0].name,), "a process that lives writes the other"
    for dry_run in (True, False):
        removed = store.collect_garbage(timedelta(days=1), dry_run=dry_run).files
        assert removed == tuple(file.name for file in files[:2])
        assert [file.exists() for file in files] == [dry_run, dry_run, True]


@pytest.mark.parametrize("lost", ["store.json", "_delta_log", "shard=s1", "releases/"])
def test_a_write_that_was_done_although_its_answer_got_lost_doubles_nothing(elsewhere, fill, lost):
    elsewhere(lost)
    with pytest.raises(StoreError, match="no answer"):
        fill(Store.open("test://store", create=True))

    store = Store.open("test://store", create=True)
    fill(store)
    assert store.read("amr")["sentence_id"].to_list() == ["a", "b"]
    assert [release.number for release in store.releases()] == [1]
    assert store.verify(deep=True).broken == ()


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
