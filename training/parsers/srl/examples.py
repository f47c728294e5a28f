"""Training examples: sentences as word pieces, with one predicate marked or none.

pieces       [CLS]  the     cat     me      ##owed  [SEP]
types          0    0       0       1       1       0        all 0 where nothing is marked
tags           O    B-ARG0  I-ARG0  B-V     I-V     O        IGNORED where nothing is marked
predicates     -    0       0       -       -       -        1 for other predicates, at first pieces; - is IGNORED
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.inputs import pad, present
from features.parsers.srl.frames import OUTSIDE, AnnotatedSentence, Frame, tags_of
from features.parsers.wordpieces import Pieces, Wordpieces

IGNORED = -100
_MULTIPLE = 8

Row = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Example:
    """One sequence, each array (n_pieces,)."""

    ids: Row  # vocabulary indices
    types: Row  # 1 on the pieces of the marked predicate
    tags: Row  # indices of BIO tags, or IGNORED throughout
    predicates: Row  # 1 where a word is a predicate, 0 where not, IGNORED on other pieces and on the marked word

    def __len__(self) -> int:
        return len(self.ids)


def label_names(sentences: Iterable[AnnotatedSentence]) -> tuple[str, ...]:
    """Return the BIO tags of a corpus: O, then `B-` and `I-` of each role, in alphabetical order."""
    roles = sorted({span.label for sentence in sentences for frame in sentence.frames for span in frame.spans})
    return (OUTSIDE, *(f"{prefix}-{role}" for role in roles for prefix in "BI"))


def marked(sentence: AnnotatedSentence, wordpieces: Wordpieces, labels: Sequence[str], longest: int) -> list[Example]:
    """Return an example for each frame of a sentence."""
    pieces = wordpieces.cut(sentence.words)
    index = {label: number for number, label in enumerate(labels)}
    examples = []
    for frame in sentence.frames:
        words = _predicate_words(sentence, pieces)
        first, last = pieces.starts[frame.predicate], pieces.ends[frame.predicate]
        words[first] = IGNORED
        types = np.zeros(len(pieces.ids), np.int64)
        types[first : last + 1] = 1
        example = Example(np.array(pieces.ids), types, _piece_tags(frame, pieces, index), words)
        examples.append(_cut(example, (first + last) // 2, longest))
    return examples


def unmarked(sentence: AnnotatedSentence, wordpieces: Wordpieces, longest: int) -> Example:
    """Return the example of a sentence without a mark."""
    pieces = wordpieces.cut(sentence.words)
    size = len(pieces.ids)
    nothing = np.full(size, IGNORED, np.int64)
    return _cut(
        Example(np.array(pieces.ids), np.zeros(size, np.int64), nothing, _predicate_words(sentence, pieces)), 0, longest
    )


def _predicate_words(sentence: AnnotatedSentence, pieces: Pieces) -> Row:
    row = np.full(len(pieces.ids), IGNORED, np.int64)
    row[list(pieces.starts)] = 0
    row[[pieces.starts[position] for position in sentence.predicates]] = 1
    return row


def _piece_tags(frame: Frame, pieces: Pieces, index: dict[str, int]) -> Row:
    """Return the tag of each piece: the later pieces of a word that begins a span are inside it."""
    row = np.full(len(pieces.ids), index[OUTSIDE], np.int64)
    tags = tags_of(frame.spans, len(pieces.starts))
    for tag, first, last in zip(tags, pieces.starts, pieces.ends, strict=True):
        row[first] = index[tag]
        row[first + 1 : last + 1] = index[f"I{tag[1:]}" if tag != OUTSIDE else OUTSIDE]
    return row


def _cut(example: Example, centre: int, longest: int) -> Example:
    size = len(example)
    if size <= longest:
        return example
    start = min(max(1, centre - longest // 2), size + 1 - longest)
    kept = np.r_[0, start : start + longest - 2, size - 1]
    return Example(example.ids[kept], example.types[kept], example.tags[kept], example.predicates[kept])


def batches(lengths: NDArray[np.int64], *, batch_pieces: int, seed: tuple[int, int]) -> list[Row]:
    """Return an epoch's batches, the positions of their sequences: shuffled, each of similar lengths, to save padding.

    A padded batch has `batch_pieces`; the seed is that of the training, and the epoch.
    """
    random = np.random.default_rng(seed)
    # Sorted by padded length, in random order within a length.
    padded = -(-lengths // _MULTIPLE) * _MULTIPLE
    order = np.lexsort((random.random(len(lengths)), padded))
    rows: list[Row] = []
    start = 0
    while start < len(order):
        size = max(1, batch_pieces // int(padded[order[start]]))
        while size > 1 and size * int(padded[order[min(start + size, len(order)) - 1]]) > batch_pieces:
            size -= 1
        rows.append(order[start : start + size])
        start += size
    return [rows[position] for position in random.permutation(len(rows))]


def stack(examples: Sequence[Example]) -> tuple[Row, Row, Row, Row, Row]:
    """Return a batch: ids, types, mask, tags, predicates, each (n, t); t is padded to a multiple of eight."""
    ids, types = (pad([getattr(example, name) for example in examples], 0, _MULTIPLE) for name in ("ids", "types"))
    tags = pad([example.tags for example in examples], IGNORED, _MULTIPLE)
    predicates = pad([example.predicates for example in examples], IGNORED, _MULTIPLE)
    mask = present([len(example) for example in examples], _MULTIPLE).astype(np.int64)
    return ids, types, mask, tags, predicates
