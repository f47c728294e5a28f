"""The errors that a user may see: one clear sentence that says what, where and what to do.

    FacetflowError
    ├── InputError     a file or a row is not what its format promises
    ├── SettingsError  a parameter or a project file is wrong
    ├── StoreError     the feature store cannot be read, written or trusted
    ├── ModelError     a model is unknown, missing or corrupted
    └── RunError       a flow could not do what it was asked to
        └── PartlyDoneError    but it did some of it, which stays

What is raised is a fault of one of these families, each with a code (`features.core.faults`). The command line prints
the message with the code and leaves with exit code 1, of `PartlyDoneError` with 2. A single bad row is not an error: it
becomes a row of `rejects` with a `RejectCode`, raised as `RowError` where it is read or parsed.
"""

from collections.abc import Sequence
from typing import Any

from features.core.types import RejectCode


class FacetflowError(Exception):
    """Base of every error that is the user's to act on. Its message is one sentence, ready to print.

    The code, such as `FF101`, is explained in `docs/reference/errors.md`; it is that of the cause where an error tells
    of another process.
    """

    code: str = "FF000"

    def __init_subclass__(cls, *, code: str = "") -> None:
        cls.code = code or cls.code

    def with_code(self) -> str:
        """Return the message with the code at its end, as a user sees it."""
        message = str(self)
        return f"{message.removesuffix('.')} ({self.code}){'.' if message.endswith('.') else ''}"


def described(error: BaseException) -> str:
    """Return the message of an error with its code, or with its type where it is not ours and may say little."""
    return error.with_code() if isinstance(error, FacetflowError) else f"{type(error).__name__}: {error}"


class InputError(FacetflowError, code="FF100"):
    """A file or one of its rows is not what its format promises."""


class SettingsError(FacetflowError, ValueError, code="FF200"):
    """A parameter or a project file is wrong. As a `ValueError`, validators of pydantic may raise it."""


class StoreError(FacetflowError, code="FF300"):
    """The feature store cannot be read, written or trusted."""


class ModelError(FacetflowError, code="FF400"):
    """A model is unknown, missing or corrupted."""


class RunError(FacetflowError, code="FF500"):
    """A flow could not do what it was asked to."""


class PartlyDoneError(RunError, code="FF550"):
    """A part failed, and the rest is done: run again what the message names.

    `done` are the results of the parts that succeeded.
    """

    def __init__(self, message: str, done: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.done = list(done)


class RowError(InputError):
    """One row cannot be processed, for a stable reason that `rejects` keeps; the rest of the shard is."""

    code: RejectCode

    def __init__(self, code: RejectCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type["RowError"], tuple[RejectCode, str]]:
        return RowError, (self.code, self.message)  # else no process could take it from another
