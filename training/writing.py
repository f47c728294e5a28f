"""What a training or an evaluation writes: whole or not at all; an error of the file system is one sentence."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from features import outputs
from features.errors import InputError, RunError
from features.file_errors import explain, system_number

_BLOCK = 1 << 16  # bytes


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the file system into a sentence about the file or folder that is being written.

    Raises:
        RunError: when the block fails with an error of the file system.
    """
    try:
        yield
    except Exception as error:
        of_system = _of_system(error)
        if of_system is None:
            raise
        raise RunError(f"{str(path)!r} cannot be written: {explain(of_system)}.") from error


def require_writable(folder: Path) -> None:
    """Make a folder where there is none, and try whether files can be written there: better now than after the work.

    Raises:
        RunError: when they cannot.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_BLOCK))  # on a full disk an empty file can be made
            file.flush()


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON (no NaN), whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file that a run wrote.

    Raises:
        InputError: when it is missing or damaged.
    """
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read ({error}); run the step that writes it again") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file of a run, whole or not at all.

    Raises:
        RunError: when the file system refuses.
    """
    with writing(path):
        outputs.write_text(path, [text])


def _of_system(error: BaseException | None) -> BaseException | None:
    """Return the error of the file system that an error is, or came of; None where there is none."""
    while error is not None and system_number(error) is None:
        # PyTorch closes its archive after a failure, which fails as well, with an error of its own.
        error = error.__cause__ or error.__context__
    return error
