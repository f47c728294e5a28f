"""The stage `dependencies`: each sentence to its dependency tree."""

from importlib.metadata import version

import polars as pl

from features.core.types import OnRows, ignore_rows
from features.models import digest, locate
from features.parsers.dependencies import DependencyParser, pipeline_name
from features.parsers.settings import DependencySettings
from features.schemas import DEPENDENCIES, StageOutput, rejects_frame
from features.stages.stage import MIB, Recipe, Stage, StageModels, admit, with_model

NAME = "dependencies"
ALGORITHM_VERSION = "1"


def parse_dependencies(sentences: pl.DataFrame, parser: DependencyParser, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Parse sentences, rows of `SENTENCES`, with what `features.parsers.dependencies.load` returns.

    Returns:
        Rows of `DEPENDENCIES`; rejects for sentences that are too long.
    """
    ids, texts, rejects = admit(sentences, parser.max_words)
    on_rows(0, len(ids))
    rows = []
    for identity, tree in zip(ids, parser.parse(texts), strict=True):
        rows.append({"sentence_id": identity, "parser": parser.name, **tree})
        on_rows(len(rows), len(ids))
    return StageOutput(pl.DataFrame(rows, schema=DEPENDENCIES), rejects_frame(rejects))


def dependency_recipe(settings: DependencySettings) -> Recipe:
    """Return the recipe, with the hash of the pipeline's files."""
    folder = locate(settings.model)
    parameters = {"model": pipeline_name(folder), "max_words": settings.max_words, "spacy": version("spacy")}
    return Recipe(NAME, parameters, ALGORITHM_VERSION, digest(folder))


DEPENDENCY_STAGE = Stage(
    name=NAME,
    about="the dependency parser.",
    columns=DEPENDENCIES,
    settings=DependencySettings,
    recipe=dependency_recipe,
    make=with_model("features.parsers.dependencies", parse_dependencies),
    models=lambda settings: StageModels.loaded(settings.model, libraries=("spacy",), beside=180 * MIB),
    imports=lambda _: ("spacy",),
)
