"""State of a run: written by the process that runs it, read by `facetflow runs`; and runs that are being read.

    run.json          running ──> done │ failed │ interrupted        run.lock    of the process that wrote "running"
    evaluation.json   done │ failed

A killed process leaves the state "running", but no process holds the lock. What is done has its **identity**: what
decided its result, part by part. A refresh compares it with what it wants (`flows.trainings.due`).

    evaluate, explain, predict, …    a shared lock on the folder of the run       ──┐
    gc --runs, [retention]           an exclusive lock while they take it away    ──┴── never both

These are locks of the kernel (`flock`) on the folders themselves: a killed process leaves nothing behind. On a file
system without locks nothing is protected.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from features.core.errors import described
from features.core.faults import RunGone
from features.core.locks import is_held, only_one
from training.runs import ENCODER, RECORD, SEARCH, TRAINING_LOCK, finished_at, is_finished
from training.writing import require_writable, write_json

LOCK = "run.lock"
"""Lock file in the folder of a run, held by the process that runs it."""
_CHECKPOINT = "checkpoint.pt"
_EVALUATION = "evaluation.json"

State = Literal["running", "done", "failed", "interrupted"]
Identity = Mapping[str, str]
"""What decides a result: part, such as a table or the settings → its digest."""


@dataclass(frozen=True, slots=True)
class RunState:
    """State of a run."""

    state: State  # `interrupted` also if the process was killed
    message: str  # why it failed, or how to continue; may be empty
    at: str  # time of the state, UTC, ISO 8601; empty if unknown
    identity: Identity = field(default_factory=dict)  # what decided the result of what is done; empty if unknown


@contextmanager
def recorded(run: Path, identity: Identity) -> Iterator[None]:
    """Lock the folder of a run, made if missing, and record its state, at the end with the identity of the training."""
    require_writable(run)
    with in_use(run), only_one(run / LOCK, f"Another training works in {str(run)!r}"):
        finished = is_finished(run)  # and stays so, even if this training is another and refused
        if not finished:
            _write(run, "running", "")
        try:
            yield
        except BaseException as error:
            if not finished:
                failed = isinstance(error, Exception)
                _write(run, "failed" if failed else "interrupted", described(error) if failed else str(error))
            raise
        _write(run, "done", "", identity=identity, at=finished_at(run) if finished else "")


def record_evaluation(run: Path, identity: Identity) -> None:
    """Record that a run was evaluated by all of its suites, and judged where that was asked for."""
    _write(run, "done", "", _EVALUATION, identity)


def record_failed_evaluation(run: Path, error: BaseException) -> None:
    """Record that an evaluation of a run by all of its suites failed, or that it could not be judged."""
    _write(run, "failed", described(error), _EVALUATION)


def trained_as(run: Path) -> Identity:
    """Return the identity of a finished training; empty if it is not finished or not recorded."""
    return _read(run).identity if is_finished(run) else {}


def evaluation_of(run: Path) -> RunState:
    """Return the state of the last evaluation of a run by all of its suites: its identity, or why it failed."""
    return _read(run, _EVALUATION)


def state_of(run: Path) -> RunState:
    """Return the state of a run from the files in its folder, of which its record is only one."""
    record = _read(run)
    if is_finished(run):
        return RunState("done", "", finished_at(run))
    if any(is_held(run / lock) for lock in (LOCK, TRAINING_LOCK)):
        return RunState("running", "", record.at)
    if record.state == "failed":
        return record
    begun = any(run.rglob(_CHECKPOINT)) or any(run.glob(f"{SEARCH}/*/*"))  # a part of a training has its own folder
    onwards = "continues from its checkpoint" if begun else "starts over"
    message = f"{onwards} when the same release, settings and seed are trained again"
    return RunState("interrupted", message, record.at)


def _read(run: Path, file: str = RECORD) -> RunState:
    with suppress(OSError, ValueError):
        record = TypeAdapter(RunState).validate_json((run / file).read_bytes())
        return replace(record, at=datetime.fromisoformat(record.at).isoformat())
    return RunState("interrupted", "", "")  # it never began, or the record is damaged


def _write(
    run: Path, state: State, message: str, file: str = RECORD, identity: Identity | None = None, at: str = ""
) -> None:
    at = at or datetime.now(UTC).isoformat(timespec="seconds")
    write_json(run / file, asdict(RunState(state, message, at, dict(identity or {}))))


@contextmanager
def in_use(*folders: Path) -> Iterator[None]:
    """Keep runs, named by their folders or those of their encoders, from being deleted."""
    with ExitStack() as held:
        for folder in folders:
            run = folder.parent if folder.name == ENCODER else folder
            try:
                descriptor = _open(run, held)
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(descriptor, fcntl.LOCK_SH)  # whoever deletes it holds the lock for a moment only
                exists = os.path.samestat(os.fstat(descriptor), run.stat())
            except FileNotFoundError:
                exists = False
            except OSError:  # it cannot be read: whoever does so says why
                continue
            if not exists:
                raise RunGone(f"{str(run)!r} has just been deleted by `facetflow gc` or [retention]: use another run.")
        yield


@contextmanager
def unused(folders: Iterable[Path]) -> Iterator[bool]:
    """Keep others from beginning to read runs; yields whether nobody reads any of them."""
    with ExitStack() as held:
        for folder in folders:
            try:
                fcntl.flock(_open(folder, held), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError:  # a file system without locks
                continue
        yield True


def is_in_use(run: Path) -> bool:
    """Return whether a process reads a run."""
    with unused([run]) as free:
        return not free


def _open(folder: Path, held: ExitStack) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    held.callback(os.close, descriptor)
    return descriptor
