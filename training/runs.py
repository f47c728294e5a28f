"""Folders of runs: how one is called, which encoder is in it, which was finished last."""

import difflib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from features.errors import ModelError, SettingsError
from training.loop.settings import Trainable
from training.writing import read_json

ENCODER = "encoder"
"""Folder of the encoder within a run."""
TRAINING_JOB = "train.json"
"""What the encoder of a run learns, and from what."""
TRAINING_FILE = "training.json"
"""How a finished encoder was made; in its folder."""
BUILDS = "builds"
"""The folder beside the runs that is none: it has the records of builds."""


def run_folder(runs: Path, name: str) -> Path:
    """Return the folder of a run.

    Args:
        runs: folder of all runs.
        name: of the run.

    Raises:
        SettingsError: when the name cannot be one.
    """
    if not name or Path(name).name != name or name.startswith(".") or name == BUILDS:
        raise SettingsError(
            f"{name!r} cannot be the name of a run: it becomes a folder in {str(runs)!r}, so it has no slash, does not "
            f"begin with a dot, and is not {BUILDS!r}, where the records of builds are."
        )
    return runs / name


def find_encoder(runs: Path, name: str) -> Path:
    """Return the finished encoder of a run.

    Args:
        runs: folder of all runs.
        name: of the run.

    Raises:
        SettingsError: when the name cannot be one.
        ModelError: when there is no such run, or it is not finished.
    """
    encoder = run_folder(runs, name) / ENCODER
    if (encoder / TRAINING_FILE).is_file():
        return encoder
    if (encoder.parent / TRAINING_JOB).is_file():
        raise ModelError(
            f"The run {name!r} in {str(runs)!r} has no encoder yet: `facetflow train --name {shlex.quote(name)}` "
            "brings it to its end."
        )
    finished = sorted(found.parent.name for found in _encoders(runs))
    if not finished:
        raise ModelError(f"There is no run {name!r} in {str(runs)!r}, nor any other: run `facetflow train` first.")
    close = difflib.get_close_matches(name, finished, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise ModelError(f"There is no run {name!r} in {str(runs)!r}{hint}; there are: {', '.join(finished)}.")


def latest_encoder(runs: Path) -> Path:
    """Return the encoder that was finished last in a folder of runs.

    Raises:
        ModelError: when no run has an encoder yet.
    """
    found = sorted(_encoders(runs), key=lambda encoder: (encoder / TRAINING_FILE).stat().st_mtime_ns)
    if not found:
        raise ModelError(f"{str(runs)!r} has no encoder yet; run `facetflow train`, or name one with --model")
    return found[-1]


def _encoders(runs: Path) -> list[Path]:
    """Return the encoders of all runs, each once: `current` is a link to one of them."""
    found = (path.parent for path in runs.glob(f"*/{ENCODER}/{TRAINING_FILE}"))
    return [encoder for encoder in found if not encoder.parent.is_symlink()]


def finished_identity(identity: str, settings: Trainable) -> str:
    """Return the identity of a training that has come to its end: only then its epochs decide."""
    return f"{identity}-{settings.loop.epochs}"


def is_done(report: Path, identity: str) -> bool:
    """Return whether a training has been finished before.

    Args:
        report: what a finished training leaves, with its identity.
        identity: of the training that is asked for.

    Raises:
        SettingsError: when another one was finished there: it is never replaced.
    """
    if not report.is_file():
        return False
    if read_json(report).get("identity") == identity:
        return True
    raise SettingsError(
        f"{str(report.parent)!r} has the finished result of a training with other settings or data: choose another "
        "output, or delete the folder to train anew."
    )


def flattened(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with those of inner tables beside them: `{"loop": {"epochs": 4}}` as `{"loop.epochs": 4}`."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inner = flattened(value) if isinstance(value, Mapping) else None
        flat |= {name: value} if inner is None else {f"{name}.{key}": each for key, each in inner.items()}
    return flat
