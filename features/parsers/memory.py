"""How much memory a process needs for the models of some stages: a lower bound, not the peak.

    python, Dask, Prefect + libraries + files of the models + what a stage keeps in addition

The sizes of the files are taken from disk. The other figures are the resident memory of a worker on Linux, measured
with the default models, 256 sentences and one thread, rounded down (`python benchmarks/model_memory.py` repeats them).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from features.models import locate
from features.models.files import model_files
from features.parsers.embedded.amr_parser import model_folder
from features.parsers.settings import (
    AmrSettings,
    DependencySettings,
    EmbeddingSettings,
    LabelVectorSettings,
    SrlSettings,
)
from features.parsers.srl.parser import locate_tagger

MIB = 1 << 20
PROCESS = 230 * MIB
"""An idle worker that has imported Dask, Prefect and the tasks."""
LIBRARIES = {"torch": 180 * MIB, "sentence_transformers": 180 * MIB, "spacy": 30 * MIB}
BESIDE = {
    "amr": 280 * MIB,
    "srl": 80 * MIB,
    "dependencies": 180 * MIB,
    "embeddings": 20 * MIB,
    "label_vectors": 20 * MIB,
}
"""Stage → what it keeps in addition to its libraries and the files of its models: vocabularies, tensors, buffers."""
_OF_TEXT = 0.4
"""Memory of word vectors as a share of their text file: four bytes per number instead of ten characters."""


@dataclass(frozen=True, slots=True)
class StageModels:
    """What a stage loads.

    Args:
        libraries: keys of `LIBRARIES`.
        bytes: path of a model → bytes that it takes in memory.
        beside: bytes that the stage keeps in addition.
    """

    libraries: frozenset[str] = frozenset()
    bytes: tuple[tuple[Path, int], ...] = ()
    beside: int = 0

    @property
    def own(self) -> int:
        """Bytes of the models and of what is kept in addition."""
        return sum(size for _, size in self.bytes) + self.beside


def models_of(stage: str, settings: BaseModel | None) -> StageModels:
    """Return what a stage loads, without loading a model.

    Args:
        stage: its name.
        settings: its section of the project file.

    Raises:
        ModelError: a model is not on this machine.
    """
    torch, spacy = frozenset({"torch"}), frozenset({"spacy"})
    beside = BESIDE.get(stage, 0)
    if isinstance(settings, AmrSettings) and settings.backend != "penman":
        folder = model_folder(settings.model) if settings.backend == "embedded" else locate(settings.model)
        return StageModels(torch, _sizes(folder), beside)
    if isinstance(settings, SrlSettings):
        tags = (locate(settings.tags),) if settings.predicates == "spacy" else ()
        return StageModels(torch | spacy, _sizes(locate_tagger(settings.model), *tags), beside)
    if isinstance(settings, DependencySettings):
        return StageModels(spacy, _sizes(locate(settings.model)), beside)
    if isinstance(settings, EmbeddingSettings) or (
        isinstance(settings, LabelVectorSettings) and settings.backend == "encoder"
    ):
        return StageModels(torch | {"sentence_transformers"}, _sizes(locate(settings.model)), beside)
    if isinstance(settings, LabelVectorSettings) and settings.file is not None:
        packed = settings.file.suffix.lower() == ".gz"
        return StageModels(bytes=((settings.file, int(settings.file.stat().st_size * (1 if packed else _OF_TEXT))),))
    return StageModels()


def total(models: Mapping[str, StageModels]) -> int:
    """Return the bytes needed by a process that runs all of these stages; it keeps the models of each.

    Args:
        models: stage → what it loads; a model that two stages share counts once.
    """
    libraries = frozenset[str]().union(*(of.libraries for of in models.values()))
    files = {path: size for of in models.values() for path, size in of.bytes}
    beside = sum(of.beside for of in models.values())
    return PROCESS + sum(LIBRARIES[name] for name in libraries) + sum(files.values()) + beside


def _sizes(*paths: Path) -> tuple[tuple[Path, int], ...]:
    return tuple(
        (path, sum(file.stat().st_size for file in ([path] if path.is_file() else model_files(path)))) for path in paths
    )
