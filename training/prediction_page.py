"""Explained predictions as one page that opens offline: words shaded by weight, and the frames below them.

    He        slices   tomatoes    in    the    kitchen       the darker a word, the higher the weight of its spans
    [ARG0 .2] [  V  ]  [ARG1 .5]   [   ARGM-LOC .3    ]       one line per frame, with the weight of each argument

The page shows each `ExplainedSentence` (`training.explained_spans`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from features.core.page import heading, render_page, tell_date
from training.explained_spans import ExplainedFrame, ExplainedSentence
from training.predicting import Prediction

MOST = 300
"""Maximum number of pairs on a page; with more it opens slowly."""
_ROW = 72
"""Characters of a sentence in one row, so that a window shows whole rows."""
_TITLE = "Labels of pairs, and the weights of their spans"
_FRAMES = "the frames, one per line, with the weight of each argument, which forms a span with its predicate"
_DRAWN = "the random spans with their weights"


def render_predictions(
    predictions: Sequence[Prediction],
    asked: int,
    encoder: str,
    sees: str,
    *,
    caveats: Sequence[str] = (),
    project: str = "",
    date: datetime | None = None,
) -> str:
    """Return the page. Every text is escaped; nothing is fetched from anywhere.

    Args:
        predictions: predictions to show, with the spans of their sentences.
        asked: number of all predictions; the page reports it if it shows fewer.
        encoder: name of the encoder.
        sees: which spans it sees, in words.
        caveats: what a reader of the labels must know, one sentence each.
        project: name of the project; empty if no project file was read.
        date: date on the page; now when None.
    """
    some = f"<p>The first {len(predictions):,} of {asked:,} pairs.</p>" if len(predictions) < asked else ""
    body = [
        heading(_TITLE, project, tell_date((date or datetime.now(UTC)).isoformat())),
        f'<p class="quiet">Encoder {escape(encoder)}.</p>',
        f"<p>{_legend(sees, predictions)}</p>{some}",
        *(f'<p class="warning">{escape(caveat)}</p>' for caveat in caveats),
        *map(_pair, predictions),
    ]
    title = " · ".join(part for part in (_TITLE, project, "facetflow") if part)
    return render_page(title, "\n".join(body))


def _legend(sees: str, predictions: Sequence[Prediction]) -> str:
    frames = [frame for said in predictions for of in said.spans or () for frame in of.frames]
    below = _DRAWN if frames and not any(frame.predicate for frame in frames) else _FRAMES
    return (
        f"This encoder sees {escape(sees)}: the embedding of a sentence contains their weighted sum, with weights that "
        f"sum to 1. Words are shaded by the total weight of their spans; below them are {below}. "
        "Weights say how much of a span is in an embedding, not why a pair has its label."
    )


def _pair(said: Prediction) -> str:
    likely = sorted(said.probabilities.items(), key=lambda each: (each[0] != said.label, -each[1]))
    told = ", ".join(f"{escape(label)}: {probability:.3f}" for label, probability in likely)
    texts = said.sentence_a, said.sentence_b
    sentences = "".join(draw_spans(text, spans) for text, spans in zip(texts, said.spans or (), strict=True))
    label = f'<b>{escape(said.label)}</b> <span class="quiet">probability of {told}</span>'
    return f'<div class="card"><p>{label}</p>{sentences}</div>'


def draw_spans(text: str, explained: ExplainedSentence) -> str:
    """Return a sentence as HTML, its words shaded and its frames below them.

    Args:
        text: the sentence.
        explained: its weighted spans.
    """
    if not explained.frames:
        return f'<p>{escape(text)} <span class="quiet">(no spans: the mean of its words)</span></p>'
    tables = "".join(_table(explained, start, stop) for start, stop in _rows(explained.words))
    return f'<div class="scroll" tabindex="0">{tables}</div>'


def _rows(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the words of each row of a long sentence, as start and end (exclusive)."""
    start, taken = 0, 0
    for place, word in enumerate(words):
        if taken and taken + len(word) > _ROW:
            yield start, place
            start, taken = place, 0
        taken += len(word) + 1
    yield start, len(words)


def _table(explained: ExplainedSentence, start: int, stop: int) -> str:
    """Return some words of a sentence, and below them the parts of frames at these words."""
    words = "".join(
        f'<td class="word" style="--weight: {weight:.3f}" title="{weight:.2f}">{escape(word)}</td>'
        for word, weight in zip(explained.words[start:stop], explained.weights[start:stop], strict=True)
    )
    lines = [line for frame in explained.frames for line in _lines(frame, start, stop)]
    rows = "".join(f"<tr>{_cells(line, stop - start)}</tr>" for line in lines)
    return f'<table class="spans"><tr>{words}</tr>{rows}</table>'


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of words of a predicate or an argument: from `start` up to `stop`."""

    start: int
    stop: int
    text: str
    is_predicate: bool


def _lines(frame: ExplainedFrame, start: int, stop: int) -> list[list[_Part]]:
    """Return the parts of a frame within a row of words, as lines of parts that do not overlap.

    Args:
        frame: frame of the sentence.
        start: first word of the row; positions of the parts are counted from it.
        stop: word after the last of the row.

    Returns:
        One line, unless arguments share words; none if the frame is not in the row.
    """
    parts = [("V", frame.predicate)]
    parts += [(f"{argument.role} {argument.weight:.2f}".lstrip(), argument.words) for argument in frame.arguments]
    lines: list[list[_Part]] = []
    for number, (text, words) in enumerate(parts):
        for first, end in _runs([word - start for word in words if start <= word < stop]):
            part = _Part(first, end, text, is_predicate=not number)
            for line in lines:
                if all(part.stop <= other.start or other.stop <= part.start for other in line):
                    line.append(part)
                    break
            else:
                lines.append([part])
    return lines


def _runs(words: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of neighbouring positions, as start and end (exclusive)."""
    start = None
    for number, word in enumerate(words):
        start = word if start is None else start
        if number + 1 == len(words) or words[number + 1] != word + 1:
            yield start, word + 1
            start = None


def _cells(line: Sequence[_Part], words: int) -> str:
    """Return a line of parts as cells below the words."""
    cells, place = [], 0
    for part in sorted(line, key=lambda part: part.start):
        cells.append(f'<td colspan="{part.start - place}"></td>' if part.start > place else "")
        kind = "role predicate" if part.is_predicate else "role"
        cells.append(f'<td class="{kind}" colspan="{part.stop - part.start}"><span>{escape(part.text)}</span></td>')
        place = part.stop
    cells.append(f'<td colspan="{words - place}"></td>' if words > place else "")
    return "".join(cells)
