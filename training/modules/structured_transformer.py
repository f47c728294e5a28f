"""A transformer that adds the structure of its sentences to their word pieces."""

from collections.abc import Sequence
from inspect import signature
from typing import Any, ClassVar

from sentence_transformers.base.modules import Transformer
from torch import Tensor, nn

from features.core.faults import ModelUnfit
from features.sentences import normalise
from training.modules.layers import WORDS, find_layers, keep_layers
from training.modules.parse import Parse, Pieces
from training.modules.structure import Structure


class StructuredTransformer(Transformer):
    """A transformer whose `preprocess` returns a structure of sentences as well; each structure has a subclass.

    Further arguments are those of the structure and of `Transformer`. The states of the structure come from a layer
    that is `words_below` the last one (`layers.words_of`).
    """

    kind: ClassVar[type[Structure]]
    config_keys: list[str] = [*Transformer.config_keys, "words_below"]  # noqa: RUF012 - as there

    def __init__(self, model_name_or_path: str, *, words_below: int = 0, **further: Any) -> None:
        of_structure = {name: further.pop(name) for name in signature(self.kind).parameters if name in further}
        super().__init__(model_name_or_path, **further)
        self.structure, self.words_below = self.kind(**of_structure), words_below
        # All layers, also while a training runs only the last ones.
        self._layers = list(find_layers(self.model)) if words_below else []
        if words_below and words_below >= len(self._layers):
            raise ModelUnfit(
                f"words_below is {words_below}, but the transformer has {len(self._layers)} layers: set it to at most "
                f"{len(self._layers) - 1}"
            )

    def keep_layers(self, count: int) -> None:
        """Remove all layers of the transformer except the first ones, of which there are more than `words_below`."""
        keep_layers(self.model, count)
        self._layers = self._layers[:count]

    def get_config_dict(self) -> dict[str, Any]:
        """Return the arguments that are saved."""
        settings = {name: getattr(self.structure, name) for name in signature(self.kind).parameters}
        return super().get_config_dict() | settings

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
        return features | self.structure.tensors(texts, parses, pieces) if features else features

    def read(
        self, inputs: Sequence[str], prompt: str | None = None, **further: Any
    ) -> tuple[dict[str, Any], list[str], list[Parse | None], list[Pieces]]:
        """Return word pieces and the arguments of `Structure.tensors`; arguments and errors as in `preprocess`."""
        texts = [normalise(text) for text in inputs]  # as in a store: a parse belongs to the normalised text
        options: Any = dict(further.pop("processing_kwargs", None) or {})
        options["text"] = {**options.get("text", {}), "return_offsets_mapping": True}
        features = super().preprocess(texts, prompt=prompt, processing_kwargs=options, **further)
        skipped = len(prompt or "")
        pieces: list[Pieces] = [
            [(start - skipped, end - skipped) if end > start >= skipped else (0, 0) for start, end in row]
            for row in (features.pop("offset_mapping").tolist() if features else ())
        ]
        self.structure.device = str(self.model.device)
        return features, texts, self.structure.parse(texts), pieces
