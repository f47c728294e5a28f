"""Leftovers of a killed process are removed, files in use by a live one are not, whatever their age."""

import errno
import fcntl
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest

from features.core import leftovers
from features.core.leftovers import held_file, held_folder, remove_dead, remove_dead_scratch, scratch
from features.core.locks import is_held
from features.store.store import Store

HOLDING = """
import sys
from pathlib import Path
from features.core.leftovers import held_file, held_folder, scratch
how = {"file": held_file, "folder": held_folder, "scratch": scratch}[sys.argv[1]]
with how(sys.argv[2] if how is scratch else Path(sys.argv[2])) as given:
    print(given if how is scratch else sys.argv[2], flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder():
    """Return a function that starts a process that creates and holds something, and reports what."""
    started = []

    def start(how: str, name: str) -> tuple["subprocess.Popen[str]", Path]:
        command = [sys.executable, "-c", HOLDING, how, name]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, Path(process.stdout.readline().strip())

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", ["file", "folder"])
def test_what_a_living_process_holds_stays_until_it_is_killed(holder, tmp_path, how):
    process, path = holder(how, str(tmp_path / "_tmp-1"))
    os.utime(path, (0, 0))  # its age says nothing
    assert is_held(path)
    assert remove_dead([path]) == []
    assert path.exists()
    process.kill()
    process.wait()
    assert not is_held(path)
    assert remove_dead([path]) == [path]
    assert not path.exists()


@pytest.mark.parametrize("look", [is_held, lambda path: remove_dead([path])])
def test_a_pipe_in_the_place_of_a_leftover_makes_nobody_wait(tmp_path, look):
    os.mkfifo(tmp_path / "_tmp-1")
    looks = Thread(target=look, args=[tmp_path / "_tmp-1"], daemon=True)
    looks.start()
    looks.join(10)
    assert not looks.is_alive()


def test_the_scratch_folder_of_a_killed_process_is_removed_and_nothing_else(holder, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living, stays = holder("scratch", "job")
    killed, goes = holder("scratch", "prefect")
    (goes / "database").write_text("x")
    others = [tmp_path / name for name in (".facetflow", ".facetflow-of-mine", "facetflow-error-abcdefgh")]
    for other in others:
        other.mkdir()
    killed.kill()
    killed.wait()
    with monkeypatch.context() as other_user:
        other_user.setattr(os, "getuid", lambda: 12345)
        assert remove_dead_scratch() == []
    assert remove_dead_scratch() == [goes]
    assert sorted(tmp_path.iterdir()) == sorted([stays, *others])
    living.communicate("")
    assert not stays.exists(), "it removes its own"


def test_a_link_in_the_place_of_a_leftover_stays(tmp_path):
    (tmp_path / "file").write_text("of somebody else")
    (tmp_path / "_tmp-1").symlink_to("file")
    assert remove_dead([tmp_path / "_tmp-1"]) == []
    assert (tmp_path / "_tmp-1").is_symlink()


def test_a_file_system_without_locks_is_written_to_and_nothing_is_removed(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with held_file(tmp_path / "_tmp-1"):
        assert remove_dead([tmp_path / "_tmp-1"]) == []


def test_a_file_that_is_taken_for_a_dead_one_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    path, hold, taken = tmp_path / "_tmp-1", leftovers.hold, []

    def late(descriptor, made):
        if not taken:
            taken.extend(remove_dead([made]))
        return hold(descriptor, made)

    monkeypatch.setattr(leftovers, "hold", late)
    with held_file(path) as file:
        file.write(b"whole")
        file.flush()
        path.rename(tmp_path / "file")
    assert taken == [path]
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_folder_is_gone_or_renamed_when_its_block_ends(tmp_path):
    with held_folder(tmp_path / "one"):
        (tmp_path / "one" / "file").touch()
    with held_folder(tmp_path / "two"):
        (tmp_path / "two").rename(tmp_path / "three")
    with scratch("test") as folder:
        pass
    assert not folder.exists()
    assert sorted(tmp_path.iterdir()) == [tmp_path / "three"]


def test_a_store_is_rid_of_what_killed_processes_left_in_it(tmp_path, holder):
    store = Store.open(tmp_path / "store", create=True)
    dead = [Path(store.location) / name for name in ("_tmp-1", "_tmp-2")]
    for path in dead:
        path.write_text("half")
    _, living = holder("file", str(Path(store.location) / "_tmp-3"))
    os.utime(living, (0, 0))
    assert store.collect_garbage(timedelta(days=1)).files == (), "neither young ones nor one that is held"
    os.utime(dead[0], (4e9, 4e9))  # the clock has gone back since
    assert sorted(store.remove_dead_temporary()) == [str(path) for path in dead]
    assert list(Path(store.location).rglob("_tmp-*")) == [living]
