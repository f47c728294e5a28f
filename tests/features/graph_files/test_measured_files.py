"""`facetflow measure`: files in, table out."""

import pytest
from sentences import refused

from features.core.faults import WrongValue
from features.graph_files.measured import measure_files
from features.metrics.own import own_metric
from features.metrics.registry import METRIC_NAMES
from features.parsers.label_vectors import TextVectors
from features.parsers.settings import LabelVectorSettings

BOY = "# ::id x1\n# ::snt The boy sleeps.\n(s / sleep-01 :ARG0 (b / boy))\n\n"
GIRL = "# ::id x1\n(s / sleep-01 :ARG0 (g / girl))\n\n"
WRONG = "# ::id x1\n(s / sleep-01 :ARG0 (g / girl)\n\n"


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("sleep 1 0 0\nboy 0 1 0\ngirl 0 0 1\n")
    return LabelVectorSettings(backend="glove", file=path)


def test_a_row_for_each_pair_with_the_fifteen_columns(write, vectors):
    first, second = write("a.amr", BOY, BOY), write("b.amr", BOY, GIRL)
    scores = measure_files(first, second, vectors).scores
    assert scores.columns[3:18] == list(METRIC_NAMES)
    assert scores["pair"].to_list() == [1, 2]
    assert scores["id_b"].to_list() == ["x1", "x1"]
    assert scores.row(0)[3:18] == pytest.approx((1.0,) * 15)
    # Two of three triples and the root match: sleep-01, TOP and ARG0, but not boy with girl.
    assert scores["smatch"][1] == pytest.approx(3 / 4)


def test_a_wrong_graph_leaves_its_pair_empty_and_the_others_in_place(write, vectors):
    first, second = write("a.amr", BOY, WRONG, GIRL), write("b.amr", BOY, BOY, GIRL)
    measured = measure_files(first, second, vectors)
    assert measured.scores["smatch"].to_list() == [1.0, None, 1.0]
    assert len(measured.wrong) == 1
    assert "a.amr" in measured.wrong[0]
    assert "not closed" in measured.wrong[0]


def test_repeated_ids_are_different_pairs(write, vectors):
    scores = measure_files(write("a.amr", BOY, BOY), write("b.amr", GIRL, BOY), vectors).scores
    assert scores["smatch"].to_list() == [pytest.approx(3 / 4), 1.0]


def test_parts_make_no_difference_and_tell_how_far_they_are(write, vectors, monkeypatch):
    sides = write("a.amr", *[BOY, WRONG, GIRL] * 3), write("b.amr", *[GIRL, BOY, GIRL] * 3)
    whole = measure_files(*sides, vectors)
    asked = []
    told = []
    look_up = TextVectors.look_up

    def counted(self, words, *told):
        asked.extend(words)
        return look_up(self, words, *told)

    monkeypatch.setattr(TextVectors, "look_up", counted)
    monkeypatch.setattr("features.graph_files.measured._AT_ONCE", 2)
    parts = measure_files(*sides, vectors, on_rows=lambda *counts: told.append(counts))
    assert parts.scores.equals(whole.scores)
    assert parts.wrong == whole.wrong
    assert (parts.unmeasured, parts.scores.height) == (3, 9)
    assert told == [(0, 9), (2, 9), (4, 9), (6, 9), (8, 9), (9, 9)]
    assert sorted(asked) == ["boy", "girl", "sleep"]  # each once


def test_files_without_a_good_pair_are_empty_rows(write, vectors):
    measured = measure_files(write("a.amr", WRONG), write("b.amr", BOY), vectors)
    assert measured.scores.columns[3:18] == list(METRIC_NAMES)
    assert measured.scores["id_b"].to_list() == ["x1"]
    assert measured.unmeasured == 1


@own_metric(reads="srl")
def roles(left, right):
    """Alike in the number of frames."""
    return float(len(left.frames) == len(right.frames))


def test_an_own_metric_that_reads_what_is_not_there_is_refused(write, vectors):
    first = write("a.amr", BOY)
    with refused(WrongValue):
        measure_files(first, first, vectors, [roles])


def test_a_pair_without_a_value_of_an_own_metric_is_named_and_a_wrong_graph_once(write, vectors):
    @own_metric(reads="graphs")
    def boys(left, right):
        return {"boy": 1.0}[left.concepts[1]] * {"boy": 1.0}[right.concepts[1]]

    first, second = write("a.amr", BOY, BOY, BOY), write("b.amr", BOY, GIRL, WRONG)
    measured = measure_files(first, second, vectors, [boys])
    assert measured.scores["boys"].to_list() == [1.0, None, None]
    assert [reason.partition(":")[0] for reason in measured.wrong] == ["pair 2 (id 'x1')", "pair 3 (id 'x1')"]


def test_where_a_block_lacks_its_sentence_the_line_to_add_is_named(write, vectors):
    @own_metric(reads="sentences")
    def same(left, right):
        return float(left == right)

    first, second = write("a.amr", BOY, BOY), write("b.amr", BOY, "(b / boy)\n\n")
    measured = measure_files(first, second, vectors, [same])
    assert measured.scores["same"].to_list() == [1.0, None]
    (why,) = measured.wrong
    assert "# ::snt" in why
