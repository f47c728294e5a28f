"""Records of flow runs: one small file per run, `<root>/runs/<run id>.json`, replaced atomically during the run."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from features.core.errors import StoreError
from features.core.types import Fingerprint, Shard
from features.store import folder

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")


@dataclass(frozen=True, slots=True)
class FailedShard:
    """A shard that could not be made.

    Args:
        stage: its stage.
        shard: the shard.
        fingerprint: the fingerprint it would have had.
        error: what went wrong; the first line is shown.
    """

    stage: str
    shard: Shard
    fingerprint: Fingerprint
    error: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One flow run.

    Args:
        run_id: the run; letters, digits, `.`, `_` and `-`.
        flow: name of the flow.
        started: UTC, ISO 8601.
        state: `running` also stands for a run that was killed; `interrupted` for one that was asked to stop.
        finished: UTC, ISO 8601; None while the run goes on.
        made: shards that were made, by stage.
        rejected: rows that were rejected, by stage.
        seconds: time that workers spent in stages, by stage.
        failed: shards that could not be made.
        release: number of the release it published.
        message: why it did not publish, or how it failed.
        wall: wall-clock time by part of the run, in seconds; the parts follow each other, `total` is their sum.
        spans: stage → seconds from its first submission to its last receipt; those of several stages overlap.
        outside: share of the workers' time spent outside stages; None for a run without workers.
        process: host and process id, such as `host:4711`.
        number: position among the runs of the store, from 1: clocks may go back.
    """

    run_id: str
    flow: str
    started: str
    state: Literal["running", "done", "partly", "failed", "interrupted"] = "running"
    finished: str | None = None
    made: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    failed: tuple[FailedShard, ...] = ()
    release: int | None = None
    message: str = ""
    wall: Mapping[str, float] = field(default_factory=dict)
    outside: float | None = None
    spans: Mapping[str, float] = field(default_factory=dict)
    process: str = ""
    number: int = 0


def now() -> str:
    """Return the time: UTC, ISO 8601, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_run(path: Path, record: RunRecord) -> None:
    """Write a record to the store's folder `path`, replacing an earlier one of the same run."""
    if not _RUN_ID.fullmatch(record.run_id):
        raise StoreError(f"Run id {record.run_id!r} cannot name a file; use letters, digits, '.', '_' and '-'.")
    content = json.dumps(asdict(record), indent=2, ensure_ascii=False) + "\n"
    with folder.clear_errors(f"Recording run {record.run_id!r} in {str(path)!r}"):
        folder.write(path, record_file(path, record.run_id).relative_to(path).as_posix(), content.encode())


def read_runs(path: Path) -> list[RunRecord]:
    """Return the records of the store in the folder `path`, newest first."""
    with folder.clear_errors(f"Reading the runs of {str(path)!r}"):
        found = [_read(file) for file in (path / "runs").glob("*.json")]
    records = [record for record in found if record is not None]
    return sorted(records, key=lambda record: (record.number, record.started, record.run_id), reverse=True)


def remove_run(path: Path, run_id: str) -> None:
    """Remove the record of a run, if there is one."""
    with folder.clear_errors(f"Removing the record of run {run_id!r} in {str(path)!r}"):
        record_file(path, run_id).unlink(missing_ok=True)


def record_file(path: Path, run_id: str) -> Path:
    """Return the file with the record of a run of the store in the folder `path`."""
    return path / "runs" / f"{run_id}.json"


def failed_shards(records: list[RunRecord]) -> list[FailedShard]:
    """Return the last failure of every shard that ever failed; a plan drops those that have since been made.

    Args:
        records: newest first.
    """
    last: dict[tuple[str, Shard], FailedShard] = {}
    for record in records:
        for shard in record.failed:
            last.setdefault((shard.stage, shard.shard), shard)
    return list(last.values())


def _read(file: Path) -> RunRecord | None:
    """Return a record, None if it has been removed since it was listed."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        content["failed"] = tuple(FailedShard(**shard) for shard in content["failed"])
        return RunRecord(**content)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"The record {str(file)!r} is damaged; delete it, only the history of that run is lost."
        ) from (error)
