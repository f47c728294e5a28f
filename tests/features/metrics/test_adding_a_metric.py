"""Adding a built-in metric is one file and one line: a store that exists gets its column, and every table shows it."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable

from features.core.types import Shard
from features.metrics.registry import METRIC_COLUMNS
from features.schemas import PAIRS, StageOutput
from features.stages.metrics import METRIC_STAGE, MetricSettings
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store

FILE = '''
"""How alike two graphs are in their number of nodes."""

import numpy as np

from features.metrics.metric import Metric, mean, similarities


def _statistics(pairs):
    sizes = np.diff(pairs.graphs.node_offsets).astype(float)
    left, right = sizes[pairs.first], sizes[pairs.second]
    return similarities(np.minimum(left, right) / np.maximum(left, right))


SIZE = Metric(
    name="size",
    summary="ratio of the numbers of nodes",
    question="Do both say equally much?",
    statistics=_statistics,
    number=mean,
    vacuous=None,
)
'''
LINE = '    "size": BuiltIn("size_metric:SIZE", "how much is said", version="1"),\n}\n'
# The registry with one line more takes the place of the real one before anything imports it.
PATCHED = f"""
import sys
from importlib.util import find_spec, module_from_spec

spec = find_spec("features.metrics.registry")
registry = module_from_spec(spec)
sys.modules[spec.name] = registry
text = open(spec.origin, encoding="utf-8").read()
exec(compile(text.replace("\\n}}\\n", "\\n" + {LINE!r}, 1), spec.origin, "exec"), registry.__dict__)

"""
BUILD = """
import polars as pl
from features.stages.metrics import METRIC_STAGE, MetricSettings
from features.store.plan import plan

assert "numba" not in sys.modules, "a line is known without the code"
from features.store.scope import PlannedStage
from features.store.store import Store
from features.schemas import StageOutput
from features.metrics.label_vectors import LabelVectors
from graph_pairs import batch_of, measure

store = Store.open(sys.argv[1], create=True)
recipe = METRIC_STAGE.recipe(METRIC_STAGE.prepare(MetricSettings()))
(work,) = plan(store, [PlannedStage("metrics", "pairs", ("pairs",), recipe)]).todo
print(work.reason.kind)
left, right = batch_of(["(b / boy)"]), batch_of(["(s / see-01 :ARG0 (b / boy))"])
vectors = LabelVectors.from_rows(pl.DataFrame({"label": ["boy", "see"], "vector": [[1.0, 0.0], [0.0, 1.0]]}))
rows = measure(left, right, vectors).select(pl.lit("p0").alias("pair_id"), pl.all())
receipt = store.write_shard("metrics", work.shard, work.fingerprint, StageOutput(rows), expected=1)
store.commit([receipt], run_id="r", recipes={"metrics": recipe})
"""
SHOWN = """
from facetflow import metrics
from features.graphs.graph import decode
from features.metrics.explanation.pair import explain_graphs
from features.metrics.registry import explain_facet

assert metrics.size("(b / boy)", "(s / see-01 :ARG0 (b / boy))") == 0.5
assert "size" in metrics.__all__ and "size" in metrics.measure("(b / boy)", "(b / boy)", ["size"]).columns
(pair,) = explain_graphs([(decode("(b / boy)"), decode("(s / see-01 :ARG0 (b / boy))"))])
print([(facet.name, facet.score) for facet in pair.facets][-1])
print(explain_facet("size", {}))
"""


@pytest.fixture
def run(root: Path, tmp_path: Path):
    """Return a function that runs Python with the sixteenth metric, and returns the lines that it prints."""
    (tmp_path / "size_metric.py").write_text(FILE)
    paths = os.pathsep.join([str(tmp_path), str(root), str(root / "tools")])

    def python(script: str) -> list[str]:
        command = [sys.executable, "-c", PATCHED + script, str(tmp_path / "store")]
        done = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return python


def test_a_store_that_exists_gets_a_new_metric_for_every_reader(run, tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    pair = dict.fromkeys(PAIRS) | {"pair_id": "p0", "sentence_a": "a", "sentence_b": "b", "corpus": "c"}
    recipe = METRIC_STAGE.recipe(METRIC_STAGE.prepare(MetricSettings()))
    ingest = Recipe("pairs")
    mark = fingerprint(ingest, ["p0"])
    rows = {name: "p0" if name == "pair_id" else True if name.endswith("_optimal") else 0.5 for name in METRIC_COLUMNS}
    receipts = [
        store.write_shard("pairs", "s0", mark, StageOutput(pl.DataFrame([pair], schema=PAIRS))),
        store.write_shard(
            "metrics",
            "s0",
            fingerprint(recipe, [f"pairs:s0:{mark}"]),
            StageOutput(pl.DataFrame([rows], schema=METRIC_COLUMNS)),
        ),
    ]
    store.commit(receipts, run_id="r", recipes={"pairs": ingest, "metrics": recipe})
    before = store.versions()["metrics"]

    assert run(BUILD) == ["recipe"], "the new metric is a change of recipe"

    folder = tmp_path / "store" / "tables" / "metrics"
    assert pl.read_delta(str(folder))["size"].to_list() == [0.5]
    assert DeltaTable(folder).to_pyarrow_table().column("size").to_pylist() == [0.5]
    assert duckdb.from_arrow(DeltaTable(folder).to_pyarrow_dataset()).project("size").fetchall() == [(0.5,)]
    assert "size" not in pl.read_delta(str(folder), version=before).columns
    assert Store.open(tmp_path / "store").committed("metrics")[Shard("s0")].rows == 1


def test_a_new_metric_is_measured_and_explained_like_the_others(run):
    assert run(SHOWN) == ["('size', 0.5)", "Do both say equally much?"]


def test_the_recipe_of_the_metrics_names_those_that_are_new():
    """Stores that exist stay valid as long as no metric is added or changed; its line then gets a version."""
    recipe = METRIC_STAGE.recipe(METRIC_STAGE.prepare(MetricSettings()))
    assert recipe.parameters == {"steps": 10**8}
    assert recipe.algorithm == "1"
