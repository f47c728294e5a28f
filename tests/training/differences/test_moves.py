"""Pairs that moved: by rank where scales differ, by probability where both are probabilities."""

import pytest

from training.differences.shared import SHOWN, move, shared_sets


def pairs(people, scores):
    return [(f"text {n}", "other", *both) for n, both in enumerate(zip(people, scores, strict=True))]


def test_pairs_move_by_their_places_whatever_the_scale_of_the_scores(evaluated):
    people = [1.0, 2.0, 3.0, 4.0]
    a = evaluated("a", pairs(people, [0.9, 0.1, 0.2, 0.3]))  # 4th, 1st, 2nd, 3rd
    b = evaluated("b", pairs(people, [-50, -40, 10, 0]))  # 1st, 2nd, 4th, 3rd
    (shared,) = shared_sets([a], [b])
    found = move(shared)
    assert found.wanted.tolist() == [0.125, 0.375, 0.625, 0.875]
    assert found.before.tolist() == [0.875, 0.125, 0.375, 0.625]
    assert found.after.tolist() == [0.125, 0.375, 0.875, 0.625]
    assert found.gains.tolist() == [0.75, 0.25, 0, 0]
    assert found.towards() == [0, 1]
    assert found.away() == []  # the third is as far from people as before, on the other side
    back = move(shared_sets([b], [a])[0])
    assert (back.towards(), back.away()) == ([], [0, 1])


def test_judged_pairs_move_towards_either_end_and_by_probability_where_both_sides_have_one(evaluated):
    judged = [1, 0, 1, 0]
    first, second = pairs(judged, [0.2, 0.4, 0.6, 0.8]), pairs(judged, [0.9, 0.1, 0.3, 0.8])
    a = evaluated("a", (), first, scored_by="classifier")
    (shared,) = shared_sets([a], [evaluated("b", (), second, scored_by="classifier")])
    assert shared.by_probability
    found = move(shared)
    assert found.gains == pytest.approx([0.7, 0.3, -0.3, 0])
    assert (found.towards(), found.away()) == ([0, 1], [2])
    (shared,) = shared_sets([a], [evaluated("cosines", (), second)])
    assert not shared.by_probability
    found = move(shared)
    assert found.before.tolist() == [0.125, 0.375, 0.625, 0.875]
    assert found.after.tolist() == [0.875, 0.125, 0.375, 0.625]
    assert found.gains.tolist() == [0.75, 0.25, -0.25, 0.25]


def test_no_more_than_some_are_shown_the_furthest_first(evaluated):
    scores = list(range(20))
    (shared,) = shared_sets([evaluated("a", pairs(scores, scores[::-1]))], [evaluated("b", pairs(scores, scores))])
    found = move(shared)
    assert len(found.towards()) == SHOWN
    assert found.towards()[:4] == [0, 19, 1, 18]
    assert found.furthest([9, 3, 18]) == [18, 3, 9]
