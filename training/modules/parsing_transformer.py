"""A transformer that has the dependency trees of its sentences beside their word pieces.

A sentence is given as text, and parsed by spaCy, or with a parse, `{"text": …, "parse": …}`, and not parsed. Both go
through `tree_tensors`, so that training from a store and encoding on the fly give the same embedding.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sentence_transformers.base.modules import Transformer

from features.errors import ModelError
from features.sentences import normalise
from training.modules.trees import Parse, TreeLabels, random_tree, tree_tensors

if TYPE_CHECKING:
    from features.parsers.dependencies import DependencyParser

_TO_PARSE: Parse = {}
"""In place of the parse of a sentence that was given as text."""
_CACHED = 10_000
"""Parses that are kept: those of the sentences that were encoded last."""


class ParsingTransformer(Transformer):
    """A transformer whose `preprocess` gives trees as well.

    Args:
        model_name_or_path: of the transformer.
        parser: name of the spaCy pipeline.
        parser_identity: name and version of the pipeline whose trees it learnt from, as stores have it in `parser`.
        labels: of that pipeline (`DependencyParser.labels`).
        max_words: longer sentences, in words between blanks, are not parsed, as a build does not parse them.
        random_trees: seed of trees that are drawn at random in place of those of the parser (`random_tree`), to see
            what structure adds; None for those of the parser.
        other_parser: take a pipeline of another version all the same; not kept when it is saved.
        further: what `Transformer` takes.
    """

    config_keys: list[str] = [  # noqa: RUF012 - as there
        *Transformer.config_keys,
        *("parser", "parser_identity", "labels", "max_words", "random_trees"),
    ]

    def __init__(
        self,
        model_name_or_path: str,
        *,
        parser: str,
        parser_identity: str,
        labels: Sequence[str],
        max_words: int = 512,
        random_trees: int | None = None,
        other_parser: bool = False,
        **further: Any,
    ) -> None:
        super().__init__(model_name_or_path, **further)
        self.parser, self.parser_identity, self.labels = parser, parser_identity, list(labels)
        self.max_words = max_words
        self.random_trees = random_trees
        self.other_parser = other_parser
        self._tree_labels = TreeLabels(labels)
        self._parses: OrderedDict[str, Parse] = OrderedDict()

    def preprocess(  # type: ignore[override]  # as Sentence Transformers calls it
        self, inputs: Sequence[Any], prompt: str | None = None, **further: Any
    ) -> dict[str, Any]:
        """Return word pieces and trees of sentences.

        Args:
            inputs: texts, or mappings with `text` and `parse`, which is None for a sentence that has none.
            prompt: that stands before each; its words are no nodes.
            further: what `Transformer.preprocess` takes.

        Raises:
            ModelError: when a text is to be parsed and the pipeline is missing, or another one than it learnt with.
        """
        parses = [one["parse"] if isinstance(one, Mapping) else _TO_PARSE for one in inputs]
        # As a store has them: a tree says where its words start in the normalised text.
        texts = [normalise(one["text"] if isinstance(one, Mapping) else one) for one in inputs]
        options: Any = dict(further.pop("processing_kwargs", None) or {})
        options["text"] = {**options.get("text", {}), "return_offsets_mapping": True}
        features = super().preprocess(texts, prompt=prompt, processing_kwargs=options, **further)
        if not features:
            return features
        skipped = len(prompt or "")
        pieces = [
            [(start - skipped, end - skipped) if end > start >= skipped else (0, 0) for start, end in row]
            for row in features.pop("offset_mapping").tolist()
        ]
        parsed = iter(self._parse([text for text, parse in zip(texts, parses, strict=True) if parse is _TO_PARSE]))
        trees = [next(parsed) if parse is _TO_PARSE else parse for parse in parses]
        if self.random_trees is not None:
            trees = [tree and random_tree(tree, self.random_trees) for tree in trees]
        return features | tree_tensors(trees, pieces, self._tree_labels)

    def _parse(self, every: Sequence[str]) -> list[Parse | None]:
        """Return the parses of texts, None for those that are too long; the parses of the last texts are known."""
        texts = [text for text in every if len(text.split()) <= self.max_words]
        new = list(dict.fromkeys(text for text in texts if text not in self._parses))
        if new:
            self._parses.update(zip(new, self._load_parser().parse(new), strict=True))
        for text in texts:
            self._parses.move_to_end(text)
        found = [self._parses.get(text) for text in every]
        while len(self._parses) > _CACHED:
            self._parses.popitem(last=False)
        return found

    def _load_parser(self) -> "DependencyParser":
        from features.parsers.dependencies import load
        from features.parsers.settings import DependencySettings

        parser = load(DependencySettings(model=self.parser))
        if parser.name != self.parser_identity and not self.other_parser:
            raise ModelError(
                f"the encoder learnt from trees of {self.parser_identity!r}, and here is {parser.name!r}, with which "
                "embeddings would be others: pull the same version, or set `other_parser` to use this one all the same."
            )
        return parser
