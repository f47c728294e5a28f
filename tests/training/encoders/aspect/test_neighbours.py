"""Scores of neighbours, against a plain computation of each text on its own."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data.shared_labels import SharedLabels
from training.encoders.aspect.train import score_neighbours


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=30), st.integers(0, 5))
def test_they_are_those_of_each_text_on_its_own(labels, seed):
    vectors = np.random.default_rng(seed).normal(size=(len(labels), 4)).astype(np.float32)
    table = pl.DataFrame({"text": range(len(labels)), "aspect": "x", "label": labels}).cast({"text": pl.Int64})
    found = score_neighbours(vectors, SharedLabels(table, ["x"], "any", len(labels)), np.arange(len(labels)))

    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    reciprocal, gain = [], []
    for one in range(len(labels)):
        others = sorted((other for other in range(len(labels)) if other != one), key=lambda o: -(unit[one] @ unit[o]))
        hits = [labels[other] == labels[one] for other in others]
        if any(hits):
            reciprocal.append(next((1 / place for place, hit in enumerate(hits[:10], start=1) if hit), 0))
            ideal = sum(1 / np.log2(place + 1) for place in range(1, min(sum(hits), 10) + 1))
            gain.append(sum(hit / np.log2(place + 1) for place, hit in enumerate(hits[:10], start=1)) / ideal)
    assert (found is None) == (not reciprocal)
    if found is not None:
        assert found == pytest.approx({"mrr": np.mean(reciprocal), "ndcg": np.mean(gain)}, abs=1e-6)


def test_texts_ask_some_at_a_time(monkeypatch):
    labels = pl.DataFrame({"text": range(40), "aspect": "x", "label": ["ab"[n % 2] for n in range(40)]})
    shared = SharedLabels(labels.cast({"text": pl.Int64}), ["x"], "any", 40)
    vectors = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    whole = score_neighbours(vectors, shared, np.arange(40))
    monkeypatch.setattr("training.nearest._NUMBERS_AT_ONCE", 7 * 40)
    monkeypatch.setattr("training.ranking._CELLS_AT_ONCE", 11 * 40)

    assert score_neighbours(vectors, shared, np.arange(40)) == pytest.approx(whole)
