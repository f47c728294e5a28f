"""Checks after the kills: the rows of an undisturbed store, and nothing left behind; see `random_kills.py`."""

import re
import time
from datetime import timedelta
from pathlib import Path

from kill_scene import Report, Scene

from features.stages.registry import TABLES
from features.store.locations import storage_at
from features.store.storage import FolderStorage, Storage
from features.store.store import Store


def check(scene: Scene, reference: Scene, report: Report) -> None:
    """Compare a store with one that was built without a kill."""
    store, other = scene.store(), reference.store()
    if store is None or other is None:
        report.violated(f"{scene.name} has no store")
        return
    for table, columns in TABLES.items():
        key = next(iter(columns))
        mine, its = (part.read(table, with_shard=True).sort("shard", key) for part in (store, other))
        if not mine.equals(its, null_equal=True):
            lost, doubled = its.join(mine, on=key, how="anti").height, mine.height - mine[key].n_unique()
            report.violated(f"{scene.name}: {table}, {its.height} rows: {lost} lost, {doubled} doubled, or others")
    made, wanted = ([(r.number, dict(r.rows)) for r in part.releases()] for part in (store, other))
    if made != wanted:
        report.violated(f"{scene.name}: releases {made} for {wanted}")
    for number in range(1, scene.releases + 1):
        if len(found := list(scene.folder.glob(f"runs/*/{number:05d}-*/seed-*/encoder/facets.json"))) > 1:
            report.violated(f"{scene.name}: release {number} has {len(found)} encoders")


def check_left_behind(scene: Scene, temporary: Path, report: Report) -> None:
    """Report leftovers of killed processes after the last build, and dead files that `gc` misses."""
    deadline = time.monotonic() + 30
    while (running := scene.processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process, kind in running.items():
        report.violated(f"{scene.name}: {kind or 'a process'} ({process.pid}) still runs")
    for path in sorted(temporary.iterdir()):
        if not path.name.startswith("torchinductor_"):  # torch's cache: one per user, whatever was killed
            report.violated(f"left behind: {path}")
    known = re.compile(
        r"store\.json|ingest\.json|build\.lock|runs/[\w-]+\.json|releases/\d{5}\.json"
        r"|graphs/\w+\.arrow|tables/\w+/(\w+=[\w-]+/)*\w{20}\.parquet"
        r"|tables/\w+/_delta_log/(\d{20}\.(checkpoint\.parquet|json)|_last_checkpoint)"
    )
    storage = storage_at(scene.location)
    for name in (name for name in _objects(storage) if not known.fullmatch(name)):
        report.violated(f"{scene.name}: left behind in the store: {name}")
    for path in sorted((scene.folder / "runs").rglob(".*")):
        report.violated(f"{scene.name}: left behind: {path}")
    store = scene.store()
    if store is None:
        return
    garbage = set(store.collect_garbage(timedelta(0), dry_run=True).files)
    store.collect_garbage(timedelta(0))
    # Delta writes checkpoints of its log to separate files at intervals.
    left = {name for name in _objects(storage) if name.endswith(".parquet") and "/_delta_log/" not in name}
    named = {f"tables/{table}/{name}" for table in TABLES for name in _files_of_versions(store, table)}
    if lost := left - named:
        report.violated(f"{scene.name}: dead files that `gc` does not know: {sorted(lost)}")
    print(f"{scene.name}: `gc` removed {len(garbage)} files that killed processes had written", flush=True)


def _files_of_versions(store: Store, table: str) -> set[str]:
    """Return the files that the newest version of a table or a release names."""
    from deltalake import DeltaTable

    versions = {release.versions[table] for release in store.releases() if table in release.versions}
    url, options = store.storage.url(f"tables/{table}"), dict(store.storage.options or {})
    tables = [DeltaTable(url, version=version, storage_options=options) for version in (None, *versions)]
    return {file.removeprefix("file://").removeprefix(f"{url}/") for found in tables for file in found.file_uris()}


def _objects(storage: Storage, folder: str = "") -> list[str]:
    """Return the names of all objects below a folder of a store; what has nothing below it is one."""
    if isinstance(storage, FolderStorage):
        root = Path(storage.location)
        return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    below = [f"{folder}/{name}".removeprefix("/") for name in storage.names(folder)]
    return [name for each in below for name in (_objects(storage, each) or [each])]
