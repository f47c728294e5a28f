"""A transformer that has what a parser says of its sentences beside their word pieces.

    texts ──────────────────── parsed here, the last ones remembered ──┐
    {"text": …, "parse": …} ── as a store has it ──────────────────────┴── one function ── tensors beside `input_ids`

Training from a store and encoding on the fly so give the same embedding.
"""

import time
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from sentence_transformers.base.modules import Transformer
from torch import Tensor, nn

from features.errors import ModelError
from features.sentences import normalise
from training.modules.layers import WORDS, find_layers
from training.modules.parse import Parse, Pieces

_TO_PARSE: Parse = {}
"""In place of the parse of a sentence that was given as text."""
_CACHED = 10_000
"""Parses that are kept: those of the sentences that were encoded last."""


class StructuredTransformer(Transformer):
    """A transformer whose `preprocess` gives the structure of sentences as well; a class for each parser fills it in.

    Args:
        model_name_or_path: of the transformer.
        max_words: longer sentences, in words between blanks, are not parsed, as a build does not parse them.
        words_below: so many layers below the last one are the states that structure is made of (`layers.words_of`).
        further: what `Transformer` takes.

    Raises:
        ModelError: when the transformer has no such layer.
    """

    def __init__(self, model_name_or_path: str, *, max_words: int, words_below: int = 0, **further: Any) -> None:
        super().__init__(model_name_or_path, **further)
        self.max_words = max_words
        self.words_below = words_below
        # All of them, also while a training runs the last ones alone.
        self._layers = list(find_layers(self.model)) if words_below else []
        if words_below and words_below >= len(self._layers):
            raise ModelError(
                f"words_below is {words_below}, and the transformer has {len(self._layers)} layers: give at most "
                f"{len(self._layers) - 1}"
            )
        self.parsing_seconds = 0.0
        """Time that parsing has taken since the encoder was loaded."""
        self._parses: OrderedDict[str, Parse | None] = OrderedDict()

    @abstractmethod
    def parse_texts(self, texts: Sequence[str]) -> Sequence[Parse | None]:
        """Return the parses of normalised texts, none longer than `max_words`; None where the parser rejects one.

        Raises:
            ModelError: when the parser is missing, or another one than the encoder learnt with.
        """

    @abstractmethod
    def structure(
        self, texts: Sequence[str], parses: Sequence[Parse | None], pieces: Sequence[Pieces]
    ) -> dict[str, Tensor]:
        """Return the tensors of a batch, batch first, integers, 0 for padding.

        Args:
            texts: of the sentences, normalised.
            parses: of the sentences; None for one that has none.
            pieces: of the sentences.
        """

    def forward(self, features: dict[str, Any], **further: Any) -> dict[str, Any]:
        """Add the states of the pieces, and those that structure is made of where these are others."""
        if not self.words_below:
            return super().forward(features, **further)
        found: list[Tensor] = []

        def keep(_layer: nn.Module, _arguments: Any, output: Any) -> None:
            found.append(output[0] if isinstance(output, tuple) else output)

        hook = self._layers[-1 - self.words_below].register_forward_hook(keep)
        try:
            features = super().forward(features, **further)
        finally:
            hook.remove()
        # A training that keeps what the layers below give runs these alone before it begins.
        return features | {WORDS: found.pop()} if found else features

    def know(self, parses: Mapping[str, Parse]) -> None:
        """Take parses that were made before, by the same parser, so that their sentences are not parsed again soon.

        Args:
            parses: by normalised text.
        """
        self._parses.update(parses)

    def preprocess(  # type: ignore[override]  # as Sentence Transformers calls it
        self, inputs: Sequence[Any], prompt: str | None = None, **further: Any
    ) -> dict[str, Any]:
        """Return word pieces and structure of sentences.

        Args:
            inputs: texts, or mappings with `text` and `parse`, which is None for a sentence that has none.
            prompt: that stands before each; its words are no part of the structure.
            further: what `Transformer.preprocess` takes.

        Raises:
            ModelError: when a text is to be parsed and the parser is missing, or another one than it learnt with.
        """
        features, texts, parses, pieces = self.read(inputs, prompt, **further)
        return features | self.structure(texts, parses, pieces) if features else features

    def read(
        self, inputs: Sequence[Any], prompt: str | None = None, **further: Any
    ) -> tuple[dict[str, Any], list[str], list[Parse | None], list[Pieces]]:
        """Return word pieces, and what `structure` takes; arguments and errors are those of `preprocess`."""
        given = [one["parse"] if isinstance(one, Mapping) else _TO_PARSE for one in inputs]
        # As a store has them: a parse is of the normalised text.
        texts = [normalise(one["text"] if isinstance(one, Mapping) else one) for one in inputs]
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
        parsed = iter(self._parse([text for text, parse in zip(texts, given, strict=True) if parse is _TO_PARSE]))
        return features, texts, [next(parsed) if parse is _TO_PARSE else parse for parse in given], pieces

    def _parse(self, every: Sequence[str]) -> list[Parse | None]:
        """Return the parses of texts, None for those without; the parses of the last texts are known."""
        texts = [text for text in every if len(text.split()) <= self.max_words]
        new = list(dict.fromkeys(text for text in texts if text not in self._parses))
        if new:
            started = time.monotonic()
            self._parses.update(zip(new, self.parse_texts(new), strict=True))
            self.parsing_seconds += time.monotonic() - started
        for text in texts:
            self._parses.move_to_end(text)
        found = [self._parses.get(text) for text in every]
        while len(self._parses) > _CACHED:
            self._parses.popitem(last=False)
        return found
