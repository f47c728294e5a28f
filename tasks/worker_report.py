"""What a worker of an existing cluster reports about itself before it is given a shard.

It runs wherever `dask worker` was started: another machine, another folder, another environment. So it relies on
nothing that may be missing, and problems are part of the answer. Dask calls these functions in the thread that serves
all requests, so slow work, including the imports of this module, is done in another thread.
"""

import asyncio
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from distributed import Worker

if TYPE_CHECKING:
    from features.store.storage import Storage


async def report(store: str, models: Sequence[str], files: Sequence[Path], dask_worker: Worker) -> dict[str, Any]:
    """Return what a build needs to know about a worker, as plain values; called by `Client.run`.

    Returns:
        `code`: digest of the code that makes shards; `store`: id of the store in the folder, None if there is none;
        `unseen`: why that is not known, None if it is; `writable`: why the folder cannot be written, None if it can;
        `missing`: what the worker does not find, a sentence each; `pause`: bytes of memory at which Dask pauses the
        worker, None if it never does.
    """
    manager = dask_worker.memory_manager
    limit, share = manager.memory_limit, manager.memory_pause_fraction
    answer = await asyncio.to_thread(_report, store, models, files)
    return {**answer, "pause": int(limit * share) if limit and share else None}


def _report(store: str, models: Sequence[str], files: Sequence[Path]) -> dict[str, Any]:
    importlib.import_module("tasks.shard")
    from features.core.code import OWN_CODE
    from features.core.errors import FacetflowError
    from features.core.faults import NoStore
    from features.models import locate
    from features.store.store import Store

    opened = unseen = None
    try:
        opened = Store.open(store)
    except (FacetflowError, OSError) as error:
        unseen = None if isinstance(error, NoStore) else str(error)
    missing = []
    for name in models:
        try:
            locate(name)
        except FacetflowError as error:
            missing.append(str(error).rstrip("."))
    missing += [f"there is no file {str(file)!r}; put one there" for file in files if not file.is_file()]
    return {
        "code": OWN_CODE,
        "store": opened and opened.id,
        "unseen": unseen,
        "writable": opened and _why_not_writable(opened.storage),
        "missing": missing,
    }


async def import_tasks() -> None:
    """Import the tasks once, before the first shard comes.

    A scheduler does so too: it unpacks what it passes on, and would not answer while it imports what that needs.
    """
    await asyncio.to_thread(importlib.import_module, "tasks.shard")


def _why_not_writable(storage: "Storage") -> str | None:
    trial = f"tables/.trial-{uuid4().hex}"
    try:
        storage.put(trial, b"")
        storage.delete(trial)
    except OSError as error:
        return error.strerror or str(error)
    return None
