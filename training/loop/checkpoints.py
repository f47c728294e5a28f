"""Checkpoints: everything that a training needs to resume exactly, in one file, replaced atomically."""

from pathlib import Path
from typing import Any

import torch

from features.core.faults import CheckpointDamaged, OtherSettings
from features.core.file_errors import first_line
from features.core.outputs import whole_file
from training.writing import writing_file

FILE_NAME = "checkpoint.pt"
FORMAT = 3
"""Format of a checkpoint; one of another format is refused."""


def save(path: Path, state: dict[str, Any]) -> None:
    """Write tensors, numbers, strings, and lists and dicts of them; a crash leaves the old file or the new one."""
    with writing_file(path), whole_file(path) as file:
        torch.save({"format": FORMAT, **state}, file)


def load(path: Path, *, identity: str) -> dict[str, Any] | None:
    """Read a checkpoint of the training with an identity; None if there is none."""
    if not path.exists():
        return None
    try:
        # weights_only: a checkpoint cannot contain code.
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = first_line(error).partition(". ")[0]  # torch goes on with how to run the code of such a file
        raise CheckpointDamaged(
            f"the checkpoint {str(path)!r} is damaged ({reason}); delete it to train from the start"
        ) from error
    if state.get("format") != FORMAT:
        raise OtherSettings(
            f"the checkpoint {str(path)!r} was written by another version of facetflow, and only that version can "
            "resume it: finish the training with that version, or delete the file to train from the start"
        )
    if state.get("identity") != identity:
        raise OtherSettings(
            f"the checkpoint {str(path)!r} was made with other settings, data or backbone; choose another output "
            "folder (for an encoder of a project: another `name`), or delete it to start again"
        )
    return state
