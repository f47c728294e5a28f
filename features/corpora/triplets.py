"""Triplets of texts: an anchor, a text that shares one of its labels, and one that shares none.

    aspect task     anchor {parsing, tagging}    positive {tagging, chunking}    negative {translation}

A pure function of the labels and a seed: the same rows give the same triplets, in whatever order they stand. Triplets
are made when they are needed, and no table keeps them.
"""

import hashlib
from collections.abc import Sequence

import polars as pl

from features.types import SentenceId

TRIPLETS = {"anchor": pl.String, "positive": pl.String, "negative": pl.String}
"""Columns of the triplets: ids of texts."""

_TRIES = 64  # draws before all candidates are listed


def draw_triplets(labels: pl.DataFrame, aspect: str, *, seed: int, each: int = 1) -> pl.DataFrame:
    """Draw triplets of texts that have labels in an aspect.

    Args:
        labels: rows of `LABELS`; those of other aspects are ignored.
        aspect: what the labels are about.
        seed: another one draws other triplets.
        each: triplets that each text is the anchor of, at least 1; they may repeat where there is little to draw from.

    Returns:
        Columns of `TRIPLETS`, in the order of the anchors' ids. A text that shares its labels with no other text, or
        with every other one, is no anchor.
    """
    of_aspect = labels.filter(pl.col("aspect") == aspect).select("sentence", "label").unique()
    labels_of: dict[SentenceId, set[str]] = {}
    texts_with: dict[str, list[SentenceId]] = {}
    for sentence, label in of_aspect.sort("sentence", "label").iter_rows():
        labels_of.setdefault(SentenceId(sentence), set()).add(label)
        texts_with.setdefault(label, []).append(SentenceId(sentence))
    texts = list(labels_of)
    rows: list[tuple[str, str, str]] = []
    for anchor, own in labels_of.items():
        near = sorted({text for label in own for text in texts_with[label]} - {anchor})
        if not near or len(near) + 1 == len(texts):
            continue
        known = {anchor, *near}
        for number in range(each):
            key = f"{seed}/{aspect}/{anchor}/{number}"
            rows.append((anchor, _smallest(near, f"{key}/positive"), _outside(texts, known, f"{key}/negative")))
    return pl.DataFrame(rows, schema=TRIPLETS, orient="row")


def _smallest(texts: Sequence[SentenceId], key: str) -> SentenceId:
    """Return the text whose hash with the key is the smallest: a draw that a further text hardly changes."""
    return min(texts, key=lambda text: _hash(f"{key}/{text}"))


def _outside(texts: Sequence[SentenceId], known: set[SentenceId], key: str) -> SentenceId:
    """Return a text that is not among the known ones; at least one of `texts` is not."""
    for attempt in range(_TRIES):
        # By the draw's place among sorted ids: hashing every text for every anchor would take quadratic time.
        text = texts[_hash(f"{key}/{attempt}") * len(texts) >> 64]
        if text not in known:
            return text
    return _smallest([text for text in texts if text not in known], key)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
