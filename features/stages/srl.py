"""The stage `srl`: each sentence to its frames of semantic roles."""

from importlib.metadata import version
from typing import TYPE_CHECKING

import polars as pl

from features.core.errors import RowError
from features.core.types import OnRows, ignore_rows
from features.models import MODELS, digest, locate
from features.parsers.settings import SrlSettings
from features.schemas import SRL, Reject, StageOutput, rejects_frame
from features.stages.stage import MIB, Recipe, Stage, StageModels, admit, with_model

if TYPE_CHECKING:
    from features.parsers.srl.parser import SrlParser

NAME = "srl"
ALGORITHM_VERSION = "1"


def parse_srl(sentences: pl.DataFrame, parser: "SrlParser", on_rows: OnRows = ignore_rows) -> StageOutput:
    """Label the semantic roles of sentences, rows of `SENTENCES`, with what `features.parsers.srl.parser.load` returns.

    Returns:
        Rows of `SRL`; rejects for sentences that are too long. A sentence without a predicate has a row without frames.
    """
    ids, texts, rejects = admit(sentences, parser.max_words)
    rows = []
    for identity, result in zip(ids, parser.parse(texts, on_rows), strict=True):
        if isinstance(result, RowError):
            rejects.append(Reject(identity, result.code, result.message))
            continue
        rows.append({"sentence_id": identity, "parser": parser.name, **result.columns})
    return StageOutput(pl.DataFrame(rows, schema=SRL), rejects_frame(rejects))


def srl_recipe(settings: SrlSettings) -> Recipe:
    """Return the recipe: words come from spaCy, predicates possibly from one of its pipelines."""
    from features.parsers.srl.archive import base_of
    from features.parsers.srl.parser import locate_tagger, tagger_name

    tagger = locate_tagger(settings.model)
    weights = digest(tagger)
    if (base := base_of(tagger)) is not None and base not in MODELS:  # what a known name means is pinned
        weights = f"{weights}+{digest(locate(base))}"
    parameters = {
        "model": tagger_name(settings),
        "predicates": settings.predicates,
        "precision": settings.precision,
        "max_words": settings.max_words,
        "spacy": version("spacy"),
    }
    if settings.predicates == "spacy":
        weights = f"{weights}+{digest(locate(settings.tags))}"
    return Recipe(NAME, parameters, ALGORITHM_VERSION, weights)


def _models(settings: SrlSettings) -> StageModels:
    from features.parsers.srl.parser import EMBEDDED, locate_tagger

    names = () if settings.model == EMBEDDED else (settings.model,)
    tags = (settings.tags,) if settings.predicates == "spacy" else ()
    tagger = locate_tagger(settings.model)
    return StageModels.loaded(tagger, *tags, libraries=("torch", "spacy"), beside=80 * MIB, names=names)


SRL_STAGE = Stage(
    name=NAME,
    about="the tagger of semantic roles.",
    columns=SRL,
    settings=SrlSettings,
    recipe=srl_recipe,
    make=with_model("features.parsers.srl.parser", parse_srl),
    models=_models,
    imports=lambda _: ("torch", "transformers.models.bert.modeling_bert", "spacy"),
)
