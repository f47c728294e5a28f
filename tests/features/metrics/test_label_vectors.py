import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.faults import VectorsWrong
from features.metrics.label_vectors import LabelVectors, split_label, words_of
from features.schemas import LABEL_VECTORS


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("want-01", ["want"]),
        ("have-rel-role-91", ["have", "rel", "role"]),
        ("natural-disaster", ["natural", "disaster"]),
        ('"New_York City"', ["new", "york", "city"]),
        ("26.8", ["26.8"]),
        ("2003-04", ["2003", "04"]),
        ("-", ["-"]),
        ('""', [""]),
        ("+", ["+"]),
        ('"Dillard\'s"', ["dillards"]),
    ],
)
def test_the_words_of_a_label(label, words):
    assert split_label(label) == tuple(words)
    assert words_of([label]) == sorted(set(words))


def test_a_label_is_the_mean_of_its_words_each_of_length_one():
    vectors = LabelVectors(["natural", "disaster"], np.array([[3, 0], [0, 0.5]], np.float32))
    np.testing.assert_allclose(vectors.of_labels(["natural-disaster", "disaster"]), [[0.5, 0.5], [0, 1]])


def test_an_unknown_word_has_the_same_vector_whatever_else_is_known():
    empty = LabelVectors([], np.empty((0, 8), np.float32))
    full = LabelVectors(["cat", "dog"], np.random.default_rng(0).random((2, 8)).astype(np.float32))
    first = empty.of_labels(["zyzzyva"])
    np.testing.assert_array_equal(first, full.of_labels(["cat", "zyzzyva-01", "other"])[1:2])
    assert np.linalg.norm(first) == pytest.approx(1.0, abs=1e-6)
    assert abs(first @ empty.of_labels(["other"]).T) < 0.99
    assert empty.of_labels([]).shape == (0, 8)


def test_rows_of_several_shards_make_one_table():
    rows = pl.DataFrame({"label": ["cat", "dog", "cat"], "vector": [[1, 0], [0, 1], [1, 0]]}, schema=LABEL_VECTORS)
    vectors = LabelVectors.from_rows(rows)
    np.testing.assert_array_equal(vectors.of_labels(["dog", "cat"]), [[0, 1], [1, 0]])
    assert LabelVectors.from_rows(rows[:0]).of_labels(["dog"]).shape == (1, 64)


@pytest.mark.parametrize(
    ("words", "matrix"),
    [
        (["cat", "dog"], np.array([[1.0, 0.0], [0.0, 0.0]])),
        (["cat"], np.array([[np.nan, 0.0]])),
    ],
)
def test_a_wrong_table_is_refused(words, matrix):
    with refused(VectorsWrong):
        LabelVectors(words, matrix.astype(np.float32))
