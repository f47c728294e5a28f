"""Releases: versions of tables that belong together, under a number that training can pin and read years later."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from features.core.errors import StoreError
from features.core.faults import NoRelease, StoreDamaged, UnknownTable, WrittenByAnother
from features.core.file_errors import clear_errors
from features.stages.stage import Recipe
from features.store.storage import Storage

_FILE = re.compile(r"(\d{5,})\.json")


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class Release:
    """A complete set of features, published by a run of a version of this package (UTC, ISO 8601)."""

    number: int  # 1, 2, 3 and so on
    run_id: str
    created: str
    code_version: str
    versions: Mapping[str, int]
    recipes: Mapping[str, Mapping[str, Any]]  # stage → how its rows were made, as `Recipe.as_dict` gives it
    rows: Mapping[str, int]  # number of rows, by table
    rejects: Mapping[str, int]  # number of rejected rows, by stage
    # stage → shards that could not be made and are left out
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unpinned := {*self.rows, "rejects"} - self.versions.keys():
            raise ValueError(f"no version of {unpinned}")

    def recipe(self, stage: str) -> Recipe:
        """Return how the rows of a stage were made."""
        if stage not in self.recipes:
            raise UnknownTable(f"Release {self.number} has no stage {stage!r}; it has {', '.join(self.recipes)}.")
        return Recipe.from_dict(self.recipes[stage])


_RELEASE = TypeAdapter(Release)


def write_release(storage: Storage, release: Release) -> None:
    """Write a release to a store; raise a StoreError if another process has published its number."""
    content = json.dumps(asdict(release), indent=2, ensure_ascii=False) + "\n"
    with clear_errors(f"Publishing release {release.number} in {storage.location!r}"):
        try:
            storage.put_if_absent(release_name(release.number), content.encode())
        except FileExistsError as error:
            raise WrittenByAnother(
                f"Release {release.number} was published by another process in the meantime; run again."
            ) from error


def release_name(number: int) -> str:
    """Return the name of the object that holds a release."""
    return f"releases/{number:0>5}.json"  # also of what a caller of Python gives that is no number


def release_numbers(storage: Storage) -> list[int]:
    """Return the numbers of all releases of a store, ascending."""
    with clear_errors(f"Reading the releases of {storage.location!r}"):
        matches = [_FILE.fullmatch(name) for name in storage.names("releases")]
    return sorted(int(match[1]) for match in matches if match)


def read_release(storage: Storage, number: int) -> Release:
    """Return a release of a store; raise a StoreError if there is no such release, or its file is damaged."""
    name = release_name(number)
    with clear_errors(f"Reading the release {storage.url(name)!r}"):
        try:
            return _RELEASE.validate_json(storage.read(name))
        except FileNotFoundError as error:
            raise no_release(storage, number) from error
        except ValidationError as error:
            raise StoreDamaged(
                f"The release {storage.url(name)!r} cannot be read; restore the file, or delete it and build."
            ) from error


def no_release(storage: Storage, number: int) -> StoreError:
    """Return the error about a release that does not exist."""
    numbers = ", ".join(map(str, release_numbers(storage))) or "none yet"
    instead = "name one of these, or train again what was trained on it"
    return NoRelease(f"There is no release {number} in {storage.location!r} (there are: {numbers}): {instead}.")
