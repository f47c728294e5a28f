"""Write what differs between a trained encoder and its start model: python tools/ship_encoder.py ENCODER START FOLDER.

The folder is what `features.models.assembling` puts together again: float16 weights of tuned layers and of modules that
the start model lacks, the list of modules, facets, how it was trained, and the model card.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from features.models.assembling import TUNED, WEIGHTS

DESCRIBED = ("modules.json", "facets.json", "training.json", "README.md")


def ship(encoder: Path, start: Path, folder: Path) -> int:
    """Write the files that differ; return their bytes.

    Args:
        encoder: folder of the trained encoder.
        start: folder of its start model.
        folder: where they go; replaced.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in DESCRIBED:
        shutil.copyfile(encoder / name, folder / name)
    for module in sorted(path for path in encoder.iterdir() if path.is_dir() and not (start / path.name).is_dir()):
        for path in (path for path in module.rglob("*") if path.is_file()):
            target = folder / path.relative_to(encoder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".safetensors":
                save_file({name: _half(value) for name, value in load_file(path).items()}, target)
            else:
                shutil.copyfile(path, target)
    before, after = load_file(start / WEIGHTS), load_file(encoder / WEIGHTS)
    tuned = {name: _half(value) for name, value in after.items() if not np.array_equal(value, before[name])}
    if tuned:
        save_file(tuned, folder / TUNED)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _half(value: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(value.astype(np.float16))


if __name__ == "__main__":
    print(f"{ship(*map(Path, sys.argv[1:4])) / 1e6:.2f} MB")
