"""The errors that a user may see: one clear sentence that says what, where and what to do.

    FacetflowError
    ├── InputError     a file or a row is not what its format promises
    ├── SettingsError  a parameter or a project file is wrong
    ├── StoreError     the feature store cannot be read, written or trusted
    ├── ModelError     a model is unknown, missing or corrupted
    └── RunError       a flow could not do what it was asked to
        └── PartlyDoneError    but it did some of it, which stays

The command line prints the message of any of them and leaves with exit code 1, of the last one with 2. A single bad row
is not an error: it becomes a row of `rejects` with a `RejectCode`, raised as `RowError` where it is read or parsed.
"""

from collections.abc import Sequence
from typing import Any

from features.core.types import RejectCode


class FacetflowError(Exception):
    """Base of every error that is the user's to act on. Its message is one sentence, ready to print."""


class InputError(FacetflowError):
    """A file or one of its rows is not what its format promises."""


class SettingsError(FacetflowError):
    """A parameter or a project file is wrong."""


class StoreError(FacetflowError):
    """The feature store cannot be read, written or trusted."""


class ModelError(FacetflowError):
    """A model is unknown, missing or corrupted."""


class RunError(FacetflowError):
    """A flow could not do what it was asked to."""


class PartlyDoneError(RunError):
    """A flow did some of what it was asked to, and failed at the rest.

    Args:
        message: what failed.
        done: the results of the parts that succeeded.
    """

    def __init__(self, message: str, done: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.done = list(done)


class RowError(InputError):
    """One row cannot be processed; the rest of the shard is processed without it.

    Args:
        code: the stable reason, kept in `rejects`.
        message: what was wrong, for a human.
    """

    def __init__(self, code: RejectCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
