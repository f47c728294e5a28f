"""Folders of runs: their names, their encoders, and which was finished last.

    runs/
    ├── builds/                               records of builds, not a run
    ├── syntax/                               the encoder `syntax` of the project
    │   ├── current -> 00002-9a1c33/seed-0    the run that was promoted
    │   └── 00002-9a1c33/                     release 2, digest of the settings
    │       ├── seed-0/                       a run: train.json, encoder/, metrics.json, report.html
    │       └── seed-1/

The **id** of a run is its path below the folder of runs: `syntax/00002-9a1c33/seed-0`.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from features.core.closed import first_problem
from features.core.errors import ModelError
from features.core.faults import (
    EncoderDamaged,
    EncoderUnfinished,
    NameNotAllowed,
    NoEncoder,
    OtherSettings,
    RecordUnreadable,
    RunGone,
    UnknownRun,
)
from features.core.wording import clipped, did_you_mean
from training.loop.settings import Trainable, decisive
from training.writing import read_json

ENCODER = "encoder"
"""Folder of the encoder within a run."""
TRAINING_JOB = "train.json"
TRAINING_LOCK = "train.lock"
"""Lock file in the folder of a run, held by the process that trains there."""
TRAINING_FILE = "training.json"
"""Record of the training of a finished encoder, in its folder."""
METRICS_FILE = "metrics.json"
"""Scores of a run that was evaluated."""
PER_SECOND = "_per_second"
"""Suffix of the key of training.json with the speed, after the unit: `pairs_per_second`."""
BUILDS = "builds"
"""Folder next to the runs with the records of builds."""
CURRENT = "current"
"""The link to the run that was promoted, in the folder of an encoder."""
SEARCH = "search"
"""Folder within that of a run, while it searches values of its settings (`training.encoders.learning`)."""
MAP, LAYERS = "map", "layers"
"""Folders within that of a run, with the checkpoints of its map of facets and of its layers until the encoder is
written."""
RECORD = "run.json"
"""State of a run (`training.run_records`)."""

UNDECISIVE = frozenset({"name", "pool", "cache_gib", "disk_gib"})
"""Settings of an encoder that do not affect the result."""

_SEED = re.compile(r"seed-(\d+)")
_GROUP = re.compile(r"(\d{5,})-([0-9a-f]+)")


class Training(BaseModel, strict=True):
    """The form of what is read from `training.json`; a kind may write less, or more."""

    settings: dict[str, Any]
    corpora: dict[str, dict[str, Any]] = {}
    source: dict[str, Any] = {}
    chosen_by: dict[str, Any] = {}
    search: dict[str, Any] = {}
    dev: dict[str, Any] | None = None
    history: list[dict[str, Any]] = []
    seconds: float = 0.0
    files: dict[str, int] = {}


def check_encoder_name(name: str, key: str) -> None:
    """Check that `name`, given by a key of the project file, can be that of a folder of runs."""
    if name in {BUILDS, CURRENT} or name.startswith("."):
        raise NameNotAllowed(
            f"`{key}` is {name!r}, which cannot be the name of a folder of runs: it must not begin with a dot, nor be "
            f"{BUILDS!r} or {CURRENT!r}"
        )


def settings_digest(
    settings: Trainable, ratings: str = "", without: Sequence[str] = (), version: int = 1, backbone_version: str = ""
) -> str:
    """Return six hexadecimal digits of all that decides the result, but data and seed.

    Besides the settings these are the digest of the ratings that choose the model, the corpora of the store that are
    not trained on although no setting names any, and the versions of the code that trains it (`training.kinds.Kind`)
    and of a backbone that comes with facetflow.
    """
    chosen = decisive(settings, exclude=UNDECISIVE)
    chosen["loop"] = {name: value for name, value in chosen["loop"].items() if name != "seed"}
    chosen |= {"ratings": ratings} if ratings else {}
    chosen |= {"without": sorted(without)} if without else {}
    chosen |= {"version": version} if version > 1 else {}
    chosen |= {"backbone_version": backbone_version} if backbone_version else {}
    return hashlib.blake2b(json.dumps(chosen, sort_keys=True).encode(), digest_size=3).hexdigest()


def run_folder(runs: Path, encoder: str, release: int, digest: str, seed: int) -> Path:
    """Return the folder of the run of an encoder on a release, with a digest of its settings and a seed."""
    return runs / encoder / f"{release:05d}-{digest}" / f"seed-{seed}"


def run_id(runs: Path, run: Path) -> str:
    """Return the id of a run: its path below the folder of all runs, or its whole path elsewhere."""
    return run.relative_to(runs).as_posix() if run.is_relative_to(runs) else str(run)


def run_title(run: Path) -> str:
    """Return the id of a run from its folder alone, as shown in reports."""
    group = group_of(run)
    return run.name if group == run else f"{group.parent.name}/{group.name}/{run.name}"


def encoder_title(encoder: Path) -> str:
    """Return what an encoder is called, from its folder alone: the id of its run, or the name of a model or folder."""
    absolute = encoder.resolve()
    return run_title(absolute.parent) if absolute.name in {ENCODER, "files"} else absolute.name


def group_of(run: Path) -> Path:
    """Return the folder with the seeds of one training; the folder itself if it is not a run of a project."""
    return run.parent if _SEED.fullmatch(run.name) and _GROUP.fullmatch(run.parent.name) else run


def release_of(run: Path) -> int | None:
    """Return the number of the release that a run is trained on, from its id; None for a folder without one."""
    named = _GROUP.fullmatch(run.parent.name)
    return int(named[1]) if named else None


def last_release(runs: Path) -> int:
    """Return the highest number of a release that a run is trained on; 0 without any."""
    return max((release_of(run) or 0 for run in all_runs(runs)), default=0)


def seed_of(run: Path) -> int:
    """Return the seed of a run."""
    return int(run.name.removeprefix("seed-"))


def seeds_of(run: Path) -> list[Path]:
    """Return the run and those that differ from it only in the seed, sorted by seed."""
    return sorted((path for path in run.parent.iterdir() if _SEED.fullmatch(path.name)), key=seed_of)


def encoder_name(run: Path) -> str:
    """Return the name of the encoder that a run trains."""
    return run.parent.parent.name


def all_runs(runs: Path, encoder: str = "", *, linked: bool = False) -> list[Path]:
    """Return the folders of all runs, finished or begun, or of those of an encoder, sorted by id.

    Runs behind links, such as the current one, count only if `linked`: they have two ids then.
    """
    marks = (TRAINING_JOB, RECORD, f"{ENCODER}/{TRAINING_FILE}")
    return sorted(
        run
        for run in runs.glob(f"{escape(encoder) or '*'}/*/seed-*")
        if group_of(run) != run  # else it is about to be deleted, or not one of a project
        and any((run / mark).exists() for mark in marks)
        and (linked or not any(part.is_symlink() for part in (run, run.parent, run.parent.parent)))
    )


def is_finished(run: Path) -> bool:
    """Return whether a run has its encoder."""
    return (run / ENCODER / TRAINING_FILE).is_file()


def training_of(encoder: Path) -> dict[str, Any]:
    """Return how an encoder was trained, its `training.json`; empty if it was not trained by facetflow."""
    file = encoder / TRAINING_FILE
    if not file.is_file():
        return {}
    try:
        training: dict[str, Any] = read_json(file)
        Training.model_validate(training)
    except (RecordUnreadable, ValidationError) as error:
        if isinstance(error.__cause__, OSError):  # it is another user's, not damaged
            raise
        reason = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else error.__cause__
        raise EncoderDamaged(
            f"{str(file)!r} is damaged ({reason}): delete the folder {str(encoder)!r}, then train or copy it again."
        ) from error
    return training


def find_encoder(runs: Path, name: str) -> Path:
    """Return the finished encoder of a run, by its id or the beginning of it, or the newest of those with a name."""
    begun = runs_named(runs, name)
    if finished := [run for run in begun if is_finished(run)]:
        return newest(finished) / ENCODER
    if begun:
        run = begun[-1]
        raise EncoderUnfinished(
            f"{name!r} in {str(runs)!r} has no finished encoder yet: `facetflow train {encoder_name(run)} --release "
            f"{release_of(run)}` finishes it."
        )
    if (link := gone_link(runs, name)) is not None:
        raise RunGone(
            f"{name!r} in {str(runs)!r} is a link to {str(link.readlink())!r}, which is gone: restore it, or name "
            "another run (`facetflow runs` lists them)."
        )
    finished = [run for run in all_runs(runs) if is_finished(run)]
    names = sorted({name for run in finished for name in (encoder_name(run), run_id(runs, run))})
    if not names:
        raise NoEncoder(f"There is no encoder {name!r} in {str(runs)!r}, nor any other: run `facetflow train` first.")
    there_are = did_you_mean(name, names, f"there are: {clipped(', '.join(names))}")
    raise UnknownRun(f"There is no encoder or run {name!r} in {str(runs)!r}; {there_are}.")


def no_training(runs: Path, name: str) -> ModelError:
    """Return the error that an encoder of the project file has no training."""
    names = ", ".join(finished_encoders(runs))
    others = f" (there is one of: {names})" if names else ""
    return EncoderUnfinished(
        f"The project file has the encoder {name!r}, but {str(runs)!r} has no finished training of it{others}: "
        f"`facetflow train {name}` makes one."
    )


def gone_link(runs: Path, name: str) -> Path | None:
    """Return the link of a name, such as `syntax/current`, if the run that it leads to is gone; otherwise None."""
    link = runs / name.strip("/")
    return link if link.is_symlink() and not link.exists() else None


def runs_named(runs: Path, name: str) -> list[Path]:
    """Return the runs, finished or begun, of an encoder, or those whose id begins with a name.

    The name ends before a slash of the id; a link such as `syntax/current` is followed.
    """
    name = name.strip("/")
    linked = runs / name
    if name and linked.is_symlink() and linked.resolve().is_relative_to(runs.resolve()):
        name = linked.resolve().relative_to(runs.resolve()).as_posix()
    begun = all_runs(runs, name.partition("/")[0])
    return [run for run in begun if f"{run_id(runs, run)}/".startswith(f"{name}/")]


def latest_encoder(runs: Path) -> Path:
    """Return the encoder, of any name, that was finished last."""
    finished = [run for run in all_runs(runs) if is_finished(run)]
    if not finished:
        raise NoEncoder(f"{str(runs)!r} has no encoder yet: run `facetflow train` first.")
    return newest(finished) / ENCODER


def finished_encoders(runs: Path) -> list[str]:
    """Return the names of the encoders of a project that have a finished run."""
    return sorted({encoder_name(run) for run in all_runs(runs) if is_finished(run)})


def newest(runs: Sequence[Path]) -> Path:
    """Return the run, of at least one finished, whose encoder was finished last."""
    return max(runs, key=lambda run: (finished_at(run), (run / ENCODER / TRAINING_FILE).stat().st_mtime_ns))


def finished_at(run: Path) -> str:
    """Return when a run was finished, UTC, ISO 8601: by its record, or where that does not say, by its file."""
    with suppress(RecordUnreadable, ValueError, KeyError, TypeError):
        record = read_json(run / RECORD)
        if record["state"] == "done":
            return datetime.fromisoformat(record["at"]).isoformat()
    written = (run / ENCODER / TRAINING_FILE).stat().st_mtime
    return datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds")


def finished_identity(identity: str, settings: Trainable) -> str:
    """Return the identity of a finished training, which unlike that of an unfinished one includes its epochs."""
    return f"{identity}-{settings.loop.epochs}"


def is_done(folder: Path, identity: str) -> bool:
    """Return whether a training of this identity is already finished, by the `training.json` in a folder."""
    training = training_of(folder)
    if not training or training.get("identity") == identity:
        return bool(training)
    raise OtherSettings(
        f"{str(folder)!r} has the finished result of a training with other settings or data: choose another output, or "
        "delete the folder to train anew."
    )


def flattened(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with inner tables flattened: `{"loop": {"epochs": 4}}` as `{"loop.epochs": 4}`."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inner = flattened(value) if isinstance(value, Mapping) else None
        flat |= {name: value} if inner is None else {f"{name}.{key}": each for key, each in inner.items()}
    return flat
