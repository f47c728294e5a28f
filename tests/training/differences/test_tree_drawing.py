"""Trees as SVG: one arc per edge, higher above other arcs, and no text as a tag."""

import re

from training.differences.views import draw_tree

WORDS = ["He", "saw", "a", "<b>&", "\U0001f436"]
HEADS = [1, 1, 3, 1, 1]
LABELS = ["nsubj", "ROOT", "det", "dobj", "dep"]


def tops(drawing):
    """Return the height of each arc, in the order of the dependents."""
    return [float(top) for top in re.findall(r'class="edge" d="M[\d.]+ [\d.]+V([\d.]+)', drawing)]


def test_each_word_but_the_root_has_an_arc_above_those_that_are_below_it():
    drawing = draw_tree(WORDS, HEADS, LABELS)
    nsubj, det, dobj, dep = tops(drawing)
    assert nsubj == det > dobj > dep
    assert re.findall(r'class="label"[^>]*>(.*?)<', drawing) == LABELS
    assert re.findall(r'class="token"[^>]*>(.*?)<', drawing) == ["He", "saw", "a", "&lt;b&gt;&amp;", "\U0001f436"]
    assert "<b>" not in drawing
    assert drawing == draw_tree(WORDS, HEADS, LABELS)


def test_the_tip_of_an_arc_is_at_its_dependent():
    drawing = draw_tree(["to", "the", "left"], [0, 0, 0], ["ROOT", "a", "b"])
    words = [float(x) for x in re.findall(r'class="token" x="([\d.]+)"', drawing)]
    tips = [float(x) + 3 for x in re.findall(r'class="tip-of-edge" d="M([\d.]+)', drawing)]
    assert [min(range(3), key=lambda word: abs(words[word] - tip)) for tip in tips] == [1, 2]


def test_neighbours_stand_apart_for_the_label_between_them_and_wide_characters_have_room():
    def distance(label):
        drawing = draw_tree(["a", "b"], [1, 1], [label, "ROOT"])
        left, right = (float(x) for x in re.findall(r'class="token" x="([\d.]+)"', drawing))
        return right - left

    assert distance("a-very-long-relation") > 120 > distance("det")

    def width(word):
        return int(re.search(r'width="(\d+)"', draw_tree([word], [0], ["ROOT"]))[1])

    assert width("\u732b" * 20) > 1.8 * width("c" * 20)


def test_trees_that_cross_and_several_roots_are_drawn():
    drawing = draw_tree(list("abcdef"), [2, 3, 2, 3, 4, 0], ["x", "y", "ROOT", "ROOT", "ROOT", "z"])
    assert len(tops(drawing)) == 3
    assert drawing.count("ROOT") == 3
