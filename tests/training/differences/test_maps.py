"""Maps of two encoders side by side: the same texts, each as its own encoder places them."""

import re

import numpy as np
import polars as pl
import pytest

from features.parsers.settings import DependencySettings
from training.differences.page import Side, differences_page, draw_maps
from training.evaluation.comparison import compare_runs
from training.evaluation.retrieval import maps
from training.evaluation.run import FORMAT
from training.writing import write_json

TEXTS = [f"<text {number}>" for number in range(12)]


@pytest.fixture
def mapped(tmp_path, monkeypatch):
    """Return a function that writes an evaluation with a map of some texts."""

    def write(name, texts=TEXTS, methods=("t-SNE",)):
        monkeypatch.setattr(maps, "methods", lambda: dict.fromkeys(methods, lambda vectors, seed: vectors[:, :2]))
        vectors = np.random.default_rng(len(name)).random((2, len(texts), 3), dtype=np.float32)
        entry = {
            "name": "topic",
            "aspect": "topic",
            "points": len(texts),
            "of": len(texts),
            "seed": 0,
            "k": 5,
            "legend": {"zoo": len(texts)},
            "methods": list(methods),
            "sides": {
                "encoder": {"agreement": len(name) / 10, "silhouette": None},
                "start": {"agreement": 0.1, "silhouette": None},
            },
        }
        zoo = ["zoo"] * len(texts)
        drawn = maps.Map(entry, texts, zoo, zoo, dict(zip(("encoder", "start"), vectors, strict=True)))
        folder = tmp_path / name
        folder.mkdir()
        points = drawn.draw({})
        points.write_parquet(folder / "maps.parquet")
        of_none = pl.DataFrame(schema=dict.fromkeys(("set", "text_a", "text_b", "mrr"), pl.String))
        of_none.write_parquet(folder / "retrieval.parquet")
        suites = {"retrieval": {"maps": [entry], "rows": [], "data": {}}}
        write_json(folder / "metrics.json", {"format": FORMAT, "suites": suites})
        return folder, points

    return write


def test_both_encoders_place_the_same_texts_and_their_start_models_none(mapped):
    (a, of_a), (b, of_b) = mapped("one"), mapped("other")
    page = draw_maps(("one", "o<t>her"), (a, b))
    assert "A (one): 30 % of the 5 nearest share a label" in page
    assert "B (o&lt;t&gt;her): 50 % of the 5 nearest share a label" in page
    assert page.count("<label") == len(TEXTS)
    named = re.findall(r'<input [^>]*aria-labelledby="([^"]+)"', page)  # the text itself is hidden
    assert sorted(named) == sorted(re.findall(r'<span id="([^"]+)"', page))
    assert len(set(named)) == len(TEXTS)
    assert "The 1 most frequent label has a colour;" in page
    for points in (of_a, of_b):
        for place in points["encoder t-SNE x"]:
            assert f":{100 * place:.1f}" in page
    assert not {f"--c:{100 * place:.1f};" for place in of_a["start t-SNE x"]} & set(page.split('"'))


def test_maps_of_other_texts_or_without_their_file_are_not_side_by_side(mapped):
    (a, _), (b, _), (c, _) = mapped("one"), mapped("other", TEXTS[::-1]), mapped("third")
    assert draw_maps(("a", "b"), (a, b)) == ""
    (d, _), (e, _) = mapped("fourth", methods=("t-SNE", "PCA")), mapped("a fifth")
    assert "t-SNE" in draw_maps(("d", "e"), (d, e))
    assert "PCA" not in draw_maps(("d", "e"), (d, e))
    (c / "maps.parquet").unlink()
    assert draw_maps(("a", "c"), (a, c)) == ""


def test_the_page_of_two_encoders_has_their_maps_and_names_the_seed_that_is_drawn(mapped, evaluated, tmp_path, browser):
    rated = [(text, text, n / 12, n / 12) for n, text in enumerate(TEXTS)]
    comparison = compare_runs([evaluated("pairs of x", rated)], [evaluated("pairs of y", rated)])
    first, second, third = (mapped(name)[0] for name in ("one", "other", "of another seed"))
    sides = (Side("x", [first], ["x/1/seed-0"]), Side("y", [second, third], ["y/1/seed-0", "y/1/seed-1"]))
    page = differences_page(sides, comparison, DependencySettings(model="nobody"))
    assert "A (x): " in page
    assert "B (y/1/seed-0): " in page
    (tmp_path / "page.html").write_text(page)
    assert browser.find_faults(tmp_path / "page.html") == []
