"""The stage `embeddings`: each sentence to its embedding by the teacher."""

from pathlib import Path

import polars as pl

from features.core.types import OnRows, ignore_rows
from features.models import digest, locate
from features.parsers.sentence_encoder import SentenceEncoder
from features.parsers.settings import EmbeddingSettings
from features.schemas import EMBEDDINGS, StageOutput, rejects_frame
from features.stages.stage import MIB, Recipe, Stage, StageModels, admit, vector_column, with_model

NAME = "embeddings"
ALGORITHM_VERSION = "1"


def embed_sentences(sentences: pl.DataFrame, encoder: SentenceEncoder, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Embed sentences, rows of `SENTENCES`, with the teacher that `features.parsers.sentence_encoder.load` returns.

    Returns:
        Rows of `EMBEDDINGS`; rejects for sentences that are too long.
    """
    ids, texts, rejects = admit(sentences, encoder.max_words)
    vectors = vector_column(encoder.encode(texts, on_rows))
    return StageOutput(pl.DataFrame({"sentence_id": ids, "vector": vectors}, schema=EMBEDDINGS), rejects_frame(rejects))


def embedding_recipe(settings: EmbeddingSettings) -> Recipe:
    """Return the recipe, with the hash of the encoder's files."""
    parameters = {"model": Path(settings.model).name, "max_words": settings.max_words}
    if settings.precision != "float32":  # stores of before there was a choice keep their embeddings
        parameters["precision"] = settings.precision
    return Recipe(NAME, parameters, ALGORITHM_VERSION, digest(locate(settings.model)))


EMBEDDING_STAGE = Stage(
    name=NAME,
    about="the teacher.",
    columns=EMBEDDINGS,
    settings=EmbeddingSettings,
    recipe=embedding_recipe,
    make=with_model("features.parsers.sentence_encoder", embed_sentences),
    models=lambda settings: StageModels.loaded(
        settings.model, libraries=("torch", "sentence_transformers"), beside=20 * MIB
    ),
    imports=lambda _: ("sentence_transformers",),
)
