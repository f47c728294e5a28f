"""The evaluated encoder and its start model, as functions that embed each text once.

An encoder with a parser need not parse what is parsed already:

    release ── made by the parser of the encoder? ────┐
                                                      ├── yes: the encoder takes the parses from there
    encoder evaluated before ── has the same parser? ─┘
"""

import gc
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from features.core.errors import InputError
from training.data.parses import Frames, ParsedSentences, Parses
from training.encoders.loading import load_encoder, routes_in
from training.jobs import Source
from training.modules.parse import ParseCache, same_weights
from training.nearest import require_finite
from training.progress import with_progress

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_ENCODED_AT_ONCE = 1024  # texts between progress updates: enough to sort by length, seconds on a slow machine
_KEPT = 200_000
"""Number of parses that are kept of each parser; each takes some 2 kB."""
ParseCaches = dict[Hashable, ParseCache]
"""Parser → the cache that encoders with it share."""

Embed = Callable[..., NDArray[np.float32]]
"""Texts, and the route of an encoder that has routes, by default its own default → embeddings, (n, d), float32."""


@dataclass(frozen=True, slots=True)
class Models:
    """The evaluated encoder, its routes, one per aspect, and its start model, None where that is unknown.

    `of_start` keeps what suites have computed from the start model for encoders evaluated before, under keys of theirs.
    """

    encoder: Embed
    start: Embed | None
    routes: tuple[str, ...] = ()
    of_start: dict[Hashable, Any] = field(default_factory=dict)


class Embedder:
    """Encodes each text once, however many suites, pairs and sets it occurs in.

    The source is that of most of the sentences: its parses are reused, and those of encoders evaluated before.
    """

    def __init__(
        self, folder: Path, name: str, source: Source | None = None, parses: ParseCaches | None = None
    ) -> None:
        self.model = load_encoder(folder)
        reuse_parses(self.model, source, {} if parses is None else parses)
        self.folder, self.name = folder, name
        self.routes = routes_in(folder)
        self._vectors: dict[str | None, dict[str, NDArray[np.float32]]] = {}

    def __call__(self, texts: Sequence[str], task: str | None = None, /) -> NDArray[np.float32]:
        """Return the embeddings of texts, as `Embed`."""
        vectors = self._vectors.setdefault(task, {})
        new = list(dict.fromkeys(text for text in texts if text not in vectors))
        parts = [new[start : start + _ENCODED_AT_ONCE] for start in range(0, len(new), _ENCODED_AT_ONCE)]
        work = f"encoding with {self.name}{f' for {task!r}' if task else ''}"
        for some in with_progress(parts, work, len(new), "sentences"):
            encoded = self.model.encode(some, batch_size=64, show_progress_bar=False, task=task)
            vectors.update(zip(some, require_finite(encoded, self.folder), strict=True))
        return np.array([vectors[text] for text in texts], dtype=np.float32)


def reuse_parses(encoder: "SentenceTransformer", source: Source | None, parses: ParseCaches) -> None:
    """Let an encoder with a parser use the parses that are there already: of a source, and of encoders before it."""
    from training.modules.structure import structure_of

    if (structure := structure_of(encoder)) is not None:
        structure.parses, structure.most_parses = parses.setdefault(structure.made_by, structure.parses), _KEPT
        stored = None if source is None else _own_parses(source, structure)
        structure.stored = None if stored is None else stored.find


def _own_parses(source: Source, structure: object) -> ParsedSentences | None:
    """Return the parses of a source if the structure's own parser made them; None otherwise, or without any."""
    from training.modules.spans import Spans
    from training.modules.trees import Trees

    try:
        if isinstance(structure, Spans):
            frames = source.read_parses(Frames, None)
            same = (frames.weights, frames.predicates_by, frames.precision, frames.max_words)
            own = (structure.tagger_weights, structure.predicates, structure.precision, structure.max_words)
            return frames if same == own else None
        if isinstance(structure, Trees):
            trees = source.read_parses(Parses, None)
            own_parser = (structure.parser_identity, structure.max_words)
            same_files = same_weights(trees.weights, structure.parser_weights)
            return trees if (trees.parser, trees.max_words) == own_parser and same_files else None
    except InputError:  # there are none
        return None
    return None


class Shared:
    """What encoders that are evaluated one after the other have in common, mostly: start model, texts and parser.

    The start model of the last encoder is kept, with all its embeddings and what was computed from them.
    """

    def __init__(self) -> None:
        self.parses: ParseCaches = {}
        self._folder: Path | None = None
        self._start: Embedder | None = None
        self._of_start: dict[Hashable, Any] = {}

    def models(self, encoder: Path, source: Source | None, start: Path | None) -> Models:
        """Return the models of an evaluation, of which the start model may be unknown, given by their folders."""
        if start != self._folder:
            self._folder, self._start, self._of_start = start, None, {}
        gc.collect()  # a model and its card refer to each other: those of before would stay, on a GPU, too
        own = Embedder(encoder, "the encoder", source, self.parses)
        if start is not None and self._start is None:
            self._start = Embedder(start, "its start model")
        return Models(own, self._start, own.routes, self._of_start)
