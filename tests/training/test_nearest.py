"""Exact nearest neighbours: the same as a full sort, in blocks, and with ties in the order of the texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sentences import refused

from features.core.faults import EncoderDamaged
from training import nearest
from training.nearest import cosines_of, find_nearest, unit

few_values = arrays(np.float32, st.tuples(st.integers(1, 7), st.integers(1, 9)), elements=st.integers(-2, 2).map(float))


@given(block=few_values, k=st.integers(1, 12))
def test_the_best_are_those_of_a_stable_sort_so_that_of_equal_texts_the_first_comes_first(block, k):
    found = find_nearest(lambda some: block[some].copy(), queries=block.shape[0], texts=block.shape[1], k=k)
    expected = np.argsort(-block, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found.positions, expected)
    np.testing.assert_array_equal(found.similarities, np.take_along_axis(block, expected, axis=1))


def test_blocks_of_any_size_find_the_same_and_no_text_finds_itself(monkeypatch):
    vectors = unit(np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32))
    whole = find_nearest(cosines_of(vectors, vectors), queries=50, texts=50, k=7, themselves=True)
    asked = []

    def watched(some):
        asked.append(some)
        return vectors[some] @ vectors.T

    monkeypatch.setattr(nearest, "_NUMBERS_AT_ONCE", 150)
    in_blocks = find_nearest(watched, queries=50, texts=50, k=7, themselves=True)
    assert max(some.stop - some.start for some in asked) == 3
    np.testing.assert_array_equal(whole.positions, in_blocks.positions)
    assert (whole.positions != np.arange(50)[:, None]).all()
    similarities = vectors @ vectors.T
    np.fill_diagonal(similarities, -2)
    np.testing.assert_array_equal(whole.positions, np.argsort(-similarities, axis=1)[:, :7])


def test_they_are_those_of_semantic_search():
    from sentence_transformers.util import semantic_search

    random = np.random.default_rng(1)
    queries, texts = (unit(random.standard_normal((n, 8)).astype(np.float32)) for n in (5, 300))
    found = find_nearest(cosines_of(queries, texts), queries=5, texts=300, k=4)
    expected = semantic_search(queries, texts, top_k=4)
    assert found.positions.tolist() == [[hit["corpus_id"] for hit in hits] for hits in expected]


@pytest.mark.parametrize(("texts", "themselves", "found"), [(1, True, 0), (3, True, 2), (3, False, 3)])
def test_fewer_texts_than_asked_for_are_all_returned(texts, themselves, found):
    vectors = np.eye(3, dtype=np.float32)[:texts]
    nearby = find_nearest(cosines_of(vectors, vectors), queries=texts, texts=texts, k=9, themselves=themselves)
    assert nearby.positions.shape == nearby.similarities.shape == (texts, found)


def test_texts_that_differ_in_the_last_digits_alone_are_equal():
    block = np.array([[0.5, 0.5 + 2e-8, 0.9]], np.float32)
    assert find_nearest(lambda _: block.copy(), queries=1, texts=3, k=3).positions.tolist() == [[2, 0, 1]]


def test_a_vector_of_zeros_is_like_nothing_and_one_that_is_no_number_is_refused():
    assert unit(np.zeros((1, 3), np.float32)).tolist() == [[0, 0, 0]]
    with refused(EncoderDamaged):
        unit(np.array([[1.0, np.nan]], np.float32))
