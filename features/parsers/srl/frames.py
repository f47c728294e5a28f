"""Frames, their spans, the BIO tags of a tagger, and the column format of PropBank files.

words   The     cat     chased  a       mouse
tags    B-ARG0  I-ARG0  B-V     B-ARG1  I-ARG1
spans   ARG0 [0, 2)     V [2, 3)        ARG1 [3, 5)

In files, frames are CoNLL-2005 brackets, one column per predicate:

    # sent_id = weblog-0001
    1  The     the    DT   (NP*      -      -         (ARG0*
    2  cat     cat    NN   *)        -      -         *)
    3  chased  chase  VBD  (VP*      chase  chase.01  (V*)
    4  a       a      DT   (NP*      -      -         (ARG1*
    5  mouse   mouse  NN   *)))      -      -         *)

index, word, lemma, part of speech, parse, lemma and roleset of the predicate in this row, then the frames. A sentence
that a parser rejected has comments only: `# sent_id = 2`, `# text = …`, `# reject = sentence_too_long: why`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from features.core.faults import RowWrong
from features.core.files import open_text

OUTSIDE = "O"
PREDICATE = "V"
SPAN_COLUMNS = ("span_frames", "span_labels", "span_starts", "span_ends")
"""The columns of the table `srl` with one item for each span: number of its frame, and the fields of `Span`."""
_ID, _REJECT = "# sent_id = ", "# reject = "
_FIXED = 7
_ROLESET = 6


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


@dataclass(frozen=True, slots=True)
class SrlParse:
    """Who does what to whom in a sentence.

    Args:
        words: words of the sentence.
        frames: the frames of its predicates, in their order.
    """

    words: Sequence[str]
    frames: Sequence[Frame]

    def text(self, span: Span) -> str:
        """Return the words of a span, separated by spaces."""
        return " ".join(self.words[span.start : span.end])

    @property
    def columns(self) -> dict[str, Sequence[str] | Sequence[int]]:
        """The sentence as a row of the table `srl`, without its id and the name of the parser."""
        spans = [(number, *span) for number, frame in enumerate(self.frames) for span in frame.spans]
        parts = zip(*spans, strict=True) if spans else ((), (), (), ())
        return {
            "words": self.words,
            "predicates": [frame.predicate for frame in self.frames],
            **dict(zip(SPAN_COLUMNS, parts, strict=True)),
        }


def frames_of(predicates: Iterable[int], *spans: Iterable[Any]) -> list[Frame]:
    """Return the frames of a row of the table `srl`, from its predicates and its `SPAN_COLUMNS`."""
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


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """A sentence with its frames."""

    sentence_id: str  # the id in the file, else `file:line`
    words: tuple[str, ...]  # its tokens
    frames: tuple[Frame, ...]  # one frame per column, in order
    reject: str | None = None  # why a parser rejected the sentence, which then has no words; None for any other

    @property
    def predicates(self) -> tuple[int, ...]:
        """Positions of the predicates, each once, in the order of the words."""
        return tuple(sorted({frame.predicate for frame in self.frames}))


def read_annotated(path: Path) -> Iterator[AnnotatedSentence]:
    """Read a file (`.gz` too) sentence by sentence."""
    with open_text(path) as lines:
        rows: list[list[str]] = []
        name = first = reject = ""
        for number, line in enumerate(chain(lines, [""]), start=1):  # a blank line after the last sentence
            text = line.rstrip("\r\n")
            if not text.strip():
                if rows:
                    yield _sentence(rows, name or first, first)
                elif reject:
                    yield AnnotatedSentence(name or f"{path.name}:{number}", (), (), reject)
                rows, name, reject = [], "", ""
            elif text.startswith(_ID) and not rows:
                name = text.removeprefix(_ID).strip()
            elif text.startswith(_REJECT) and not rows:
                reject = text.removeprefix(_REJECT).strip()
            elif not (text.startswith("#") and not rows):
                first = first if rows else f"{path.name}:{number}"
                rows.append(text.split())
                if len(rows[-1]) != len(rows[0]) or len(rows[0]) < _FIXED:
                    raise RowWrong(
                        f"{path}:{number} has {len(rows[-1])} columns where {max(len(rows[0]), _FIXED)} are expected:"
                        f" index, word, lemma, part of speech, parse, predicate, roleset, and one for each predicate."
                    )


def _sentence(rows: Sequence[Sequence[str]], name: str, where: str) -> AnnotatedSentence:
    columns = list(zip(*rows, strict=True))
    named = [position for position, roleset in enumerate(columns[_ROLESET]) if roleset != "-"]
    frames = []
    for number, column in enumerate(columns[_FIXED:]):
        spans = _spans(column, f"sentence {name!r} ({where}), frame {number + 1}")
        verbs = [span.start for span in spans if span.label == PREDICATE]
        if not verbs and number >= len(named):
            raise RowWrong(f"In sentence {name!r} ({where}) no word is marked as predicate {number + 1}.")
        frames.append(Frame(verbs[0] if verbs else named[number], spans))
    return AnnotatedSentence(name, columns[1], tuple(frames))


def _spans(column: Iterable[str], where: str) -> tuple[Span, ...]:
    """Return the spans of a column of brackets such as `(ARG0*`, `*`, `*)`."""
    spans: list[Span] = []
    label, start = "", 0
    for position, cell in enumerate(column):
        opening, star, closing = cell.partition("*")
        opens = opening.removeprefix("(")
        well_formed = star and closing in {"", ")"} and opening in {"", f"({opens}"} and "(" not in opens
        if not well_formed or (opens and label) or (closing and not (opens or label)):
            raise RowWrong(f"The cell {cell!r} in {where} is not a CoNLL-2005 bracket, or matches no other.")
        if opens:
            label, start = opens, position
        if closing:
            spans.append(Span(label, start, position + 1))
            label = ""
    if label:
        raise RowWrong(f"The span {label!r} in {where} is not closed.")
    return tuple(spans)


def brackets(spans: Iterable[Span], n_words: int) -> list[str]:
    """Return spans as a column of brackets.

    >>> brackets([Span("ARG0", 0, 2), Span("V", 2, 3)], 4)
    ['(ARG0*', '*)', '(V*)', '*']
    """
    column = ["*"] * n_words
    for label, start, end in spans:
        column[start] = f"({label}{column[start]}"
        column[end - 1] = f"{column[end - 1]})"
    return column
