"""What went wrong with a file, and what to do about it: one table for all messages about the file system."""

import errno
import re

_IN_RUST = re.compile(r"\(os error (\d+)\)")
"""How polars, deltalake and safetensors name the number of an error; they leave `errno` empty."""
_FREE_SPACE = "free some space and run the same command again"
_PERMIT = "there is no permission; correct its permissions, or choose another place"
_ADVICE = {
    errno.ENOENT: "it does not exist; check the path",
    errno.EACCES: _PERMIT,
    errno.EPERM: _PERMIT,
    errno.EROFS: "the file system is read-only; choose another place, or mount it writable",
    errno.ENOSPC: f"the disk is full; {_FREE_SPACE}",
    errno.EDQUOT: f"the disk quota is used up; {_FREE_SPACE}",
    errno.EFBIG: "the file is larger than this system allows; raise the limit (`ulimit -f`)",
    errno.EISDIR: "it is a folder where a file is needed; name a file",
    errno.ENOTDIR: "a part of the path is a file; choose another place",
    errno.EEXIST: "it exists already; remove it, or choose another name",
    errno.ENAMETOOLONG: "its name is too long for this file system; choose a shorter one",
    errno.EMFILE: "too many files are open; raise the limit (`ulimit -n`) and run the same command again",
    errno.EIO: "the disk fails; check it",
}
_OF_CLASS: dict[type[OSError], int] = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    FileExistsError: errno.EEXIST,
}
"""Libraries raise these without a number, too."""


def system_number(error: BaseException) -> int | None:
    """Return the number (`errno`) of an error of the operating system, also of one that a Rust library met; else None.

    >>> system_number(OSError(28, "No space left on device"))
    28
    >>> system_number(RuntimeError("cannot write (os error 28)"))
    28
    """
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = _IN_RUST.search(str(error))
    if found:
        return int(found[1])
    return next((number for kind, number in _OF_CLASS.items() if isinstance(error, kind)), None)


def advice(error: BaseException) -> str | None:
    """Return what is wrong and what to do about it, as the end of a sentence; None for what is none of the usual.

    >>> advice(OSError(28, "No space left on device"))
    'the disk is full; free some space and run the same command again'
    """
    return _ADVICE.get(system_number(error) or 0)


def explain(error: BaseException, otherwise: str = "correct that and run again") -> str:
    """Return what is wrong and what to do about it, as the end of a sentence.

    Args:
        error: of the file system, or of a Rust library that met one.
        otherwise: what to do about an error that is not of the usual ones.
    """
    # A Rust error goes on with its causes, and a DeltaError with a stack trace.
    return advice(error) or f"{str(error).partition(chr(10))[0].strip().rstrip('.;')}; {otherwise}"
