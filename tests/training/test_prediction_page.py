"""The page of explained predictions: words shaded, frames below them, texts escaped, at every window size."""

import re

from training.predicting import Prediction
from training.prediction_page import render_predictions
from training.span_weights import ExplainedArgument, ExplainedFrame, ExplainedSentence

TOMATOES = ExplainedSentence(
    words=("He", "<i>slices</i>", "tomatoes", "in", "the", "kitchen"),
    weights=(0.25, 1.0, 0.5, 0.25, 0.25, 0.25),
    frames=(
        ExplainedFrame(
            (1,),
            (
                ExplainedArgument("ARG0", (0,), 0.25),
                ExplainedArgument("ARG1", (2,), 0.5),
                ExplainedArgument("ARGM-LOC", (3, 4, 5), 0.25),
            ),
        ),
    ),
)
PART = r'class="role[^"]*" style="grid-column: (\d+) / (\d+)">(.*?)</span>'
NOTHING = ExplainedSentence(("Oh", "no"), (0.0, 0.0), ())


def page(first=TOMATOES, second=NOTHING, asked=1):
    said = Prediction("He <i>slices</i> tomatoes in the kitchen", "Oh no", "0", {"1": 0.25, "0": 0.75}, (first, second))
    return render_predictions([said], asked, "runs/<x>/current", "spans", project="zoo")


def rows_of(html):
    """Return the rows of words: the texts of the words, and the parts of each frame as (text, first word, end)."""
    rows = []
    for row in re.findall(r'<div class="spans".*?>(.*)</div>\n', html):
        words, *frames = row.split("<div>")
        parts = [
            [(text, int(first) - 1, int(end) - 1) for first, end, text in re.findall(PART, frame)] for frame in frames
        ]
        rows.append((re.findall('class="word".*?>(.*?)</span>', words), parts))
    return rows


def test_words_are_shaded_by_weight_and_each_frame_lies_below_its_words():
    html = page()
    assert re.findall(r"--weight: ([\d.]+)", html) == ["0.250", "1.000", "0.500", "0.250", "0.250", "0.250"]
    ((words, (frame,)),) = rows_of(html)
    assert words == ["He", "&lt;i&gt;slices&lt;/i&gt;", "tomatoes", "in", "the", "kitchen"]
    assert frame == [("V", 1, 2), ("ARG0 0.25", 0, 1), ("ARG1 0.50", 2, 3), ("ARGM-LOC 0.25", 3, 6)]
    assert "<b>0</b>" in html
    assert "probability of 0: 0.750, 1: 0.250" in html  # the label first
    assert "Oh no <span" in html
    assert "no spans" in html
    assert "The first" not in html
    assert "<p>The first 1 of 400 pairs.</p>" in page(asked=400)


def test_what_a_reader_must_know_stands_above_the_pairs():
    said = Prediction("a", "b", "0", {"0": 1.0}, (NOTHING, NOTHING))
    html = render_predictions([said], 1, "runs/current", "spans", caveats=["It <guesses>."])
    assert html.index("It &lt;guesses&gt;.") < html.index('<div class="card">')
    assert "not why a pair has its label" in html
    assert 'class="warning"' not in page()


def test_spans_that_were_drawn_are_told_and_have_no_roles():
    drawn = ExplainedSentence(
        ("He", "runs", "home"), (0.5,) * 3, (ExplainedFrame((), (ExplainedArgument("", (0, 2), 0.5),)),)
    )
    html = page(drawn)
    assert rows_of(html)[0][1] == [[("0.50", 0, 1), ("0.50", 2, 3)]]
    assert "below them are the random spans with their weights." in html
    assert "below them are the frames, one per line, with the weight of each argument" in page()
    assert "This encoder sees spans: the embedding of a sentence contains their weighted sum" in html


def test_arguments_in_pieces_and_ones_that_share_words_are_drawn_where_they_are():
    shared = ExplainedSentence(
        words=tuple("abcdef"),
        weights=(0.5,) * 6,
        frames=(
            ExplainedFrame((1, 4), (ExplainedArgument("ARG1", (0, 2), 0.5), ExplainedArgument("ARG2", (2, 3), 0.5))),
            ExplainedFrame((5,), ()),
        ),
    )
    ((_, frames),) = rows_of(page(shared))
    assert frames == [
        [("V", 1, 2), ("V", 4, 5), ("ARG1 0.50", 0, 1), ("ARG1 0.50", 2, 3), ("ARG2 0.50", 2, 4)],
        [("V", 5, 6)],
    ]


def test_a_long_sentence_stands_in_rows_with_what_of_each_frame_lies_there():
    words = tuple(f"word{number}" for number in range(20))  # 72 characters are 10 words of 5 and one of 6
    frame = ExplainedFrame((0,), (ExplainedArgument("ARG1", tuple(range(8, 14)), 1.0),))
    html = page(ExplainedSentence(words, (0.0,) * 20, (frame,)))
    first, second = rows_of(html)
    assert (len(first[0]), first[1]) == (11, [[("V", 0, 1), ("ARG1 1.00", 8, 11)]])
    assert (len(second[0]), second[1]) == (9, [[("ARG1 1.00", 0, 3)]])
    assert re.findall(r">(word\d+)<", html) == list(words)


def test_nothing_of_a_text_becomes_a_tag_and_no_window_shows_a_fault(browser, tmp_path):
    longer = ExplainedSentence(TOMATOES.words * 6, TOMATOES.weights * 6, TOMATOES.frames)
    file = tmp_path / "page.html"
    file.write_text(page(second=longer), encoding="utf-8")
    assert "<i>" not in file.read_text()
    assert "runs/&lt;x&gt;/current" in file.read_text()
    assert browser.find_faults(file) == []
