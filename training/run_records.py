"""State of a run: written by the process that runs it, read by `facetflow runs`.

    run.json          running ──> done │ failed │ interrupted        run.lock    of the process that wrote "running"
    evaluation.json   done │ failed

A killed process leaves the state "running", but no process holds the lock. What is done has its **identity**: what
decided its result, part by part. A refresh compares it with what it wants (`flows.trainings.due`).
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from features.core.errors import described
from features.core.locks import is_held, only_one
from training.run_use import in_use
from training.runs import ENCODER, RECORD, SEARCH, TRAINING_FILE, TRAINING_LOCK, is_finished
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
    """State of a run.

    Args:
        state: `interrupted` also if the process was killed.
        message: why it failed, or how to continue; may be empty.
        at: time of the state, UTC, ISO 8601; empty if unknown.
        identity: what decided the result of what is done; empty if unknown.
    """

    state: State
    message: str
    at: str
    identity: Identity = field(default_factory=dict)


@contextmanager
def recorded(run: Path, identity: Identity) -> Iterator[None]:
    """Lock a run, and record its state.

    Args:
        run: its folder, made when missing.
        identity: of the training.

    Raises:
        RunError: another process holds it, or the folder cannot be written.
    """
    require_writable(run)
    with in_use(run), only_one(run / LOCK, f"Another training works in {str(run)!r}"):
        _write(run, "running", "")
        try:
            yield
        except Exception as error:
            _write(run, "failed", described(error))
            raise
        except BaseException as interrupt:
            _write(run, "interrupted", str(interrupt))
            raise
        _write(run, "done", "", identity=identity)


def record_evaluation(run: Path, identity: Identity) -> None:
    """Record that a run was evaluated by all of its suites, and judged where that was asked for."""
    _write(run, "done", "", _EVALUATION, identity)


def record_failed_evaluation(run: Path, error: BaseException) -> None:
    """Record that an evaluation of a run by all of its suites failed, or that it could not be judged."""
    _write(run, "failed", described(error), _EVALUATION)


def trained_as(run: Path) -> Identity:
    """Return the identity of a finished training; empty if it is not finished or not recorded."""
    return _read(run).identity if is_finished(run) else {}


def evaluated_as(run: Path) -> Identity:
    """Return the identity of the last evaluation of a run; empty if none succeeded since one failed."""
    return _read(run, _EVALUATION).identity


def failed_evaluation(run: Path) -> str:
    """Return why the last evaluation of a run failed; empty if it did not.

    Args:
        run: its folder.
    """
    return _read(run, _EVALUATION).message


def state_of(run: Path) -> RunState:
    """Return the state of a run from the files in its folder, of which its record is only one.

    Args:
        run: its folder.
    """
    record = _read(run)
    if is_finished(run):
        finished = datetime.fromtimestamp((run / ENCODER / TRAINING_FILE).stat().st_mtime, UTC)
        return RunState("done", "", finished.isoformat(timespec="seconds"))
    if any(is_held(run / lock) for lock in (LOCK, TRAINING_LOCK)):
        return RunState("running", "", record.at)
    if record.state == "failed":
        return record
    begun = (run / _CHECKPOINT).is_file() or any(run.glob(f"{SEARCH}/*/*"))
    onwards = "continues from its checkpoint" if begun else "starts over"
    said = f"{onwards} when the same release, settings and seed are trained again"
    return RunState("interrupted", said, record.at)


def _read(run: Path, file: str = RECORD) -> RunState:
    try:
        content: dict[str, Any] = json.loads((run / file).read_bytes())
        identity = dict(content["identity"]) if content["state"] == "done" else {}
        return RunState(content["state"], str(content["message"]), str(content["at"]), identity)
    except (OSError, ValueError, KeyError, TypeError):
        return RunState("interrupted", "", "")  # it never began, or the record is damaged


def _write(run: Path, state: State, message: str, file: str = RECORD, identity: Identity | None = None) -> None:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(run / file, asdict(RunState(state, message, at, dict(identity or {}))))
