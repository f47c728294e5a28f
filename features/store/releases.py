"""Releases: versions of tables that belong together, under a number that training can pin and read years later."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from features.core.durable import sync
from features.core.errors import StoreError
from features.stages.recipe import Recipe
from features.store import folder

_FILE = re.compile(r"(\d{5,})\.json")


@dataclass(frozen=True, slots=True)
class Release:
    """A complete set of features.

    Args:
        number: 1, 2, 3 and so on.
        run_id: the run that published it.
        created: UTC, ISO 8601.
        code_version: version of this package.
        versions: table → version.
        recipes: stage → how its rows were made, as `Recipe.as_dict` gives it.
        rows: number of rows, by table.
        rejects: number of rejected rows, by stage.
        missing: stage → shards that could not be made and are left out.
    """

    number: int
    run_id: str
    created: str
    code_version: str
    versions: Mapping[str, int]
    recipes: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, int]
    rejects: Mapping[str, int]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def recipe(self, stage: str) -> Recipe:
        """Return how the rows of a stage were made."""
        if stage not in self.recipes:
            raise StoreError(f"Release {self.number} has no stage {stage!r}; it has {', '.join(self.recipes)}.")
        return Recipe.from_dict(self.recipes[stage])


def write_release(path: Path, release: Release) -> None:
    """Write a release to the store's folder `path`; a number is used only once.

    Raises:
        StoreError: when another process has published that number, or the folder cannot be written.
    """
    content = json.dumps(asdict(release), indent=2, ensure_ascii=False) + "\n"
    with folder.clear_errors(f"Publishing release {release.number} in {str(path)!r}"):
        try:
            file = release_file(path, release.number).relative_to(path).as_posix()
            folder.write(path, file, content.encode(), replace=False)
        except FileExistsError as error:
            raise StoreError(
                f"Release {release.number} was published by another process in the meantime; run again."
            ) from error


def remove_release(path: Path, number: int) -> None:
    """Remove a release from the store's folder `path`; the files that only it needs are garbage from then on.

    Its number must not be used again, so the newest one is not removed.

    Raises:
        StoreError: when it is the newest, there is none of this number, or it cannot be removed.
    """
    if number == max(release_numbers(path), default=0):
        raise StoreError(f"Release {number} is the newest one of {str(path)!r}, and is kept.")
    with folder.clear_errors(f"Removing release {number} of {str(path)!r}"):
        release_file(path, number).unlink()
        sync(path / "releases")  # before its files go: after a power cut it must not be back without them


def release_file(path: Path, number: int) -> Path:
    """Return the file of a release of the store in the folder `path`."""
    return path / "releases" / f"{number:05d}.json"


def release_numbers(path: Path) -> list[int]:
    """Return the numbers of all releases of the store in the folder `path`, ascending."""
    with folder.clear_errors(f"Reading the releases of {str(path)!r}"):
        files = [_FILE.fullmatch(file.name) for file in (path / "releases").glob("*.json")]
    return sorted(int(found.group(1)) for found in files if found)


def read_release(path: Path, number: int) -> Release:
    """Return a release of the store in the folder `path`.

    Raises:
        StoreError: when there is no such release, or its file is damaged.
    """
    file = release_file(path, number)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        content["missing"] = {stage: tuple(shards) for stage, shards in content["missing"].items()}
        return Release(**content)
    except FileNotFoundError as error:
        numbers = ", ".join(map(str, release_numbers(path))) or "none yet"
        raise StoreError(f"There is no release {number} in {str(path)!r}; there are: {numbers}.") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"The release {str(file)!r} cannot be read; restore the file, or publish again.") from error
