"""What a training or an evaluation writes: an error of the file system is one sentence."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from features.errors import RunError
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


def _of_system(error: BaseException | None) -> BaseException | None:
    """Return the error of the file system that an error is, or came of; None where there is none."""
    while error is not None and system_number(error) is None:
        # PyTorch closes its archive after a failure, which fails as well, with an error of its own.
        error = error.__cause__ or error.__context__
    return error
