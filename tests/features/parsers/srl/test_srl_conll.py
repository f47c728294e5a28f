import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import RowWrong
from features.parsers.srl.frames import Frame, Span, brackets, read_annotated, spans_of, tags_of

TEXT = """\
# sent_id = tale-1
# a comment
1\tThe\tthe\tDT\t(NP*\t-\t-\t(ARG0*\t*
2\tcat\tcat\tNN\t*)\t-\t-\t*)\t*
3\tchased\tchase\tVBD\t(VP*\tchase\tchase.01\t(V*)\t*
4\tsleeping\tsleep\tVBG\t(NP*\tsleep\tsleep.01\t(ARG1*\t(V*)
5\tmice\tmouse\tNNS\t*))\t-\t-\t*)\t(ARG0*)

1\tYes\tyes\tUH\t*\t-\t-
"""


@st.composite
def span_lists(draw: st.DrawFn) -> tuple[list[Span], int]:
    """Spans that do not overlap, and the number of words."""
    lengths = draw(st.lists(st.integers(1, 3), max_size=8))
    labels = draw(st.lists(st.sampled_from(["", "V", "ARG0", "ARG1", "C-ARG1", "ARGM-TMP"]), min_size=len(lengths)))
    spans, position = [], 0
    for length, label in zip(lengths, labels, strict=False):
        if label:
            spans.append(Span(label, position, position + length))
        position += length
    return spans, position


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_sentences_are_read(tmp_path):
    first, second = read_annotated(write(tmp_path / "gold.conll", TEXT))
    assert first.sentence_id == "tale-1"
    assert first.words == ("The", "cat", "chased", "sleeping", "mice")
    assert first.frames == (
        Frame(2, (Span("ARG0", 0, 2), Span("V", 2, 3), Span("ARG1", 3, 5))),
        Frame(3, (Span("V", 3, 4), Span("ARG0", 4, 5))),
    )
    assert first.predicates == (2, 3)
    assert (second.sentence_id, second.words, second.frames) == ("gold.conll:9", ("Yes",), ())


def test_compressed_files_and_other_line_ends(tmp_path):
    path = tmp_path / "gold.conll.gz"
    path.write_bytes(gzip.compress(TEXT.replace("\n", "\r\n").encode()))
    assert [len(sentence.frames) for sentence in read_annotated(path)] == [2, 0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(ARG1*\t(V*)", "(ARG1*"),
        ("*)\t(ARG0*)", "*\t(ARG0*)"),
        ("*)\t(ARG0*)", "*)\t*)"),
        ("*)\t(ARG0*)", "(ARG2*\t(ARG0*)"),
        ("*)\t(ARG0*)", "*)\tARG0"),
        ("*)\t(ARG0*)", "*)\t(A(ARG0*)"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new):
    with refused(RowWrong):
        list(read_annotated(write(tmp_path / "gold.conll", TEXT.replace(old, new))))


def test_a_frame_without_a_predicate_takes_the_roleset_of_its_rank(tmp_path):
    (sentence, _) = read_annotated(write(tmp_path / "gold.conll", TEXT.replace("(V*)\t*\n", "*\t*\n")))
    assert [frame.predicate for frame in sentence.frames] == [2, 3]


@given(span_lists())
def test_tags_and_brackets_keep_the_spans(drawn):
    spans, n_words = drawn
    assert list(spans_of(tags_of(spans, n_words))) == spans
    column = brackets(spans, n_words)
    assert len(column) == n_words
    assert "".join(column).count("(") == "".join(column).count(")") == len(spans)


def test_an_inside_that_continues_nothing_begins_a_span():
    assert spans_of(["I-ARG0", "I-ARG1", "O", "I-ARG1"]) == (Span("ARG0", 0, 1), Span("ARG1", 1, 2), Span("ARG1", 3, 4))


def test_the_gold_files_are_read_whole(shared):
    sentences = list(read_annotated(shared / "data" / "srl_ewt" / "ewt_propbank3_dev.conll.gz"))
    assert (len(sentences), sum(len(sentence.frames) for sentence in sentences)) == (1965, 4963)
    for sentence in sentences:
        for frame in sentence.frames:
            assert spans_of(tags_of(frame.spans, len(sentence.words))) == tuple(
                sorted(frame.spans, key=lambda s: s.start)
            )
