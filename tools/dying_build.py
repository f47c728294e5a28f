"""A build that kills itself right before a step, which no signal from outside could hit; used by tests of the store.

python tools/dying_build.py STORE SHARDS STEP N    dies before STEP is taken for the N-th time; never before `none`
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import polars as pl
from deltalake import DeltaTable

from features.core.types import RejectCode
from features.schemas import Reject, StageOutput, rejects_frame
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.plan import plan
from features.store.scope import PlannedStage
from features.store.store import Store

STEPS: dict[str, tuple[Any, str]] = {
    "create": (DeltaTable, "create"),
    "fsync": (os, "fsync"),
    "rename": (Path, "replace"),
    "remove": (Path, "unlink"),
    "commit": (DeltaTable, "create_write_transaction"),
}


def die_before(step: str, at: int) -> None:
    """Make this process kill itself right before a step is taken for the `at`-th time."""
    owner, name = STEPS[step]
    real, taken = getattr(owner, name), 0

    def dying(*arguments: Any, **options: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    setattr(owner, name, dying)


def build(store: Store, shards: int) -> None:
    """Ingest sentences and make graphs of them with rejects, shard by shard, from where an earlier build stopped."""
    ingest = Recipe("sentences")
    for shard in sorted({f"sentences-{number:05d}" for number in range(shards)} - store.committed("sentences").keys()):
        made = store.write_shard(
            "sentences", shard, fingerprint(ingest, [shard]), _rows("sentences", shard), expected=20
        )
        store.commit([made], run_id="ingest", recipes={"sentences": ingest})

    stages = [PlannedStage("amr", "sentences", ("sentences",), Recipe("amr"))]
    batch = []
    for work in plan(store, stages).todo:
        batch.append(store.write_shard("amr", work.shard, work.fingerprint, _rows("amr", work.shard), expected=20))
        if len(batch) == 3:
            store.commit(batch, run_id="build", recipes={"amr": stages[0].recipe})
            batch = []
    store.commit(batch, run_id="build", recipes={"amr": stages[0].recipe})
    store.publish("build", stages=stages)


def _rows(table: str, shard: str) -> StageOutput:
    key, *rest = TABLES[table]
    ids = [f"{shard}-{number}" for number in range(20)]
    frame = pl.DataFrame({key: ids} | {name: [None] * 20 for name in rest}, schema=TABLES[table])
    return StageOutput(frame[3:], rejects_frame([Reject(i, RejectCode.NO_GRAPH, shard) for i in ids[:3]]))


def main(root: str, shards: str, step: str, at: str) -> None:
    """Build a store; say `ready` when it is open and the first commit is about to come."""
    if step in STEPS:
        die_before(step, int(at))
    store = Store.open(Path(root), create=True)
    print("ready", flush=True)
    build(store, int(shards))


if __name__ == "__main__":
    main(*sys.argv[1:])
