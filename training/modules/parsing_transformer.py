"""A transformer that adds dependency trees to the word pieces of its sentences.

A sentence is given as text, which spaCy parses, or with its parse, `{"text": …, "parse": …}`. Both go through
`tree_tensors`, so that training from a store and encoding on the fly give the same embedding.
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from sentence_transformers.base.modules import Transformer
from torch import Tensor

from training.modules.parse import LabelNumbers, Parse, Pieces, another_parser, same_weights, weights_of
from training.modules.structured_transformer import StructuredTransformer
from training.modules.trees import HEADS, LABELS, PLACES, random_tree, tree_tensors

if TYPE_CHECKING:
    from features.parsers.dependencies import DependencyParser


class ParsingTransformer(StructuredTransformer):
    """A transformer whose `preprocess` returns trees as well; further arguments are those of `StructuredTransformer`.

    Identity and digest are those of the pipeline of its training trees, as in the column `parser` of stores and of
    `weights_of` (empty where it is not recorded). With a seed, random trees are in place of those of the parser, to
    measure what structure adds. Another pipeline has to be allowed; that is not saved.
    """

    what = "trees"
    # Heads first: they are 0 only in padding, whereas a word without a piece has place 0.
    columns = ((HEADS, PLACES, LABELS),)
    config_keys: list[str] = [  # noqa: RUF012 - as there
        *Transformer.config_keys,
        *("parser", "parser_identity", "parser_weights", "labels", "max_words", "random_trees", "words_below"),
    ]

    def __init__(
        self,
        model_name_or_path: str,
        *,
        parser: str,
        parser_identity: str,
        labels: Sequence[str],
        parser_weights: str = "",
        max_words: int = 512,
        words_below: int = 0,
        random_trees: int | None = None,
        other_parser: bool = False,
        **further: Any,
    ) -> None:
        super().__init__(model_name_or_path, max_words=max_words, words_below=words_below, **further)
        self.parser, self.parser_identity, self.labels = parser, parser_identity, list(labels)
        self.parser_weights = parser_weights
        self.random_trees = random_trees
        self.other_parser = other_parser
        self._tree_labels = LabelNumbers(labels)

    @property
    def made_by(self) -> Hashable:
        """The parser and its longest sentence."""
        return self.parser, self.parser_identity, self.parser_weights, self.max_words, self.other_parser

    def parse_texts(self, texts: Sequence[str]) -> list[Parse | None]:
        """Return the trees of texts."""
        return list(self._load_parser().parse(texts))

    def structure(
        self, texts: Sequence[str], parses: Sequence[Parse | None], pieces: Sequence[Pieces]
    ) -> dict[str, Tensor]:
        """Return the trees of a batch as tensors; a sentence without a parse has no words."""
        return tree_tensors(self._drawn(parses), pieces, self._tree_labels)

    def trees(self, texts: Sequence[str]) -> list[Parse | None]:
        """Return the trees of texts as the graph sees them, random ones if it was trained on such; None without one."""
        _, _, parses, _ = self.read(texts)
        return self._drawn(parses)

    def _drawn(self, parses: Sequence[Parse | None]) -> list[Parse | None]:
        if self.random_trees is None:
            return list(parses)
        return [tree and random_tree(tree, self.random_trees) for tree in parses]

    def _load_parser(self) -> "DependencyParser":
        from features.parsers.dependencies import load
        from features.parsers.settings import DependencySettings

        settings = DependencySettings(model=self.parser)
        parser = load(settings)
        if self.other_parser:
            return parser
        learnt = f"trees of {self.parser_identity!r}"
        if parser.name != self.parser_identity:
            raise another_parser(learnt, f"the installed pipeline is {parser.name!r}", "other_parser")
        if not same_weights(digest := weights_of(settings), self.parser_weights):
            raise another_parser(
                f"{learnt} with the digest {self.parser_weights[:16]!r}",
                f"the installed pipeline {self.parser!r} has {digest[:16]!r}",
                "other_parser",
            )
        return parser
