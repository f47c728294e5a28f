"""Maps of texts: every installed method keeps neighbours together, and draws the same map again."""

import numpy as np
import polars as pl
import pytest

from training.data.labelled_texts import LabelledTexts
from training.evaluation.retrieval import maps
from training.evaluation.retrieval.groups import groups_of
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


def test_a_legend_is_in_the_order_of_its_counts_where_texts_have_several_labels():
    """A text has the colour of its most frequent label, so a frequent label that is rarely alone colours few points."""
    labels = [["all", "often"]] * 4 + [["all"]] * 2 + [["often"], ["seldom"], ["seldom"], ["seldom"]]
    table = pl.DataFrame(
        [(f"t{n}", "c", "dev", "x", label) for n, of in enumerate(labels) for label in of],
        schema=["text", "corpus", "split", "aspect", "label"],
        orient="row",
    )
    (group,) = groups_of(LabelledTexts.from_table(table, source={}))
    vectors = np.eye(len(labels), dtype=np.float32)
    (drawn,) = maps.choose_points(group, [f"t{n}" for n in range(len(labels))], {"encoder": vectors}, seed=0, k=3)
    assert [*drawn.entry["legend"].items()] == [("all", 6), ("seldom", 3), ("often", 1)]


def test_neighbours_and_silhouette_are_those_of_the_full_space():
    table = pl.DataFrame(
        [(f"t{n}", "c", "dev", "x", f"label {n % 2}") for n in range(12)],
        schema=["text", "corpus", "split", "aspect", "label"],
        orient="row",
    )
    (group,) = groups_of(LabelledTexts.from_table(table, source={}))
    (labels,) = group.labels.values()
    apart = np.eye(2, dtype=np.float32)[labels.matrix.indices]
    (drawn,) = maps.choose_points(group, [f"t{n}" for n in range(12)], {"encoder": apart}, seed=0, k=5)
    assert drawn.entry["sides"] == {"encoder": {"agreement": 1, "silhouette": pytest.approx(1)}}
    mixed = np.ones((12, 2), np.float32)
    (drawn,) = maps.choose_points(group, [f"t{n}" for n in range(12)], {"encoder": mixed}, seed=0, k=12)
    assert drawn.entry["k"] == 11  # a text is not its own neighbour
    assert drawn.entry["sides"] == {"encoder": {"agreement": pytest.approx(5 / 11), "silhouette": 0}}
