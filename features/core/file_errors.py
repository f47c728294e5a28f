"""What went wrong with a file, and what to do about it: one table for all messages about the file system."""

import contextlib
import errno
import os
import re
from collections.abc import Iterator

from features.core.faults import StoreUnreachable

_IN_RUST = re.compile(r"(?:\(os error|\bOs \{ code:) (\d+)")
"""How polars, deltalake and safetensors write the error number, also where they panic; they leave `errno` empty."""
_ANSWER = re.compile(r"non-2xx status code: ([^:\n]+)(?:.*?<Code>([^<]+))?", re.DOTALL)
"""The status of a storage in errors of obstore, deltalake and polars, and its code: AccessDenied, ExpiredToken."""
_NETWORK = re.compile("HTTP error|the storage answered (?!404)")
"""Errors of the connection, which say nothing about a file."""
_NEXT_CAUSE = re.compile(r"\s*\x1b\[31m↳\x1b\[0m\s*")
"""How deltalake begins the line of a cause."""
_FREE_SPACE = "free some space and run the same command again"
_ADVICE = {
    errno.ENOENT: "it does not exist; check the path",
    errno.EACCES: "permission denied; correct its permissions, or choose another place",
    errno.EPERM: "it is protected, or its file system lacks the links that are needed; choose another place",
    errno.EROFS: "the file system is read-only; choose another place, or mount it writable",
    errno.ENOSPC: f"the disk is full; {_FREE_SPACE}",
    errno.EDQUOT: f"the disk quota is used up; {_FREE_SPACE}",
    errno.EFBIG: "the file is larger than this system allows; raise the limit (`ulimit -f`)",
    errno.EISDIR: "it is a folder where a file is needed; name a file",
    errno.ENOTDIR: "a part of the path is a file; choose another place",
    errno.EEXIST: "it exists already; remove it, or choose another name",
    errno.ENAMETOOLONG: "its name is too long for this file system; choose a shorter one",
    errno.EMFILE: "too many files are open; raise the limit (`ulimit -n`) and run the same command again",
    errno.ELOOP: "it is a link that leads to itself, or where none may be; make it a file, or remove it",
    errno.ENOMEM: "memory, threads or processes are used up; free some, or raise the limit (`ulimit`), and run again",
    errno.EIO: "the disk reports an error; check it",
}
_NO_MORE = ("can't start new thread", os.strerror(errno.EAGAIN), "failed to map segment from shared object")
"""How Python, Rust and the loader of libraries say that the system refused a thread, a process or memory."""


def system_number(error: BaseException) -> int | None:
    """Return the `errno` of an operating system error, also of one raised by a Rust library; None for other errors.

    >>> system_number(OSError(28, "No space left on device"))
    28
    >>> system_number(RuntimeError("cannot write (os error 28)"))
    28
    """
    if isinstance(error, MemoryError) or any(message in str(error) for message in _NO_MORE):
        return errno.ENOMEM
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    if isinstance(error, RuntimeError) and str(error).startswith("Symlink loop"):  # Path.resolve before Python 3.13
        return errno.ELOOP
    if isinstance(error, RuntimeError) and "home directory" in str(error):  # Path.expanduser of an unknown user
        return errno.ENOENT
    if match := _IN_RUST.search(str(error)):
        return int(match[1])
    # Libraries also raise the classes that Python has for some numbers, without the number.
    classes = ((number, type(OSError(number, ""))) for number in _ADVICE)
    return next((number for number, kind in classes if kind is not OSError and isinstance(error, kind)), None)


def advice(error: BaseException) -> str | None:
    """Return what is wrong and what to do about it, as the end of a sentence; None for an error not in the table.

    >>> advice(OSError(28, "No space left on device"))
    'the disk is full; free some space and run the same command again'
    """
    return _ADVICE.get(system_number(error) or 0)


def explain(error: BaseException, otherwise: str = "correct that and run again") -> str:
    """Return what is wrong and what to do about it, as the end of a sentence.

    `otherwise` is the advice for an error that is not in the table.
    """
    message = first_line(error).rstrip(".;: ")
    if _NETWORK.search(message):
        return f"{message}; correct that and run again"
    return advice(error) or f"{message}; {otherwise}"


@contextlib.contextmanager
def clear_errors(action: str) -> Iterator[None]:
    """Turn an OSError of the block into a `StoreError` that begins with the attempted action."""
    try:
        yield
    except OSError as error:
        raise StoreUnreachable(f"{action} failed: {explain(error)}.") from error


def first_line(error: BaseException) -> str:
    r"""Return the first line of an error's message, or its type if it has none; what a storage answered instead.

    >>> first_line(ValueError("no such label\nin the vocabulary")), first_line(KeyError())
    ('no such label', 'KeyError')
    """
    message = _NEXT_CAUSE.sub(": ", str(error)).strip()  # the causes of a Rust error follow, the trace of a DeltaError
    if answer := _ANSWER.search(message):
        return " ".join(["the storage answered", *filter(None, answer.groups())])
    return (message or type(error).__name__).splitlines()[0]
