"""Two files of graphs, line by line: mismatches are refused, and lines without a graph keep their place."""

import pytest
from sentences import refused

from features.core.faults import FileEmpty, NotParallel
from features.graph_files.paired import pair_files
from features.graphs.penman_files import format_reject

DOG, CAT = "(d / dog)\n\n", "(c / cat)\n\n"
REJECT = format_reject("2", "The dogs.", "no_graph", "no file has it")


def numbered(number, graph):
    return f"# ::id {number}\n{graph}"


def test_a_reject_keeps_its_place(write):
    first = write("a", numbered(1, DOG), REJECT, numbered(3, CAT))
    pairs = pair_files(first, write("b", numbered(1, DOG), numbered(2, DOG), numbered(3, CAT)))
    assert [pair.number for pair in pairs] == [1, 2, 3]
    assert [pair.graphs is None for pair in pairs] == [False, True, False]
    assert pairs[1].faults == ("a, block at line 4: rejected as no_graph: no file has it",)
    assert [graph.concepts for graph in pairs[2].graphs] == [["cat"], ["cat"]]


def test_of_two_files_of_one_name_the_wrong_one_is_told(write, tmp_path):
    (tmp_path / "parsed").mkdir()
    (pair,) = pair_files(write("a", numbered(1, DOG)), write("parsed/a", numbered(1, "(d / dog\n")))
    assert pair.faults[0].startswith(f"{tmp_path / 'parsed' / 'a'}, graph at line 2: ")


def test_other_ids_are_refused_with_the_first_difference(write):
    first, second = (
        write("a", *(numbered(n, DOG) for n in (1, 2, 3))),
        write("b", *(numbered(n, DOG) for n in (1, 3, 4))),
    )
    with refused(NotParallel):
        pair_files(first, second)
    assert [pair.ids for pair in pair_files(first, second, by_position=True)][1] == ("2", "3")


def test_ids_count_where_both_have_them(write):
    pairs = pair_files(write("a", numbered(7, DOG), DOG), write("b", DOG, numbered(8, DOG)))
    assert [pair.ids for pair in pairs] == [("7", None), (None, "8")]
    assert [pair.name for pair in pairs] == ["pair 1 (id '7')", "pair 2 (id '8')"]
    assert [pair.name for pair in pair_files(write("a", DOG), write("b", DOG))] == ["pair 1"]


def test_other_numbers_are_refused_even_by_position(write):
    first, second = write("a", DOG, DOG), write("b", DOG)
    for by_position in (False, True):
        with refused(NotParallel):
            pair_files(first, second, by_position=by_position)


@pytest.mark.parametrize("by_position", [False, True])
def test_where_a_block_is_missing_sentences_tell_from_which_one_on(write, by_position):
    blocks = [f"# ::snt The dog number {n}.\n{DOG}" for n in range(4)]
    parsed = [block.replace(".", " .") for block in blocks]
    with refused(NotParallel) as fault:
        pair_files(write("a", *blocks), write("b", *parsed[:1], *parsed[2:]), by_position=by_position)
    assert "pair 2 would be 'The dog number 1.' " in str(fault.value)


def test_a_graph_that_breaks_in_two_is_named(write):
    broken = numbered(1, "(d / dog :mod\n\n(b / big))\n\n")
    with refused(NotParallel):
        pair_files(write("a", numbered(1, DOG), numbered(2, CAT)), write("b", broken, numbered(2, CAT)))


def test_a_file_without_graphs_is_refused(write):
    with refused(FileEmpty):
        pair_files(write("a", DOG), write("b", "\n"))
