"""A transformer that adds the parses of its sentences to their word pieces.

    texts ──┬── parsed here, with a cache ──────────────────────┐
            └── in the cache already, as parses of a store are ─┴── one function ── tensors next to `input_ids`

Training from a store and encoding on the fly therefore give the same embedding.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

from sentence_transformers.base.modules import Transformer
from torch import Tensor, nn

from features.core.faults import BackboneUnfit
from features.sentences import normalise
from features.stages.stage import MOST_CHARACTERS
from training.modules.layers import WORDS, find_layers, keep_layers
from training.modules.parse import Parse, ParseCache, Pieces

_CACHED = 10_000
"""Number of parses in a cache that no other encoder shares."""


class StructuredTransformer(Transformer):
    """A transformer whose `preprocess` returns the structure of sentences as well; each parser has a subclass.

    Sentences of more than `max_words` between blanks are not parsed, as in a build. The states of the structure come
    from a layer that is `words_below` the last one (`layers.words_of`).
    """

    what: ClassVar[str]
    """Name of the structure, in the plural: "trees"."""
    parsed_by: ClassVar[tuple[str, ...]]
    """What its parses depend on besides the text and `max_words`."""
    columns: ClassVar[tuple[tuple[str, ...], ...]]
    """Keys of the tensors of `structure`, together those of the same shape; where the first of them is 0 is padding."""

    def __init__(self, model_name_or_path: str, *, max_words: int = 512, words_below: int = 0, **further: Any) -> None:
        super().__init__(model_name_or_path, **further)
        self.max_words, self.words_below = max_words, words_below
        # All layers, also while a training runs only the last ones.
        self._layers = list(find_layers(self.model)) if words_below else []
        if words_below and words_below >= len(self._layers):
            raise BackboneUnfit(
                f"words_below is {words_below}, but the transformer has {len(self._layers)} layers: set it to at most "
                f"{len(self._layers) - 1}"
            )
        self.parsing_seconds = 0.0
        """Time spent on parsing since the encoder was loaded."""
        self.parses, self.most_parses = ParseCache(), _CACHED
        """Parses at hand, and how many are kept of those that were used last."""
        self.stored: Callable[[Sequence[str]], Sequence[Parse | None]] | None = None
        """Looks up parses of normalised texts that its parser has made before, None for others; such as of a store."""

    def keep_layers(self, count: int) -> None:
        """Remove all layers of the transformer except the first ones, of which there are more than `words_below`."""
        keep_layers(self.model, count)
        self._layers = self._layers[:count]

    @property
    def made_by(self) -> Hashable:
        """What its parses depend on besides the text: encoders with equal values share them."""
        return self.max_words, *(getattr(self, name) for name in self.parsed_by)

    @abstractmethod
    def parse_texts(self, texts: Sequence[str]) -> Sequence[Parse | None]:
        """Return the parses of normalised texts, none longer than `max_words`; None for one that the parser rejects.

        Raises:
            ModelError: when the parser is missing, or not the one that the encoder was trained with.
        """

    @abstractmethod
    def structure(
        self, texts: Sequence[str], parses: Sequence[Parse | None], pieces: Sequence[Pieces]
    ) -> dict[str, Tensor]:
        """Return the tensors of a batch of normalised texts, batch first, integers, 0 for padding."""

    def forward(self, features: dict[str, Any], **further: Any) -> dict[str, Any]:
        """Add the states of the word pieces, and those that the structure uses if they are of another layer."""
        if not self.words_below:
            return super().forward(features, **further)
        states: list[Tensor] = []

        def keep(_layer: nn.Module, _arguments: Any, output: Any) -> None:
            states.append(output[0] if isinstance(output, tuple) else output)

        hook = self._layers[-1 - self.words_below].register_forward_hook(keep)
        try:
            features = super().forward(features, **further)
        finally:
            hook.remove()
        # When a training computes the states at the cut, it runs only the layers below.
        return features | {WORDS: states.pop()} if states else features

    def preprocess(  # type: ignore[override]  # as Sentence Transformers calls it
        self, inputs: Sequence[str], prompt: str | None = None, **further: Any
    ) -> dict[str, Any]:
        """Return word pieces and structure of sentences."""
        features, texts, parses, pieces = self.read(inputs, prompt, **further)
        return features | self.structure(texts, parses, pieces) if features else features

    def read(
        self, inputs: Sequence[str], prompt: str | None = None, **further: Any
    ) -> tuple[dict[str, Any], list[str], list[Parse | None], list[Pieces]]:
        """Return word pieces and the arguments of `structure`; arguments and errors as in `preprocess`."""
        texts = [normalise(text) for text in inputs]  # as in a store: a parse belongs to the normalised text
        options: Any = dict(further.pop("processing_kwargs", None) or {})
        options["text"] = {**options.get("text", {}), "return_offsets_mapping": True}
        features = super().preprocess(texts, prompt=prompt, processing_kwargs=options, **further)
        skipped = len(prompt or "")
        pieces: list[Pieces] = (
            [
                [(start - skipped, end - skipped) if end > start >= skipped else (0, 0) for start, end in row]
                for row in features.pop("offset_mapping").tolist()
            ]
            if features
            else []
        )
        return features, texts, self._parse(texts), pieces

    def _parse(self, every: Sequence[str]) -> list[Parse | None]:
        texts = [text for text in every if len(text.split()) <= self.max_words and len(text) <= MOST_CHARACTERS]
        new = list(dict.fromkeys(text for text in texts if text not in self.parses))
        if self.stored is not None:
            stored = zip(new, self.stored(new), strict=True)
            self.parses.update({text: parse for text, parse in stored if parse is not None})
        if new := [text for text in new if text not in self.parses]:
            started = time.monotonic()
            self.parses.update(zip(new, self.parse_texts(new), strict=True))
            self.parsing_seconds += time.monotonic() - started
        for text in texts:
            self.parses.move_to_end(text)
        parses = [self.parses.get(text) for text in every]
        while len(self.parses) > self.most_parses:
            self.parses.popitem(last=False)
        return parses
