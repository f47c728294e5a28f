"""The base of settings, jobs and records that are read from files of users."""

from pydantic import BaseModel, ConfigDict


class Closed(BaseModel):
    """A model that refuses unknown keys and numbers that are not finite, and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
