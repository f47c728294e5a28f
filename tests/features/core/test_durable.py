"""A file appears whole or not at all."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from sentences import refused

from features.core.durable import sync_all, write_whole
from features.core.faults import StoreUnreachable
from features.core.file_errors import clear_errors


def names(path: Path) -> list[str]:
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())


def test_write_makes_folders_and_replaces(tmp_path):
    write_whole(tmp_path, "a/b/c.txt", b"one")
    write_whole(tmp_path, "a/b/c.txt", b"two")

    assert (tmp_path / "a/b/c.txt").read_bytes() == b"two"
    assert names(tmp_path) == ["a/b/c.txt"]


def test_write_does_not_replace_when_told(tmp_path):
    write_whole(tmp_path, "a.txt", b"one", replace=False)

    with pytest.raises(FileExistsError):
        write_whole(tmp_path, "a.txt", b"two", replace=False)
    assert (tmp_path / "a.txt").read_bytes() == b"one"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_failed_write_leaves_what_was_there(tmp_path, monkeypatch, step, number):
    write_whole(tmp_path, "a.txt", b"one")

    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(*{"fsync": (os, "fsync", fail), "replace": (Path, "replace", fail)}[step])

    with pytest.raises(OSError, match=os.strerror(number)):
        write_whole(tmp_path, "a.txt", b"two")
    assert (tmp_path / "a.txt").read_bytes() == b"one"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("again", [False, True])
def test_bytes_reach_the_disk_before_their_name_and_the_names_of_new_folders_too(tmp_path, monkeypatch, again):
    if again:
        write_whole(tmp_path, "a/b/c.txt", b"zero")
    steps, fsync, replace = [], os.fsync, Path.replace

    def synced(descriptor):
        fsync(descriptor)
        steps.append(Path(f"/proc/self/fd/{descriptor}").readlink())

    def renamed(self, target):
        assert steps == [self]
        assert self.read_bytes() == b"one"
        steps.clear()
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    write_whole(tmp_path, "a/b/c.txt", b"one")
    assert set(steps) == {tmp_path / "a/b"} | (set() if again else {tmp_path / "a", tmp_path})


def test_a_file_system_that_syncs_no_folders_holds_whole_files_and_folders(tmp_path, monkeypatch):
    fsync = os.fsync

    def of_files(descriptor):
        if Path(f"/proc/self/fd/{descriptor}").readlink().is_dir():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", of_files)
    write_whole(tmp_path, "a/b.txt", b"one")
    sync_all(tmp_path)
    assert names(tmp_path) == ["a/b.txt"]


def test_folder_that_is_removed_meanwhile_is_made_again(tmp_path, monkeypatch):
    replace = Path.replace

    def remove_first(self, target):
        monkeypatch.setattr(Path, "replace", replace)
        target.parent.rmdir()
        return self.replace(target)

    monkeypatch.setattr(Path, "replace", remove_first)
    write_whole(tmp_path, "a/b.txt", b"one")

    assert names(tmp_path) == ["a/b.txt"]


def test_a_folder_that_is_always_removed_is_an_error_and_no_silence(tmp_path, monkeypatch):
    def removed(*_):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "replace", removed)
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path, "a/b.txt", b"one")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "x"),
        OSError(errno.EROFS, "x"),
        OSError("Generic LocalFileSystem error\n No space left on device (os error 28)"),
        OSError("something else\n  with a trace"),
    ],
)
def test_errors_say_what_to_do(error):
    with refused(StoreUnreachable) as raised, clear_errors("Writing"):
        raise error
    assert raised.value.__cause__ is error


def test_weights_can_be_read_by_those_who_can_read_their_folder(tmp_path):
    (tmp_path / "2_Dense").mkdir()
    save_file({"weight": np.zeros(2)}, tmp_path / "2_Dense" / "model.safetensors")
    tmp_path.chmod(0o750)

    sync_all(tmp_path)

    assert (tmp_path / "2_Dense" / "model.safetensors").stat().st_mode & 0o777 == 0o640
