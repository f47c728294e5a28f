"""A model that comes with facetflow as what differs from another one, put together in the cache.

    start model    model.safetensors, tokenizer.json, …      ┐
    shipped        modules.json, 3_Dense/…, facets.json, …   ├──> a model folder like any other
                   tuned.safetensors: weights of some layers ┘

A file that is shipped replaces that of the start model; weights in `tuned.safetensors`, float16, replace those of the
same name in `model.safetensors`.
"""

import os
import shutil
from pathlib import Path

from features.models.cache import Manifest
from features.models.files import digest
from features.models.records import MODELS, Shipped, Wheel

TUNED = "tuned.safetensors"
WEIGHTS = "model.safetensors"


def shipped_folder(source: Shipped) -> Path:
    """Return the folder of the files that are shipped."""
    return Path(__file__).parent / source.folder


def version_of(source: Shipped) -> str:
    """Return what the assembled model depends on: the digest of what is shipped, and the pinned start model."""
    start = MODELS[source.start].source
    return f"{digest(shipped_folder(source))}+{start.sha256 if isinstance(start, Wheel) else source.start}"


def is_current(manifest: Manifest | None, source: Shipped) -> bool:
    """Return whether the cache holds the model as this version of facetflow ships it."""
    return manifest is not None and manifest.version == version_of(source)


def assemble(start: Path, source: Shipped, folder: Path) -> None:
    """Put a model together from the folder of its start model and what is shipped, in a new folder."""
    shipped = shipped_folder(source)
    shutil.copytree(start, folder, copy_function=_link)
    for path in shipped.rglob("*"):
        target = folder / path.relative_to(shipped)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        elif path.name != TUNED:
            target.unlink(missing_ok=True)  # a link to the start model's
            shutil.copyfile(path, target)
    if (shipped / TUNED).is_file():
        from safetensors.numpy import load_file, save_file

        weights, tuned = load_file(start / WEIGHTS), load_file(shipped / TUNED)
        weights |= {name: value.astype(weights[name].dtype) for name, value in tuned.items()}
        (folder / WEIGHTS).unlink()
        save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _link(source: str, target: str) -> None:
    """Give a file of the start model a second name; both stay as they are. Copy it where links are impossible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
