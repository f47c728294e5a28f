"""Frames, their spans, and the BIO tags of a tagger.

words   The     cat     chased  a       mouse
tags    B-ARG0  I-ARG0  B-V     B-ARG1  I-ARG1
spans   ARG0 [0, 2)     V [2, 3)        ARG1 [3, 5)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

OUTSIDE = "O"
PREDICATE = "V"


class Span(NamedTuple):
    """A labelled group of words."""

    label: str  # role, such as `ARG0`, `ARGM-TMP`, `R-ARG1`, or `V` for the predicate
    start: int  # position of its first word
    end: int  # position after its last word


@dataclass(frozen=True, slots=True)
class Frame:
    """A predicate with its spans."""

    predicate: int  # position of the predicate
    # spans in the order of the words, not overlapping; one of them is usually the `V` of the predicate
    spans: tuple[Span, ...]


def frames_of(predicates: Iterable[int], *spans: Iterable[Any]) -> list[Frame]:
    """Return the frames of a row of the table `srl`, from its columns of predicates and of spans."""
    of_frame: list[list[Span]] = [[] for _ in predicates]
    for frame, label, start, end in zip(*spans, strict=True):
        of_frame[frame].append(Span(label, start, end))
    return [Frame(word, tuple(own_spans)) for word, own_spans in zip(predicates, of_frame, strict=True)]


def spans_of(tags: Sequence[str]) -> tuple[Span, ...]:
    """Return the spans of BIO tags; an `I-` that continues nothing starts a span.

    >>> spans_of(["B-ARG0", "I-ARG0", "B-V", "O"])
    (Span(label='ARG0', start=0, end=2), Span(label='V', start=2, end=3))
    """
    spans: list[Span] = []
    for position, tag in enumerate(tags):
        if tag == OUTSIDE:
            continue
        prefix, _, label = tag.partition("-")
        if prefix == "I" and spans and spans[-1].end == position and spans[-1].label == label:
            spans[-1] = spans[-1]._replace(end=position + 1)
        else:
            spans.append(Span(label, position, position + 1))
    return tuple(spans)


def tags_of(spans: Iterable[Span], n_words: int) -> list[str]:
    """Return the BIO tags of spans that do not overlap.

    >>> tags_of([Span("ARG0", 0, 2), Span("V", 2, 3)], 4)
    ['B-ARG0', 'I-ARG0', 'B-V', 'O']
    """
    tags = [OUTSIDE] * n_words
    for label, start, end in spans:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags
