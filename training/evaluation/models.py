"""The evaluated encoder and its start model, as functions that embed each text once."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from training.encoders.loading import load_encoder, routes_in
from training.evaluation.parses_at_hand import FoundParses, ParsesAtHand
from training.jobs import Source
from training.progress import Counted

_ENCODED_AT_ONCE = 1024  # texts between progress updates: enough to sort by length, seconds on a slow machine


class Embed(Protocol):
    """Texts → embeddings, (n, d)."""

    def __call__(self, texts: Sequence[str], task: str | None = None, /) -> NDArray[np.float32]:
        """Return the embeddings of texts, by a route of an encoder that has routes; by its default where it is None."""
        ...


@dataclass(frozen=True, slots=True)
class Models:
    """The models that suites embed with.

    Args:
        encoder: the evaluated encoder.
        start: its start model; None where that is unknown.
        routes: routes of the encoder, one per aspect; empty for an encoder without routes.
        of_start: what suites have computed from the start model for encoders evaluated before, under keys of theirs.
    """

    encoder: Embed
    start: Embed | None
    routes: tuple[str, ...] = ()
    of_start: dict[Hashable, Any] = field(default_factory=dict)


class Embedder:
    """Encodes each text once, however many suites, pairs and sets it occurs in.

    Args:
        folder: of the model.
        name: name of the model in the progress log.
        source: source of most of the sentences; parses that it has are reused.
        found: parses of encoders evaluated before, which are reused, too.
    """

    def __init__(self, folder: Path, name: str, source: Source | None = None, found: FoundParses | None = None) -> None:
        self.model = load_encoder(folder)
        self._parses = ParsesAtHand(self.model, source, found or FoundParses())
        self.name = name
        self.routes = routes_in(folder)
        self._embedded: dict[str | None, _Embedded] = {}

    def __call__(self, texts: Sequence[str], task: str | None = None, /) -> NDArray[np.float32]:
        """Return the embeddings of texts, as `Embed`."""
        known = self._embedded.setdefault(task, _Embedded())
        new = list(dict.fromkeys(text for text in texts if text not in known.positions))
        counted = Counted(f"encoding with {self.name}{f' for {task!r}' if task else ''}", len(new), "sentences")
        options: dict[str, Any] = {} if task is None else {"task": task}
        parts = []
        for start in range(0, len(new), _ENCODED_AT_ONCE):
            some = new[start : start + _ENCODED_AT_ONCE]
            self._parses.tell(some)
            parts.append(
                self.model.encode(some, batch_size=64, convert_to_numpy=True, show_progress_bar=False, **options)
            )
            self._parses.keep(some)
            counted.add(len(some))
        if parts:
            known.add(new, np.concatenate(parts))
        return known.vectors[[known.positions[text] for text in texts]]


class Shared:
    """What encoders that are evaluated one after the other have in common, mostly: start model, texts and parser.

    Parses are kept, and the start model of the last encoder, with all its embeddings and what was computed from them.
    """

    def __init__(self) -> None:
        self.parses = FoundParses()
        self._folder: Path | None = None
        self._start: Embedder | None = None
        self._of_start: dict[Hashable, Any] = {}

    def models(self, encoder: Path, source: Source | None, start: Path | None) -> Models:
        """Return the models of an evaluation.

        Args:
            encoder: folder of the evaluated encoder.
            source: source of most of the sentences.
            start: folder of its start model; None where that is unknown.
        """
        own = Embedder(encoder, "the encoder", source, self.parses)
        if start != self._folder:
            self._folder, self._start, self._of_start = start, None, {}  # free the last one before loading the next
            self._start = None if start is None else Embedder(start, "its start model")
        return Models(own, self._start, own.routes, self._of_start)


class _Embedded:
    """Texts embedded so far, with their vectors."""

    def __init__(self) -> None:
        self.positions: dict[str, int] = {}
        self.vectors = np.empty((0, 0), dtype=np.float32)

    def add(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self.positions.update({text: len(self.vectors) + row for row, text in enumerate(texts)})
        self.vectors = vectors if not len(self.vectors) else np.concatenate([self.vectors, vectors])
