"""The base of settings, jobs and records that are read from files of users, and what is wrong with one."""

from pydantic import BaseModel, ConfigDict, ValidationError


class Closed(BaseModel):
    """A model that refuses unknown keys and numbers that are not finite, and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def first_problem(error: ValidationError) -> tuple[str, str]:
    """Return where a file does not fit its model, and why, by the first of its errors."""
    first = error.errors()[0]
    return ".".join(str(part) for part in first["loc"]) or "the file", first["msg"].removeprefix("Value error, ")
