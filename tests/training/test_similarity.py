"""Spearman's correlation against scipy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from training.similarity import spearman, spearman_matrix

tied_columns = arrays(np.float64, (12, 3), elements=st.integers(0, 4).map(float))


@given(left=tied_columns, right=tied_columns)
def test_spearman_is_scipys_and_none_where_a_column_is_constant(left, right):
    matrix = spearman_matrix(left, right)
    for j in range(3):
        found = spearman(left, right[:, j])
        for i in range(3):
            if np.ptp(left[:, i]) == 0 or np.ptp(right[:, j]) == 0:
                assert found[i] is None
            else:
                assert found[i] == pytest.approx(spearmanr(left[:, i], right[:, j]).statistic)
            assert matrix[i, j] == pytest.approx(0 if found[i] is None else found[i])


def test_spearman_of_one_pair_is_undefined():
    assert spearman(np.ones((1, 2)), np.ones(1)) == [None, None]
