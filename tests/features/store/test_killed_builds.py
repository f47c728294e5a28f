"""A build that is killed, however often and wherever, ends like an undisturbed one."""

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import dying_build
import pytest

from features.stages.registry import TABLES
from features.store.receipts import DataFile
from features.store.store import Store

pytestmark = pytest.mark.slow

SHARDS = 30


def start(store: Path, step: str = "none", at: int = 0, shards: int = SHARDS) -> subprocess.Popen[str]:
    command = [sys.executable, dying_build.__file__, str(store), str(shards), step, str(at)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def build(store: Path, shards: int) -> None:
    """Build in this process."""
    dying_build.build(Store.open(store, create=True), shards)


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate()
    return process.returncode


def kept(files: Mapping[Any, DataFile]) -> dict[Any, tuple[str, int, int]]:
    """Return what does not depend on when a file was committed."""
    return {key: (file.fingerprint, file.rows, file.bytes) for key, file in files.items()}


def check_same(store: Path, other: Path) -> None:
    one, two = Store.open(store), Store.open(other)
    for table in TABLES:
        assert one.read(table, with_shard=True).equals(two.read(table, with_shard=True), null_equal=True)

    assert kept(one.committed("amr")) == kept(two.committed("amr"))
    assert kept(one.rejected()) == kept(two.rejected())
    release, expected = one.release(), two.release()
    assert (release.number, release.rows, release.rejects) == (1, expected.rows, expected.rejects)


def check_readable(path: Path) -> None:
    """Everything present is whole: every shard has all its rows, none twice."""
    if not (path / "store.json").exists():
        return
    store = Store.open(path)
    for table in ("sentences", "amr"):
        rows = store.read(table, with_shard=True)
        assert rows[:, 0].is_unique().all()
        assert all(number == 17 for number in rows["shard"].value_counts()["count"])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Callable[[int], Path]:
    """Return a function that builds a store of so many shards in one go, once."""

    @cache
    def built(shards: int) -> Path:
        store = tmp_path_factory.mktemp("undisturbed") / "store"
        build(store, shards)
        return store

    return built


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2))
def test_build_that_is_killed_at_random(tmp_path, undisturbed, seed):
    store = tmp_path / "store"
    draw = random.Random(seed)
    killed = 0
    for seconds in (0, *(draw.uniform(0, 0.4) for _ in range(4))):
        process = start(store)
        process.stdout.readline()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        killed += finish(process) == -signal.SIGKILL
        check_readable(store)
    assert killed

    build(store, SHARDS)
    check_same(store, undisturbed(SHARDS))


@pytest.mark.parametrize(
    ("step", "at"),
    [
        ("create", 1),
        ("create", 5),
        ("fsync", 1),  # store.json is about to be saved
        ("fsync", 20),
        ("rename", 1),
        ("rename", 4),  # rows are written and their rejects are not
        ("rename", 5),
        ("remove", 6),
        ("commit", 1),  # nothing is committed
        ("commit", 2),  # rejects are committed and their rows are not
        ("commit", 10),
    ],
)
def test_build_that_is_killed_between_two_steps(tmp_path, undisturbed, step, at):
    store = tmp_path / "store"

    assert finish(start(store, step, at, shards=4)) == -signal.SIGKILL
    check_readable(store)
    build(store, 4)
    check_same(store, undisturbed(4))
