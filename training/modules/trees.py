"""Dependency trees as tensors that accompany word pieces; the same function for training and for encoding.

    text          Dogs   don't    bark
    words         Dogs   do   n't bark          of spaCy, by where they start
    pieces   [CLS] dogs  don  ' t bark [SEP]    of the encoder
    places         1     2    2   5             first piece of each word
    heads          4     4    4   4             from 1; the head of a root is itself
    labels         …                            of the edge to the head, from 1

All are (n_sentences, n_words), int64, and 0 is padding. A word without a piece, because the sentence was truncated
before it or because it is a blank, has place 0 and is not a node of the graph.
"""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from training.modules.parse import LabelNumbers, Parse, Pieces, random_of

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
    """Return (place, head, label) of each word of a parse, a row of the table `dependencies`; empty without one."""
    if parse is None:
        return []
    real = [(start, end, position) for position, (start, end) in enumerate(pieces) if end > start]
    starts = [start for start, _, _ in real]
    rows = []
    for token, begin, head, relation in zip(
        parse["tokens"], parse["starts"], parse["heads"], parse["relations"], strict=True
    ):
        rows.append((_place(begin, begin + len(token), real, starts), head + 1, labels.number(relation)))
    return rows


def _place(begin: int, end: int, real: Sequence[tuple[int, int, int]], starts: Sequence[int]) -> int:
    """Return the place of the first piece that shares a character with a word, 0 if there is none."""
    at = max(0, bisect_right(starts, begin) - 1)
    while at < len(real) and real[at][0] < end:
        if real[at][1] > begin:
            return real[at][2]
        at += 1
    return 0


def tree_tensors(parses: Sequence[Parse | None], pieces: Sequence[Pieces], labels: LabelNumbers) -> dict[str, Tensor]:
    """Return the trees of a batch as tensors, (n_sentences, n_words) each, int64, 0 for padding; None has no words."""
    rows = [tree_rows(parse, offsets, labels) for parse, offsets in zip(parses, pieces, strict=True)]
    tensor = torch.zeros(len(rows), max(map(len, rows), default=0), 3, dtype=torch.int64)
    for number, words in enumerate(rows):
        if words:
            tensor[number, : len(words)] = torch.tensor(words)
    return {name: tensor[:, :, part].contiguous() for part, name in enumerate((PLACES, HEADS, LABELS))}
