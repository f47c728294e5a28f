"""A build that is killed, however often and wherever, ends like an undisturbed one."""

import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from features.store.delta import DataFile
from features.store.store import Store
from features.store.tables import TABLES

pytestmark = pytest.mark.slow

SHARDS = 30

# Ingests and makes graphs with rejects, shard by shard; says `ready` when the first commit is about to come. Given the
# name of a step and a number, it kills itself right before that step is taken for the n-th time, which no signal from
# outside could hit.
BUILD = """
import os, signal, sys
from pathlib import Path

import polars as pl
from deltalake import DeltaTable

from features.stage_output import Reject, StageOutput, rejects_frame
from features.store.store import Store
from features.store.fingerprints import fingerprint
from features.stages.stage import Recipe
from features.store.plan import plan
from features.store.scope import PlannedStage
from features.store.tables import TABLES
from features.core.types import RejectCode

root, shards, step, at = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

places = {
    "create": (DeltaTable, "create"), "fsync": (os, "fsync"), "rename": (Path, "replace"), "remove": (Path, "unlink"),
    "commit": (DeltaTable, "create_write_transaction"),
}
if step in places:
    owner, name = places[step]
    real, taken = getattr(owner, name), 0

    def dying(*arguments, **options):
        global taken
        taken += 1
        if taken == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    setattr(owner, name, dying)

store = Store.open(root, create=True)
print("ready", flush=True)

def rows(table, shard):
    key, *rest = TABLES[table]
    ids = [f"{shard}-{number}" for number in range(20)]
    frame = pl.DataFrame({key: ids} | {name: [None] * 20 for name in rest}, schema=TABLES[table])
    return StageOutput(frame[3:], rejects_frame([Reject(i, RejectCode.NO_GRAPH, shard) for i in ids[:3]]))

ingest = Recipe("sentences")
names = [f"sentences-{number:05d}" for number in range(shards)]
for shard in sorted(set(names) - store.committed("sentences").keys()):
    receipt = store.write_shard("sentences", shard, fingerprint(ingest, [shard]), rows("sentences", shard), expected=20)
    store.commit([receipt], run_id="ingest", recipes={"sentences": ingest})

stages = [PlannedStage("amr", "sentences", ("sentences",), Recipe("amr"))]
batch = []
for work in plan(store, stages).todo:
    batch.append(store.write_shard("amr", work.shard, work.fingerprint, rows("amr", work.shard), expected=20))
    if len(batch) == 3:
        store.commit(batch, run_id="build", recipes={"amr": stages[0].recipe})
        batch = []
store.commit(batch, run_id="build", recipes={"amr": stages[0].recipe})
store.publish("build", stages=stages)
"""


def start(store: Path, step: str = "none", at: int = 0, shards: int = SHARDS) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BUILD, str(store), str(shards), step, str(at)]
    root = Path(__file__).resolve().parents[3]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)


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
def undisturbed(tmp_path_factory) -> dict[int, Path]:
    """Return stores that were built in one go, by their number of shards."""
    stores = {shards: tmp_path_factory.mktemp("undisturbed") / "store" for shards in (4, SHARDS)}
    for process in [start(store, shards=shards) for shards, store in stores.items()]:
        assert finish(process) == 0
    return stores


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

    assert finish(start(store)) == 0
    check_same(store, undisturbed[SHARDS])


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
    assert finish(start(store, shards=4)) == 0
    check_same(store, undisturbed[4])
