"""The stage `amr`: each sentence to its graph, by a parser or from the user's own files."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from features.core.errors import RowError
from features.core.types import OnRows, ignore_rows
from features.models import digest, locate
from features.parsers.settings import AmrSettings
from features.schemas import AMR, Reject, StageOutput, rejects_frame
from features.stages.stage import MIB, Inputs, Outside, Recipe, Stage, StageModels, admit

if TYPE_CHECKING:
    from features.parsers.amr import AmrParser

NAME = "amr"
ALGORITHM_VERSION = "1"
"""Incremented when a code change changes rows; the embedded parser has a version of its own."""
BESIDE = 280 * MIB


def parse_amr(sentences: pl.DataFrame, parser: "AmrParser", on_rows: OnRows = ignore_rows) -> StageOutput:
    """Parse sentences, rows of `SENTENCES`, with what `features.parsers.amr.load` returns.

    Returns:
        Rows of `AMR`; rejects for sentences that are too long, have no graph or one that is not well formed.
    """
    from features.graphs.batch import encode

    ids, texts, rejects = admit(sentences, parser.max_words)
    parsed: dict[str, str] = {}
    for identity, result in zip(ids, parser.parse(texts, on_rows), strict=True):
        if isinstance(result, RowError):
            rejects.append(Reject(identity, result.code, result.message))
        else:
            parsed[identity] = result
    encoded = encode(list(parsed), list(parsed.values()), parser.name)
    return StageOutput(encoded.rows, pl.concat([rejects_frame(rejects), encoded.rejects]))


def amr_recipe(settings: AmrSettings) -> Recipe:
    """Return the recipe: every setting that may change a row, and the hash of the model's files.

    Settings that only change speed (batch size, device, threads) are left out, here and in the other stages. The graphs
    of a bank are hashed shard by shard.
    """
    from features.parsers.amr import ALGORITHM_VERSION as EMBEDDED_VERSION
    from features.parsers.amr import weights_digest
    from features.parsers.amrlib_parser import parser_name, tokenizer_folder

    parameters: dict[str, object] = {"backend": settings.backend, "max_words": settings.max_words}
    if settings.backend == "penman":
        return Recipe(NAME, parameters, ALGORITHM_VERSION, None)
    if settings.backend == "embedded":
        parameters |= {"model": Path(settings.model).name, "precision": settings.precision}
        return Recipe(NAME, parameters, EMBEDDED_VERSION, weights_digest(settings.model))
    folder = locate(settings.model)
    tokenizer = tokenizer_folder(folder, settings)
    weights = digest(folder)
    if tokenizer is not None and not tokenizer.is_relative_to(folder):
        weights = f"{weights}+{digest(tokenizer)}"
    parameters |= {"model": parser_name(settings), "beams": settings.beams, "amrlib": version("amrlib")}
    return Recipe(NAME, parameters, ALGORITHM_VERSION, weights)


def _make(inputs: Inputs, settings: AmrSettings, on_rows: OnRows) -> StageOutput:
    from features.parsers.amr import load

    if settings.bank is not None:
        settings = settings.model_copy(update={"bank": inputs.local(settings.bank)})
    return parse_amr(inputs.read("sentences"), load(settings), on_rows)


def _outside(settings: AmrSettings) -> Outside | None:
    if settings.bank is None:
        return None
    from features.parsers.bank import BankParser

    return Outside("graph files", BankParser(settings.bank, max_words=settings.max_words).shard_digest)


def _models(settings: AmrSettings) -> StageModels:
    from features.parsers.amr import model_folder

    if settings.backend == "penman":
        return StageModels()
    if settings.backend == "embedded":
        return StageModels.loaded(model_folder(settings.model), libraries=("torch",), beside=BESIDE)
    return StageModels.loaded(settings.model, libraries=("torch", "amrlib"), beside=BESIDE)


AMR_STAGE = Stage(
    name=NAME,
    about="where graphs come from.",
    columns=AMR,
    settings=AmrSettings,
    recipe=amr_recipe,
    make=_make,
    outside=_outside,
    models=_models,
    imports=lambda settings: () if settings.backend == "penman" else ("torch",),
)
