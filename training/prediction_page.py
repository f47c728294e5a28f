"""Explained predictions as one page that opens offline: words shaded by weight, and the frames below them.

    He        slices   tomatoes    in    the    kitchen       the darker a word, the higher the weight of its spans
    [ARG0 .2] [  V  ]  [ARG1 .5]   [   ARGM-LOC .3    ]       one line per frame, with the weight of each argument

The page shows each `ExplainedSentence` (`training.span_weights`).
"""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from features.core.pages import render, tell_date
from training.predicting import Prediction
from training.span_weights import ExplainedArgument, ExplainedFrame, ExplainedSentence

MOST = 300
"""Maximum number of pairs on a page; with more it opens slowly."""
_ROW = 72
"""Characters of a sentence in one row, so that a window shows whole rows."""

_Part = tuple[int, int, str, str]
"""Words of a predicate or an argument, from the first up to (not including) the last; CSS classes; text."""


def render_predictions(
    predictions: Sequence[Prediction],
    asked: int,
    encoder: str,
    sees: str,
    *,
    caveats: Sequence[str] = (),
    project: str = "",
) -> str:
    """Return the page. Every text is escaped; nothing is fetched from anywhere."""
    frames = [frame for each in predictions for sentence in each.spans or () for frame in sentence.frames]
    return render(
        "training/predictions.html",
        title="Labels of pairs, and the weights of their spans",
        project=project,
        date=tell_date(),
        encoder=encoder,
        sees=sees,
        drawn=bool(frames) and not any(frame.predicate for frame in frames),
        asked=asked,
        caveats=caveats,
        pairs=[_pair(each) for each in predictions],
    )


def draw_spans(text: str, explained: ExplainedSentence) -> Markup:
    """Return a sentence as HTML, its words shaded and its frames below them."""
    rows = []
    for start, stop in _rows(explained.words) if explained.frames else ():
        words = zip(explained.words[start:stop], explained.weights[start:stop], strict=True)
        rows.append((list(words), [_parts(frame, start, stop) for frame in explained.frames]))
    return render("training/spans.html", text=text, rows=rows)


def _pair(prediction: Prediction) -> tuple[str, list[tuple[str, float]], list[Markup]]:
    label, texts = prediction.label, (prediction.sentence_a, prediction.sentence_b)
    probabilities = sorted(prediction.probabilities.items(), key=lambda each: (each[0] != label, -each[1]))
    return label, probabilities, list(map(draw_spans, texts, prediction.spans or ()))


def _rows(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    start, taken = 0, 0
    for position, word in enumerate(words):
        if taken and taken + len(word) > _ROW:
            yield start, position
            start, taken = position, 0
        taken += len(word) + 1
    yield start, len(words)


def _parts(frame: ExplainedFrame, start: int, stop: int) -> list[_Part]:
    """Return the parts of a frame among the words of a row, as places in the row; the browser puts them into lines."""
    spans = [("role predicate", "V", frame.predicate)]
    spans += [("role", _tell(each), each.words) for each in frame.arguments]
    return [
        (first, end, kind, text)
        for kind, text, words in spans
        for first, end in _runs([word - start for word in words if start <= word < stop])
    ]


def _tell(argument: ExplainedArgument) -> str:
    return argument.role if argument.weight is None else f"{argument.role} {argument.weight:.2f}".lstrip()


def _runs(words: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = None
    for number, word in enumerate(words):
        start = word if start is None else start
        if number + 1 == len(words) or words[number + 1] != word + 1:
            yield start, word + 1
            start = None
