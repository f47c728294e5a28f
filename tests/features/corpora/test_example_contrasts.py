"""Each contrast of the example corpus shows in the facet it was made for, and leaves the others alone."""

from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from graph_pairs import batch_of, measure

from features.graphs.penman_files import PenmanBlock, read_blocks
from features.metrics.label_vectors import LabelVectors
from features.metrics.registry import METRICS

EXAMPLE = files("features.corpora.example")
SHOWS_IN = [
    ("negation", "negations"),
    ("quantity", "quantifiers"),
    ("roles", "smatch"),
    ("roles", "srl"),
    ("names", "named_entities"),
    ("coreference", "coreference"),
    ("modality", "smatch"),
    ("modifier", "smatch"),
    ("modifier", "concepts"),
    ("root", "root"),
    ("specificity", "concepts"),
    ("frames", "frames"),
]
LEAVES_ALONE = [
    ("negation", "srl"),
    ("negation", "frames"),
    ("quantity", "frames"),
    ("quantity", "negations"),
    ("roles", "concepts"),
    ("roles", "named_entities"),
    ("names", "negations"),
    ("root", "concepts"),
    ("specificity", "root"),
    *[("tense", metric) for metric in METRICS],
]
# ("root", "srl") is in neither list: the part that `srl` compares has a root of its own, which may move or not.
COUNTRIES_SWAPPED = "example-027"
"""Two countries that differ in their names only, which `srl` does not see."""


@pytest.fixture(scope="module")
def measured() -> pl.DataFrame:
    pairs = pl.read_csv((EXAMPLE / "pairs.tsv").read_bytes(), separator="\t", quote_char=None)
    left, right = (batch_of(texts(side)) for side in "ab")
    drawn = LabelVectors([], np.empty((0, 64), np.float32))  # a vector for each word, seeded by the word
    return pl.concat([pairs, measure(left, right, drawn)], how="horizontal")


def texts(side: str) -> list[str]:
    blocks = list(read_blocks(EXAMPLE / f"graphs_{side}.amr"))
    assert all(isinstance(block, PenmanBlock) for block in blocks)
    return [block.text for block in blocks]


def values(measured: pl.DataFrame, difference: str, metric: str) -> dict[str, float]:
    rows = measured.filter(pl.col("difference") == difference)
    return dict(zip(rows["id"], rows[metric], strict=True))


@pytest.mark.parametrize(("difference", "metric"), SHOWS_IN)
def test_contrast_shows_in_its_metric(measured, difference, metric):
    for pair, value in values(measured, difference, metric).items():
        if (pair, metric) == (COUNTRIES_SWAPPED, "srl"):
            assert value == 1
        else:
            assert value < 1, pair


@pytest.mark.parametrize(("difference", "metric"), LEAVES_ALONE)
def test_contrast_leaves_other_metrics_alone(measured, difference, metric):
    for pair, value in values(measured, difference, metric).items():
        assert value == pytest.approx(1, abs=1e-6), pair


def test_paraphrases_are_from_the_same_graph_to_other_words(measured):
    smatch = values(measured, "paraphrase", "smatch")
    assert max(smatch.values()) == 1
    assert min(smatch.values()) < 0.6


@pytest.mark.parametrize("split", ["train", "dev"])
@pytest.mark.parametrize("metric", list(METRICS))
def test_every_metric_varies_in_both_splits(measured, metric, split):
    column = measured.filter(pl.col("split") == split)[metric].round(3)
    assert column.n_unique() >= 3
    assert (column < 1).sum() >= 4
