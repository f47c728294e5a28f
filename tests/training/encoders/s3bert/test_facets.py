"""The layout of facets: slices, file, predictions, standing."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import CannotExplain, EncoderDamaged, WrongValue
from features.metrics.registry import METRIC_NAMES
from training.encoders.s3bert.facets import Facet, FacetLayout, plan_layout
from training.search.blocks import VectorBlocks, facet_cosines


def test_the_papers_layout_is_fifteen_facets_of_sixteen_and_a_residual_of_144():
    layout = plan_layout(METRIC_NAMES, width=16, dimension=384)
    assert [(facet.start, facet.stop) for facet in layout.facets] == [(16 * k, 16 * k + 16) for k in range(15)]
    assert layout.residual == slice(240, 384)
    assert layout.names == METRIC_NAMES


def test_a_saved_layout_is_loaded_unchanged(tmp_path):
    layout = FacetLayout(
        dimension=5,
        similarity="manhattan",
        facets=(Facet(name="smatch", start=0, stop=2, slope=0.8, offset=0.1, usual=(-0.5, 0.0, 1.0)),),
    )
    (tmp_path / "facets.json").write_text(layout.text())
    assert FacetLayout.load(tmp_path) == layout


@pytest.mark.parametrize(
    "change",
    [
        {"dimension": 3},
        {"facets": [{"name": "a", "start": 0, "stop": 2}, {"name": "b", "start": 3, "stop": 4}]},
        {"facets": [{"name": "a", "start": 1, "stop": 2}]},
        {"maps_start": True},
        {"facets": [{"name": "a", "start": 0, "stop": 0}]},
        {"facets": [{"name": "a", "start": 0, "stop": 2}, {"name": "a", "start": 2, "stop": 4}]},
        {"facets": [{"name": "residual", "start": 0, "stop": 2}]},
        {"facets": []},
        {"format": 1},
        {"unknown": 1},
    ],
)
def test_a_layout_that_contradicts_itself_is_refused(tmp_path, change):
    good = {
        "format": 2,
        "dimension": 6,
        "facets": [{"name": "a", "start": 0, "stop": 2}, {"name": "b", "start": 2, "stop": 4}],
    }
    (tmp_path / "facets.json").write_text(json.dumps(good | change))
    with refused(EncoderDamaged):
        FacetLayout.load(tmp_path)


def test_a_folder_without_layout_is_no_encoder_with_facets(tmp_path):
    with refused(CannotExplain):
        FacetLayout.load(tmp_path)


def test_facets_that_do_not_fit_are_refused_with_the_width_that_fits():
    with refused(WrongValue):
        plan_layout(METRIC_NAMES, width=32, dimension=384)


def test_a_number_that_is_none_is_refused():
    with refused(WrongValue):
        Facet(name="a", start=0, stop=1, slope=float("nan"))


widths = st.lists(st.integers(1, 5), min_size=1, max_size=6)


@given(widths=widths, rest=st.integers(0, 4), seed=st.integers(0, 100))
def test_similarities_are_those_of_the_slices(widths, rest, seed):
    stops = np.cumsum(widths)
    facets = tuple(
        Facet(name=f"f{k}", start=int(stop - width), stop=int(stop))
        for k, (stop, width) in enumerate(zip(stops, widths, strict=True))
    )
    layout = FacetLayout(dimension=int(stops[-1]) + rest, facets=facets)
    random = np.random.default_rng(seed)
    left, right = random.standard_normal((2, 4, layout.dimension)).astype(np.float32)
    found = layout.similarities(left, right)
    for k, facet in enumerate(facets):
        u, v = left[:, facet.start : facet.stop], right[:, facet.start : facet.stop]
        expected = (u * v).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        np.testing.assert_allclose(found[:, k], expected, atol=1e-5)
    distance = layout.model_copy(update={"similarity": "manhattan"}).similarities(left, right)
    for k, facet in enumerate(facets):
        expected = 1 - np.abs(left - right)[:, facet.start : facet.stop].sum(1)
        np.testing.assert_allclose(distance[:, k], expected, atol=1e-5)


def test_a_facet_of_zeros_has_similarity_zero():
    layout = plan_layout(["smatch"], width=2, dimension=2)
    zero = np.zeros((1, 2), dtype=np.float32)
    assert layout.similarities(zero, zero + 1)[0, 0] == 0


def test_facets_are_not_read_off_embeddings_that_were_cut():
    layout, cut = plan_layout(["smatch"], width=2, first=4, dimension=6), np.ones((1, 4), np.float32)
    with refused(EncoderDamaged):
        layout.similarities(cut, cut)
    with refused(EncoderDamaged):
        facet_cosines(cut, VectorBlocks.of(cut), layout, ["smatch"])


def test_what_training_compares_uses_slope_and_offset():
    layout = FacetLayout(dimension=2, facets=(Facet(name="a", start=0, stop=2, slope=0.5, offset=0.25),))
    np.testing.assert_allclose(layout.scaled(np.array([[1.0], [-0.5]])), [[0.75], [0.0]])


def test_an_encoder_without_dev_pairs_says_so():
    layout = plan_layout(["smatch"], width=1, dimension=1).calibrated(np.empty((0, 1)), np.empty((0, 1)))
    assert "fewer than 10 dev pairs" in layout.lacks


def test_standing_is_the_share_of_dev_pairs_below():
    facet = Facet(name="a", start=0, stop=1, usual=(0.0, 0.5, 1.0))
    assert [facet.standing(value) for value in (-1, 0.25, 0.5, 0.75, 2)] == [0, 0.25, 0.5, 0.75, 1]
    assert Facet(name="a", start=0, stop=1).standing(0.5) is None


def test_pairs_that_are_as_similar_do_not_count_as_below():
    facet = Facet(name="a", start=0, stop=1, usual=(0.2, 0.5, 0.5, 0.5, 0.9))
    assert [facet.standing(value) for value in (0.35, 0.5, 0.50001, 0.7, 0.9)] == pytest.approx(
        [0.125, 0.25, 0.25, 0.875, 1]
    )
    assert Facet(name="a", start=0, stop=1, usual=(0.5, 0.5, 0.5)).standing(0.5) == 0
