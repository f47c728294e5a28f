"""A store of many releases of many shards: what opening, planning, publishing and cleaning up cost, by the store's age.

    python benchmarks/many_releases.py                            1,000 releases of 2,000 shards, 20 made again for each
    python benchmarks/many_releases.py --changed 2000             each release replaces every shard
    python benchmarks/many_releases.py --keep FOLDER              keep the store, or measure one that is kept

The log has commits of the size that builds make; the rows of all shards are the same file, linked. Prints seconds of
each step, in a process of its own and without its imports, and the size of the logs.
"""

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import polars as pl

from features.core.types import Fingerprint, Shard
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint, identity
from features.store.plan import plan
from features.store.receipts import DataFile
from features.store.releases import Release, write_release
from features.store.runs import now
from features.store.scope import PlannedStage
from features.store.store import Store

MADE: dict[str, tuple[str, ...]] = {"sentences": (), "pairs": (), "amr": ("sentences",), "metrics": ("pairs", "amr")}
RECIPES = {name: Recipe(name) for name in MADE}
STAGES = [
    PlannedStage("amr", "sentences", ("sentences",), RECIPES["amr"]),
    PlannedStage("metrics", "pairs", ("pairs", "amr"), RECIPES["metrics"]),
]
CHANGED = [replace(stage, recipe=replace(stage.recipe, parameters={"size": 2})) for stage in STAGES]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=int, default=1000)
    parser.add_argument("--shards", type=int, default=2000)
    parser.add_argument("--changed", type=int, default=20, help="shards of each table that a release replaces")
    parser.add_argument("--keep", type=Path, help="folder of the store; one that is there is measured as it is")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        measure(arguments.keep, arguments.step)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.keep or Path(name, "store")
        if not (folder / "store.json").exists():
            fill(folder, arguments.releases, arguments.shards, arguments.changed)
        logs = [file for file in folder.glob("tables/*/_delta_log/*") if file.is_file()]
        print(f"logs: {len(logs):,} files, {sum(file.stat().st_size for file in logs) / 1e6:.1f} MB")
        for step in STEPS:
            command = [sys.executable, __file__, "--keep", str(folder), "--step", step]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True)


def fill(folder: Path, releases: int, shards: int, changed: int) -> None:
    """Publish releases, each after a commit to each table that replaces some of its shards."""
    store = Store.open(folder, create=True, project="p")
    names = [Shard(f"s-{number:06d}") for number in range(shards)]
    held: dict[tuple[str, Shard], DataFile] = {}
    for number in range(1, releases + 1):
        at = (number - 1) * changed % shards
        again = names if number == 1 else [names[(at + one) % shards] for one in range(changed)]
        for name, needs in MADE.items():
            added = {}
            for shard in again:
                inputs = [f"{need}:{shard}:{held[need, shard].fingerprint}" for need in needs]
                mark = fingerprint(RECIPES[name], inputs or [f"{shard} of {number}"])
                added[name, shard] = _link(store, name, shard, mark)
            _commit(store, name, number, [held[key] for key in added if key in held], list(added.values()))
            held |= added
        versions = {"rejects": 0, **dict.fromkeys(MADE, number)}
        recipes = {name: recipe.as_dict() for name, recipe in RECIPES.items()}
        counts = dict.fromkeys(MADE, shards)
        write_release(store.storage, Release(number, f"run-{number}", now(), "0", versions, recipes, counts, {}))


def _commit(store: Store, table: str, version: int, removed: list[DataFile], added: list[DataFile]) -> None:
    """Write an entry of the log as deltalake would, which would first read the table again, and let it checkpoint."""
    own = {
        "run_id": f"run-{version}",
        "code_version": "0",
        "versions": {"rejects": 0, **dict.fromkeys(MADE, version - 1)},
        "shards": {file.shard: file.fingerprint for file in added},
        "recipes": {identity(RECIPES[table]): RECIPES[table].as_dict()},
    }
    at = time.time_ns() // 1_000_000
    actions: list[dict[str, object]] = [
        {"commitInfo": {"timestamp": at, "operation": "WRITE", "operationParameters": {}, "facetflow": own}}
    ]
    gone = {"deletionTimestamp": at, "extendedFileMetadata": True}
    actions += [{"remove": _action(file) | gone} for file in removed]
    new = {"modificationTime": at, "stats": json.dumps({"numRecords": 1})}
    actions += [{"add": _action(file) | new} for file in added]
    log = Path(store.location, "tables", table, f"_delta_log/{version:020d}.json")
    log.write_text("\n".join(map(json.dumps, actions)) + "\n")
    if version % 20 == 0:
        store._table(table).open().create_checkpoint()


def _action(file: DataFile) -> dict[str, object]:
    return {"path": file.path, "size": file.bytes, "partitionValues": file.partition, "dataChange": True}


@cache
def _rows(table: str, shard: str) -> bytes:
    """Return a shard of one row, as a file of Parquet."""
    row = {"sentence_id": "a", "pair_id": "p", "corpus": "c", "shard_a": shard, "shard_b": shard}
    buffer = io.BytesIO()
    pl.DataFrame({name: [row.get(name)] for name in TABLES[table]}, schema=TABLES[table]).write_parquet(buffer)
    return buffer.getvalue()


def _link(store: Store, table: str, shard: Shard, mark: Fingerprint) -> DataFile:
    """Put the rows of a shard into the store, without waiting for the disk."""
    content = _rows(table, shard if table == "pairs" else "")
    path = f"shard={shard}/fingerprint={mark}/{hashlib.sha256(mark.encode()).hexdigest()[:20]}.parquet"
    rows = Path(store.location, "tables", table, ".rows", shard if table == "pairs" else "one")
    if not rows.exists():
        rows.parent.mkdir(exist_ok=True)
        rows.write_bytes(content)
    file = Path(store.location, "tables", table, path)
    file.parent.mkdir(parents=True)
    os.link(rows, file)
    return DataFile(path, len(content), 1, shard, mark, None)


STEPS: dict[str, Callable[[Store], object]] = {
    "open the newest release": lambda store: store.release(),
    "open the oldest release": lambda store: store.release(1),
    "read an old version of amr": lambda store: store.read("amr", store.versions()["amr"] // 2),
    "list all releases": lambda store: store.releases(),
    "plan, nothing to do": lambda store: plan(store, STAGES),
    "plan, all anew": lambda store: plan(store, CHANGED),
    "provenance of amr": lambda store: store.provenance("amr"),
    "commit nothing new": lambda store: store._table("amr").replace([], [], {}),
    "gc, dry run": lambda store: store.collect_garbage(timedelta(0), dry_run=True),
    "verify": lambda store: store.verify(),
}


def measure(folder: Path, step: str) -> None:
    begun, used = time.perf_counter(), time.process_time()
    result = STEPS[step](Store.open(folder))
    del result
    print(f"{step:28s} {time.perf_counter() - begun:8.2f} s {time.process_time() - used:8.2f} s of processor time")


if __name__ == "__main__":
    main()
