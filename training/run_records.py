"""State of a run: written by the process that runs it, read by `facetflow runs`.

    run.json          running ──> done │ failed │ interrupted        run.lock    of the process that wrote "running"
    evaluation.json   failed, until an evaluation succeeds

A killed process leaves the state "running", but no process holds the lock.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
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


@dataclass(frozen=True, slots=True)
class RunState:
    """State of a run.

    Args:
        state: `interrupted` also if the process was killed.
        message: why it failed, or how to continue; may be empty.
        at: time of the state, UTC, ISO 8601; empty if unknown.
    """

    state: State
    message: str
    at: str


@contextmanager
def recorded(run: Path) -> Iterator[None]:
    """Lock a run, and record its state.

    Args:
        run: its folder, made when missing.

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
        _write(run, "done", "")


def record_evaluation(run: Path, error: BaseException | None = None) -> None:
    """Record that an evaluation of a run by all of its suites failed, or forget that one did.

    Args:
        run: its folder.
        error: why; None if it succeeded.
    """
    if error is None:
        (run / _EVALUATION).unlink(missing_ok=True)
        return
    _write(run, "failed", described(error), _EVALUATION)


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
        return RunState(content["state"], str(content["message"]), str(content["at"]))
    except (OSError, ValueError, KeyError, TypeError):
        return RunState("interrupted", "", "")  # it never began, or the record is damaged


def _write(run: Path, state: State, message: str, file: str = RECORD) -> None:
    write_json(run / file, asdict(RunState(state, message, datetime.now(UTC).isoformat(timespec="seconds"))))
