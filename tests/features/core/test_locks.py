"""One process at a time: the message to the others, and file systems that refuse locks."""

import errno
import fcntl
import os
import resource
from contextlib import ExitStack
from itertools import count

import pytest
from sentences import refused

from features.core.faults import AnotherProcess, LockImpossible
from features.core.locks import is_held, only_one


def test_another_process_is_told_who_holds_the_lock(tmp_path):
    with (
        only_one(tmp_path / "lock", "Something is done here", "host:1"),
        refused(AnotherProcess),
        only_one(tmp_path / "lock", "Something is done here"),
    ):
        pass


def test_a_lock_is_free_when_its_holder_is_done(tmp_path):
    for _ in range(2):
        with only_one(tmp_path / "lock", "taken"):
            assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_a_lock_that_is_a_link_empties_no_other_file(tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "lock").symlink_to("mine")
    with refused(LockImpossible), only_one(tmp_path / "lock", "taken"):
        pass
    assert (tmp_path / "mine").read_text() == "precious"


def test_a_file_system_without_locks_is_one_sentence(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with refused(LockImpossible), only_one(tmp_path / "lock", "taken"):
        pass


def test_who_only_looks_holds_nothing_and_follows_no_link(tmp_path):
    (tmp_path / "link").symlink_to("lock")
    with only_one(tmp_path / "lock", "taken"):
        assert is_held(tmp_path / "lock")
        assert not is_held(tmp_path / "link")
    with (tmp_path / "lock").open() as look:
        fcntl.flock(look, fcntl.LOCK_SH)
        assert not is_held(tmp_path / "lock")


def test_a_disk_that_takes_no_byte_is_one_sentence(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # files may be made but not grow, as on a full disk
        with refused(LockImpossible), only_one(tmp_path / "lock", "taken"):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_lock_that_its_holder_deletes_lets_nobody_in_who_waited_for_it(tmp_path, its_time):
    holder = ExitStack()
    holder.enter_context(only_one(tmp_path / "lock", "taken"))

    def sleep(_seconds):
        (tmp_path / "lock").unlink(missing_ok=True)
        holder.close()

    its_time("features.core.locks", sleep=sleep, monotonic=count().__next__)
    with pytest.raises(AnotherProcess), only_one(tmp_path / "lock", "taken"):
        pass
    with only_one(tmp_path / "lock", "taken"):
        pass
