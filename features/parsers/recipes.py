"""The recipes of the parse and encode stages: every setting that may change a row, and the hash of the model's files.

None of them loads a model: a build that finds nothing to do only needs the fingerprints, and should not wait for torch.
Settings that only change speed (batch size, device, threads) are left out.
"""

from importlib.metadata import version
from pathlib import Path

from features.errors import InputError
from features.models import digest, locate
from features.parsers.amrlib_parser import parser_name, tokenizer_folder
from features.parsers.dependencies import pipeline_name
from features.parsers.embedded.amr_parser import ALGORITHM_VERSION as EMBEDDED_VERSION
from features.parsers.embedded.amr_parser import weights_digest
from features.parsers.settings import (
    AmrSettings,
    DependencySettings,
    EmbeddingSettings,
    LabelVectorSettings,
    SrlSettings,
)
from features.parsers.srl.parser import locate_tagger, tagger_name
from features.parsers.stages import ALGORITHM_VERSIONS
from features.store.fingerprints import Recipe


def amr_recipe(settings: AmrSettings) -> Recipe:
    """Return the recipe of the stage `amr`; the graphs of a bank are hashed shard by shard (`shard_digest`)."""
    if settings.backend == "penman":
        parameters = {"backend": "penman", "max_words": settings.max_words}
        return Recipe("amr", parameters, ALGORITHM_VERSIONS["amr"], None)
    if settings.backend == "embedded":
        parameters = {
            "backend": "embedded",
            "model": Path(settings.model).name,
            "precision": settings.precision,
            "max_words": settings.max_words,
        }
        return Recipe("amr", parameters, EMBEDDED_VERSION, weights_digest(settings.model))
    folder = locate(settings.model)
    tokenizer = tokenizer_folder(folder, settings)
    weights = digest(folder)
    if tokenizer is not None and not tokenizer.is_relative_to(folder):
        weights = f"{weights}+{digest(tokenizer)}"
    parameters = {
        "backend": "amrlib",
        "model": parser_name(settings),
        "beams": settings.beams,
        "max_words": settings.max_words,
        "amrlib": version("amrlib"),
    }
    return Recipe("amr", parameters, ALGORITHM_VERSIONS["amr"], weights)


def dependency_recipe(settings: DependencySettings) -> Recipe:
    """Return the recipe of the stage `dependencies`."""
    folder = locate(settings.model)
    parameters = {"model": pipeline_name(folder), "max_words": settings.max_words, "spacy": version("spacy")}
    return Recipe("dependencies", parameters, ALGORITHM_VERSIONS["dependencies"], digest(folder))


def srl_recipe(settings: SrlSettings) -> Recipe:
    """Return the recipe of the stage `srl`: words come from spaCy, predicates possibly from one of its pipelines."""
    weights = digest(locate_tagger(settings.model))
    parameters = {
        "model": tagger_name(settings),
        "predicates": settings.predicates,
        "precision": settings.precision,
        "max_words": settings.max_words,
        "spacy": version("spacy"),
    }
    if settings.predicates == "spacy":
        weights = f"{weights}+{digest(locate(settings.tags))}"
    return Recipe("srl", parameters, ALGORITHM_VERSIONS["srl"], weights)


def embedding_recipe(settings: EmbeddingSettings) -> Recipe:
    """Return the recipe of the stage `embeddings`."""
    parameters = {"model": Path(settings.model).name, "max_words": settings.max_words}
    return Recipe("embeddings", parameters, ALGORITHM_VERSIONS["embeddings"], digest(locate(settings.model)))


def label_vector_recipe(settings: LabelVectorSettings) -> Recipe:
    """Return the recipe of the stage `label_vectors`.

    Raises:
        InputError: when the file of word vectors is missing.
    """
    if settings.file is not None:
        if not settings.file.is_file():
            raise InputError(
                f"{str(settings.file)!r} is not a file of word vectors: check `file` under [label_vectors]."
            )
        return Recipe("label_vectors", {"backend": "glove"}, ALGORITHM_VERSIONS["label_vectors"], digest(settings.file))
    parameters = {"backend": "encoder", "model": Path(settings.model).name}
    return Recipe("label_vectors", parameters, ALGORITHM_VERSIONS["label_vectors"], digest(locate(settings.model)))
