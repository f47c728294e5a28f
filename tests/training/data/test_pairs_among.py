"""Pairs among some sentences: the same as a look at every pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.data.pair_tables import PairsAmong


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40), st.data())
def test_they_are_those_with_both_ends_inside(pairs, data):
    first, second = np.array(pairs).T
    some = np.array(data.draw(st.lists(st.sampled_from(range(len(pairs))), unique=True)), dtype=np.int64)
    sentences = st.sampled_from(sorted({*first.tolist(), *second.tolist()}))
    chosen = np.array(sorted(data.draw(st.sets(sentences, min_size=1))), dtype=np.int64)
    among = PairsAmong(first, second, some)
    for _ in range(2):  # a search leaves nothing behind
        expected = [row for row in sorted(some.tolist()) if {first[row], second[row]} <= {*chosen.tolist()}]
        assert among.find(chosen).tolist() == expected
