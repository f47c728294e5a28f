"""Maps of texts: every installed method keeps neighbours together, and draws the same map again."""

import numpy as np
import pytest

from training.evaluation.retrieval.maps import methods


@pytest.mark.parametrize("method", ["t-SNE", "UMAP"])
def test_texts_that_are_near_stay_near(method):
    if method == "UMAP":
        pytest.importorskip("umap", reason="needs the extra: pip install 'facetflow[maps]'")
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 15)
    vectors = (random.normal(size=(4, 24))[group] + 0.1 * random.normal(size=(60, 24))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    places = methods()[method](vectors, 0)
    assert places.shape == (60, 2)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (group[apart.argmin(axis=1)] == group).mean() > 0.95
    np.testing.assert_array_equal(places, methods()[method](vectors, 0))


def test_texts_that_are_all_alike_to_the_encoder_lie_in_one_place():
    places = methods()["t-SNE"](np.full((20, 4), 0.5, np.float32), 0)
    np.testing.assert_array_equal(places, np.broadcast_to(places[0], (20, 2)))
