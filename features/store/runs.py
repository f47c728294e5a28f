"""Records of flow runs: one small file per run, `<root>/runs/<run id>.json`, replaced atomically during the run."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from features.core.faults import StoreDamaged
from features.core.file_errors import clear_errors
from features.core.types import Fingerprint, Shard
from features.store.storage import Storage


@dataclass(frozen=True, slots=True)
class FailedShard:
    """A shard that could not be made, with the fingerprint it would have had; the first line of `error` is shown."""

    stage: str
    shard: Shard
    fingerprint: Fingerprint
    error: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One flow run."""

    run_id: str  # letters, digits, `.`, `_` and `-`
    flow: str
    started: str  # UTC, ISO 8601
    # `running` also stands for a run that was killed; `interrupted` for one that was asked to stop
    state: Literal["running", "done", "partly", "failed", "interrupted"] = "running"
    finished: str | None = None  # UTC, ISO 8601; None while the run goes on
    made: Mapping[str, int] = field(default_factory=dict)  # shards that were made, by stage
    rejected: Mapping[str, int] = field(default_factory=dict)  # rows that were rejected, by stage
    seconds: Mapping[str, float] = field(default_factory=dict)  # time that workers spent in stages, by stage
    failed: tuple[FailedShard, ...] = ()
    release: int | None = None  # number of the release it published
    message: str = ""  # why it did not publish, or how it failed
    # wall-clock time by part of the run, in seconds; the parts follow each other, `total` is their sum
    wall: Mapping[str, float] = field(default_factory=dict)
    outside: float | None = None  # share of the workers' time spent outside stages; None for a run without workers
    # stage → seconds from its first submission to its last receipt; those of several stages overlap
    spans: Mapping[str, float] = field(default_factory=dict)
    process: str = ""  # host, process id and a draw, such as `host:4711-9f3c1a`
    number: int = 0  # position among the runs of the store, from 1: clocks may go back


_RECORD = TypeAdapter(RunRecord)


def now() -> str:
    """Return the time: UTC, ISO 8601, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_run(storage: Storage, record: RunRecord) -> None:
    """Write a record to a store, replacing an earlier one of the same run."""
    content = json.dumps(asdict(record), indent=2, ensure_ascii=False) + "\n"
    with clear_errors(f"Recording run {record.run_id!r} in {storage.location!r}"):
        storage.put(record_name(record.run_id), content.encode())


def read_runs(storage: Storage) -> list[RunRecord]:
    """Return the records of a store, newest first."""
    with clear_errors(f"Reading the runs of {storage.location!r}"):
        names = [f"runs/{name}" for name in storage.names("runs") if name.endswith(".json")]
        records = filter(None, storage.map(partial(_read, storage), names))
    return sorted(records, key=lambda record: (record.number, record.started, record.run_id), reverse=True)


def record_name(run_id: str) -> str:
    """Return the name of the object that holds the record of a run."""
    return f"runs/{run_id}.json"


def failed_shards(records: list[RunRecord]) -> list[FailedShard]:
    """Return the last failure of every shard that ever failed, from records that are sorted newest first.

    A plan drops those that have since been made.
    """
    failed = [shard for record in reversed(records) for shard in record.failed]
    return list({(shard.stage, shard.shard): shard for shard in failed}.values())


def _read(storage: Storage, name: str) -> RunRecord | None:
    """Return a record, None if it has been removed since it was listed."""
    try:
        record = _RECORD.validate_json(storage.read(name))
        # Removed by its id, a record from elsewhere could name any file.
        return replace(record, run_id=name.removeprefix("runs/").removesuffix(".json"))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise StoreDamaged(
            f"The record {storage.url(name)!r} is damaged; delete it, only the history of that run is lost."
        ) from error
