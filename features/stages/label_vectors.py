"""The stage `label_vectors`: the vector of each word in the labels of a shard's graphs, which metrics compare."""

from pathlib import Path

import polars as pl

from features.core.faults import FileMissing
from features.core.types import OnRows, ignore_rows
from features.metrics.label_vectors import labels_of, words_of
from features.models import digest, locate
from features.parsers.label_vectors import WordVectors
from features.parsers.settings import LabelVectorSettings
from features.schemas import LABEL_VECTORS, StageOutput
from features.stages.amr import AMR_STAGE
from features.stages.stage import MIB, Recipe, Stage, StageModels, vector_column, with_model

NAME = "label_vectors"
ALGORITHM_VERSION = "1"
_OF_TEXT = 0.4
"""Memory of word vectors as a share of their text file: four bytes per number instead of ten characters."""


def embed_labels(amr: pl.DataFrame, vectors: WordVectors, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Return the vector of each word in the labels of graphs, rows of `AMR`.

    Returns:
        Rows of `LABEL_VECTORS`, sorted by word. A word without a vector has no row: the metrics draw one for it,
        seeded by the word.
    """
    words, matrix = vectors.look_up(words_of(labels_of(amr)), on_rows)
    return StageOutput(pl.DataFrame({"label": words, "vector": vector_column(matrix)}, schema=LABEL_VECTORS))


def label_vector_recipe(settings: LabelVectorSettings) -> Recipe:
    """Return the recipe, with the hash of the encoder or of the file of word vectors, which must be there."""
    if settings.file is not None:
        if not settings.file.is_file():
            raise FileMissing(
                f"{str(settings.file)!r} is not a file of word vectors: check `file` under [label_vectors]."
            )
        return Recipe(NAME, {"backend": "glove"}, ALGORITHM_VERSION, digest(settings.file))
    parameters = {"backend": "encoder", "model": Path(settings.model).name}
    return Recipe(NAME, parameters, ALGORITHM_VERSION, digest(locate(settings.model)))


def _models(settings: LabelVectorSettings) -> StageModels:
    if settings.file is not None:
        share = 1 if settings.file.suffix.lower() == ".gz" else _OF_TEXT
        size = int(settings.file.stat().st_size * share)
        return StageModels(files=(settings.file,), bytes=((settings.file, size),))
    return StageModels.loaded(settings.model, libraries=("torch", "sentence_transformers"), beside=20 * MIB)


LABEL_VECTOR_STAGE = Stage(
    name=NAME,
    about="vectors of the words in labels.",
    reads=(AMR_STAGE.name,),
    columns=LABEL_VECTORS,
    key=("shard", "label"),  # a label has its vector in every shard that has the label
    settings=LabelVectorSettings,
    recipe=label_vector_recipe,
    make=with_model("features.parsers.label_vectors", embed_labels, AMR_STAGE.name),
    models=_models,
    imports=lambda settings: ("sentence_transformers",) if settings.backend == "encoder" else (),
    complete=False,  # rows are words, not sentences
)
