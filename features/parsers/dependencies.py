"""Dependency trees by spaCy, in batches, with only the necessary components.

tokens     A    boy  sleeps  .
heads      1    2    2       2      positions; the head of a root is itself
relations  det  nsubj ROOT   punct
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features.core.faults import ModelNotLoaded, ModelUnfit, NotThisModel
from features.core.file_errors import first_line
from features.core.libraries import importing
from features.models import locate, stamp
from features.parsers.devices import use_threads
from features.parsers.settings import DependencySettings

if TYPE_CHECKING:
    from spacy.language import Language

# Lemmas need part of speech, which needs the tagger and the rules that map tags.
_COMPONENTS = ("tok2vec", "transformer", "tagger", "morphologizer", "parser", "attribute_ruler", "lemmatizer")
_LONGEST_WORD = 1000  # characters between blanks


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """A sentence with its dependencies; all fields have one item per token.

    Args:
        tokens: the tokens as written.
        lemmas: their lemmas.
        tags: their fine-grained parts of speech, those of the Penn Treebank in English pipelines.
        starts: positions of their first characters in the sentence, with single spaces and in Unicode NFC.
        heads: positions of their heads; a root is its own head.
        relations: their relations to their heads.
    """

    tokens: Sequence[str]
    lemmas: Sequence[str]
    tags: Sequence[str]
    starts: Sequence[int]
    heads: Sequence[int]
    relations: Sequence[str]


@dataclass(frozen=True, slots=True)
class DependencyParser:
    """A spaCy pipeline reduced to dependency parsing; its name includes its version."""

    pipeline: "Language"
    name: str
    batch_size: int
    max_words: int  # longer sentences are rejected before they are parsed

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that the parser may give an edge, sorted."""
        parser: Any = self.pipeline.get_pipe("parser")
        return tuple(sorted(parser.labels))

    def parse(self, texts: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
        """Parse sentences; one that spaCy splits into several has several roots.

        Yields:
            For each sentence, in order, the fields of a `DependencyTree`.
        """
        for document in self.pipeline.pipe(texts, batch_size=self.batch_size):
            yield {
                "tokens": [token.text for token in document],
                "lemmas": [token.lemma_ for token in document],
                "tags": [token.tag_ for token in document],
                "starts": [token.idx for token in document],
                "heads": [token.head.i for token in document],
                "relations": [token.dep_ for token in document],
            }


def pipeline_name(folder: Path) -> str:
    """Return name and version of a spaCy pipeline, from its description; a ModelError if it has none."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return f"spacy/{meta['lang']}_{meta['name']}-{meta['version']}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotThisModel(
            f"The folder {str(folder)!r} is not a spaCy pipeline: its file 'meta.json' cannot be read ({error})."
        ) from error


def load(settings: DependencySettings) -> DependencyParser:
    """Load a dependency parser; once per process, as long as settings and files stay the same."""
    folder = locate(settings.model)
    return _load(settings, folder, stamp(folder))


@lru_cache(maxsize=2)
def _load(settings: DependencySettings, folder: Path, _stamp: object) -> DependencyParser:
    name = pipeline_name(folder)
    use_threads(settings.threads)
    pipeline = load_pipeline(settings.model, folder, ("parser",), _COMPONENTS)
    return DependencyParser(pipeline, name, settings.batch_size, settings.max_words)


def load_pipeline(model: str, folder: Path, needed: Collection[str], kept: Collection[str]) -> "Language":
    """Load a spaCy pipeline with only some components; one that has none of those that are needed is refused."""
    with importing(f"The pipeline {model!r} needs spaCy", "parsers"):
        import spacy
    try:
        pipeline = spacy.load(folder)
    except (OSError, ValueError, ImportError) as error:
        raise ModelNotLoaded(
            f"spaCy {version('spacy')} cannot load the pipeline {model!r} from {str(folder)!r}"
            f" ({first_line(error)}); give a spaCy pipeline of a matching version."
        ) from error
    if set(needed).isdisjoint(pipeline.pipe_names):
        raise ModelUnfit(
            f"The spaCy pipeline {model!r} has the components {pipeline.pipe_names!r}, none of them a"
            f" {' or '.join(needed)}; give one with a {' or '.join(needed)}."
        )
    for component in pipeline.pipe_names:
        if component not in kept:
            pipeline.remove_pipe(component)
    return keeping_long_words(pipeline)


def keeping_long_words(pipeline: "Language") -> "Language":
    """Return a pipeline that leaves very long words whole: signs are split off in a time that grows with the square."""
    tokenizer: Any = pipeline.tokenizer
    usual = getattr(tokenizer, "token_match", None)
    tokenizer.token_match = lambda word: len(word) > _LONGEST_WORD or (usual is not None and usual(word))
    return pipeline
