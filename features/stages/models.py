"""What a stage loads, and how much memory a process needs for it: a lower bound, not the peak.

    python, Dask, Prefect + libraries + files of the models + what a stage keeps in addition

The sizes of the files are taken from disk. The other figures are the resident memory of a worker on Linux, measured
with the default models, 256 sentences and one thread, rounded down (`python benchmarks/model_memory.py` repeats them).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

MIB = 1 << 20
PROCESS = 230 * MIB
"""An idle worker that has imported Dask, Prefect and the tasks."""
LIBRARIES = {"torch": 180 * MIB, "sentence_transformers": 180 * MIB, "spacy": 30 * MIB, "amrlib": 0}
"""Libraries that stages load models with; amrlib adds nothing to torch that was worth measuring."""


@dataclass(frozen=True, slots=True)
class StageModels:
    """What a stage loads with its settings: libraries (keys of `LIBRARIES`), models, and other files that it reads.

    `names` are the models that a worker has to find, none of those in the package; `bytes` what each takes in memory,
    and `beside` what the stage keeps in addition: vocabularies, tensors, buffers.
    """

    libraries: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    bytes: tuple[tuple[Path, int], ...] = ()
    beside: int = 0

    @classmethod
    def loaded(cls, *models: Path, libraries: tuple[str, ...], beside: int, names: tuple[str, ...] = ()) -> Self:
        """Return what a stage loads that reads these folders and files of models whole."""
        from features.models.files import model_files

        sizes = [
            sum(file.stat().st_size for file in ([model] if model.is_file() else model_files(model)))
            for model in models
        ]
        return cls(frozenset(libraries), names, bytes=tuple(zip(models, sizes, strict=True)), beside=beside)

    @property
    def own(self) -> int:
        """Bytes of the models and of what is kept in addition."""
        return sum(size for _, size in self.bytes) + self.beside


def total(models: Mapping[str, StageModels]) -> int:
    """Return the bytes needed by a process that runs all of these stages; a model that two stages share counts once."""
    libraries = frozenset[str]().union(*(each.libraries for each in models.values()))
    files = {path: size for each in models.values() for path, size in each.bytes}
    beside = sum(each.beside for each in models.values())
    return PROCESS + sum(LIBRARIES[name] for name in libraries) + sum(files.values()) + beside
