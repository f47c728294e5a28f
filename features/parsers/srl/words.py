"""Raw text to words, and predicates by part of speech, both by spaCy.

Words are split by spaCy's rules for English, which need no model and agree with the Penn Treebank (`did n't`). Parts of
speech need a pipeline; they are for taggers that cannot find predicates themselves, such as AllenNLP's.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from features.core.faults import LibraryMissing, ModelNotLoaded, ModelUnfit
from features.core.file_errors import first_line
from features.models import locate

if TYPE_CHECKING:
    from spacy.language import Language

_PREDICATES = ("VERB", "AUX")  # as in AllenNLP's predictor
_NEEDED = ("tok2vec", "transformer", "tagger", "morphologizer", "attribute_ruler")


def split_words(texts: Iterable[str]) -> list[list[str]]:
    """Return the words of sentences."""
    make_document = _english().make_doc
    return [[token.text for token in make_document(text) if not token.is_space] for text in texts]


def predicates_by_tag(sentences: Sequence[Sequence[str]], model: str) -> list[list[int]]:
    """Return the positions of verbs and auxiliaries, by a spaCy pipeline that gives parts of speech."""
    from spacy.tokens import Doc

    pipeline = _pipeline(str(locate(model)))
    documents = (Doc(pipeline.vocab, words=list(words)) for words in sentences)
    return [[token.i for token in document if token.pos_ in _PREDICATES] for document in pipeline.pipe(documents)]


@cache
def _english() -> "Language":
    try:
        import spacy
    except ImportError as error:
        raise LibraryMissing("Semantic roles need spaCy; install it with `pip install facetflow[parsers]`.") from error
    return spacy.blank("en")


@cache
def _pipeline(folder: str) -> "Language":
    import spacy

    try:
        pipeline = spacy.load(folder)
    except (OSError, ValueError, ImportError) as error:
        raise ModelNotLoaded(f"spaCy cannot load the pipeline {folder!r} ({first_line(error)}).") from error
    for component in pipeline.pipe_names:
        if component not in _NEEDED:
            pipeline.remove_pipe(component)
    if not {"tagger", "morphologizer"} & set(pipeline.pipe_names):
        raise ModelUnfit(f"The spaCy pipeline {folder!r} gives no parts of speech; give one with a tagger.")
    return pipeline
