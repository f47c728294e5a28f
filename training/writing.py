"""Writing the files of a training or evaluation atomically; an error of the file system becomes one sentence."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from features.core import outputs
from features.core.durable import sync, sync_all
from features.core.faults import RecordUnreadable, RunNotWritten
from features.core.file_errors import explain, system_number
from features.core.leftovers import beside, held_folder

_BLOCK = 1 << 16  # bytes


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the file system into a sentence about the file or folder being written."""
    try:
        yield
    except Exception as error:
        of_system: BaseException | None = error
        while of_system is not None and system_number(of_system) is None:
            # After a failure PyTorch closes its archive, which fails as well, with another error.
            of_system = of_system.__cause__ or of_system.__context__
        if of_system is None:
            raise
        raise RunNotWritten(f"{str(path)!r} cannot be written: {explain(of_system)}.") from error


@contextmanager
def writing_file(path: Path) -> Iterator[None]:
    """Write a file as by `writing`, in place of a link: in a run of somebody else, it may lead to any file."""
    with writing(path):
        if path.is_symlink():
            path.unlink()
        yield


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Provide a hidden folder to fill, which then appears as the given one; an empty one gives way."""
    partial = beside(folder)
    with writing(folder), held_folder(partial):
        yield partial
        sync_all(partial)
        partial.replace(folder)
        sync(folder.parent)


def require_writable(folder: Path) -> None:
    """Make a folder if it is missing, and check before the work that files can be written there."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_BLOCK))  # an empty file can be made even on a full disk
            file.flush()


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON (no NaN) atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file that a run wrote."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = explain(error, "delete it and run its step again")
        raise RecordUnreadable(f"{str(path)!r} cannot be read: {reason}") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file of a run atomically."""
    with writing_file(path):
        outputs.write_text(path, [text])
