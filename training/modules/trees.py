"""Dependency trees, as tensors next to the word pieces of sentences.

    text          Dogs   don't    bark
    words         Dogs   do   n't bark          of spaCy, by where they start
    pieces   [CLS] dogs  don  ' t bark [SEP]    of the encoder
    places         1     2    2   5             first piece of each word
    heads          4     4    4   4             from 1; the head of a root is itself
    labels         …                            of the edge to the head, from 1

All are (n_sentences, n_words), int64, and 0 is padding. A word without a piece, because the sentence was truncated
before it or because it is a blank, has place 0 and is not a node of the graph.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from features.parsers.dependencies import DependencyParser, load
from features.parsers.settings import DependencySettings
from features.sentences import normalise
from training.modules.parse import LabelNumbers, Parse, Pieces, differs, places_of_words, random_of, require_same
from training.modules.structure import Structure

PLACES, HEADS, LABELS = "word_places", "word_heads", "word_labels"
"""Keys of the tensors next to `input_ids`."""


def random_tree(parse: Parse, seed: int) -> Parse:
    """Return a parse of the same words with random edges and shuffled labels.

    A gain from such trees is not due to syntax. The draw depends only on words and seed: a sentence has the same tree
    in training and whenever it is encoded.
    """
    count = len(parse["tokens"])
    random = random_of(parse["tokens"], seed)
    order = random.permutation(count)
    heads = np.zeros(count, dtype=np.int64)
    for number, word in enumerate(order):
        heads[word] = order[random.integers(number)] if number else word
    labels = [parse["relations"][position] for position in random.permutation(count)]
    return {**parse, "heads": heads.tolist(), "relations": labels}


def tree_rows(parse: Parse | None, pieces: Pieces, labels: LabelNumbers) -> list[tuple[int, int, int]]:
    """Return (place, head, label) of each word of a parse, a row of the table `dependencies`; empty without one.

    The place is that of the first piece that shares a character with the word, 0 if there is none.
    """
    if parse is None:
        return []
    spans = ((start, start + len(token)) for start, token in zip(parse["starts"], parse["tokens"], strict=True))
    places = [next(iter(of_word), 0) for of_word in places_of_words(pieces, spans)]
    relations = map(labels.number, parse["relations"])
    return [(place, head + 1, label) for place, head, label in zip(places, parse["heads"], relations, strict=True)]


class Trees(Structure):
    """The dependency trees of sentences.

    Identity and digest are those of the pipeline of its training trees, as in the column `parser` of stores and of
    `weights_of` (empty where it is not recorded). With a seed, random trees are in place of those of the parser, to
    measure what structure adds. Another pipeline has to be allowed; that is not saved.
    """

    what = "trees"
    parsed_by = ("parser", "parser_identity", "parser_weights", "other_parser")
    # Heads first: they are 0 only in padding, whereas a word without a piece has place 0.
    columns = ((HEADS, PLACES, LABELS),)

    def __init__(
        self,
        *,
        parser: str,
        parser_identity: str,
        parser_weights: str = "",
        labels: Sequence[str],
        max_words: int = 512,
        random_trees: int | None = None,
    ) -> None:
        super().__init__(max_words)
        self.parser, self.parser_identity, self.labels = parser, parser_identity, list(labels)
        self.parser_weights, self.random_trees, self.other_parser = parser_weights, random_trees, False
        self._tree_labels = LabelNumbers(labels)

    def parse_texts(self, texts: Sequence[str]) -> list[Parse | None]:
        """Return the trees of texts."""
        return list(self._load_parser().parse(texts))

    def tensors(
        self, texts: Sequence[str], parses: Sequence[Parse | None], pieces: Sequence[Pieces]
    ) -> dict[str, Tensor]:
        """Return the trees of a batch as tensors; a sentence without a parse has no words."""
        drawn = zip(self._drawn(parses), pieces, strict=True)
        rows = [torch.tensor(tree_rows(*sentence, self._tree_labels), dtype=torch.int64) for sentence in drawn]
        tensor = pad_sequence([row.reshape(-1, 3) for row in rows], batch_first=True)
        return {name: tensor[:, :, part].contiguous() for part, name in enumerate((PLACES, HEADS, LABELS))}

    def trees(self, texts: Sequence[str]) -> list[Parse | None]:
        """Return the trees of texts as the graph sees them, random ones if it was trained on such; None without one."""
        return self._drawn(self.parse([normalise(text) for text in texts]))

    def _drawn(self, parses: Sequence[Parse | None]) -> list[Parse | None]:
        if self.random_trees is None:
            return list(parses)
        return [tree and random_tree(tree, self.random_trees) for tree in parses]

    def _load_parser(self) -> DependencyParser:
        settings = DependencySettings(model=self.parser)
        parser = load(settings)
        if not self.other_parser:
            difference = differs(self.parser_identity, self.parser_weights, parser.name, settings)
            require_same("trees", difference, "other_parser")
        return parser
