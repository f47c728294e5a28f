import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import polars as pl
import pytest
from graph_pairs import batch_of, measure
from numba.core.registry import CPUDispatcher
from polars.testing import assert_frame_equal

import features
from features.core.types import RejectCode
from features.graphs.batch import encode
from features.metrics import alignment, focus, measurement, overlap, readings, wlk, wwlk
from features.metrics.compiled import kernel
from features.metrics.measurement import compare, measure_shard
from features.metrics.metric import Comparison
from features.metrics.registry import METRIC_COLUMNS, METRICS
from features.schemas import LABEL_VECTORS, PAIRS, REJECTS

SENTENCES = {
    "s1": "(s / sleep-01 :ARG0 (b / boy))",
    "s2": "(s / sleep-01 :ARG0 (g / girl :quant 2))",
    "s3": "(c / cat)",
}


@pytest.fixture
def amr():
    return encode(list(SENTENCES), list(SENTENCES.values()), "by hand").rows


@pytest.fixture
def label_vectors():
    return pl.DataFrame({"label": ["boy", "girl"], "vector": [[1.0, 0.0], [0.6, 0.8]]}, schema=LABEL_VECTORS)


def pairs_of(*sentences) -> pl.DataFrame:
    rows = [{"pair_id": f"p{n}", "sentence_a": a, "sentence_b": b} for n, (a, b) in enumerate(sentences)]
    return pl.DataFrame(rows, schema={name: PAIRS[name] for name in ("pair_id", "sentence_a", "sentence_b")})


def test_all_fifteen_come_in_one_frame(no_vectors):
    batch = batch_of(list(SENTENCES.values()))
    frame = measure(batch, batch, no_vectors)
    assert frame.columns == [name for name in METRIC_COLUMNS if name != "pair_id"]
    assert frame.height == len(SENTENCES)


def test_some_metrics_can_be_chosen(no_vectors):
    batch = batch_of(["(b / boy)"])
    assert measure(batch, batch, no_vectors, ["wlk", "smatch"]).columns == ["wlk", "smatch", "smatch_optimal"]


def test_pairs_that_are_measured_in_parts_have_the_same_scores(monkeypatch, no_vectors):
    texts = [*SENTENCES.values(), '(p / person :name (n / name :op1 "Ann") :quant 2 :ARG0-of (s / sleep-01 :mod 1))']
    first, second = np.divmod(np.arange(16), 4)
    pairs = Comparison(batch_of(texts), first, second, no_vectors)
    whole = compare(pairs)
    for size in (1, 3, 15):
        monkeypatch.setattr(measurement, "PAIRS_AT_ONCE", size)
        assert_frame_equal(compare(pairs), whole, check_exact=False)


def test_a_shard_has_a_row_for_each_pair_in_their_order(amr, label_vectors):
    pairs = pairs_of(("s3", "s1"), ("s1", "s2"), ("s1", "s1"), ("s2", "s1"))
    output = measure_shard(pairs, amr, label_vectors)
    assert output.rows.schema == pl.Schema(METRIC_COLUMNS)
    assert output.rows["pair_id"].to_list() == ["p0", "p1", "p2", "p3"]
    assert output.rejects.is_empty()
    assert output.rows.row(2)[1 : 1 + len(METRICS)] == pytest.approx([1.0] * len(METRICS))
    assert output.rows.row(1)[1:] == pytest.approx(output.rows.row(3)[1:])
    assert output.rows["max_indegree"][1] == pytest.approx(0.6)


def test_the_order_of_the_graphs_and_further_ones_do_not_matter(amr, label_vectors):
    pairs = pairs_of(("s1", "s2"))
    one = measure_shard(pairs, amr, label_vectors)
    other = measure_shard(pairs, pl.concat([amr.reverse(), amr]), label_vectors)
    assert one.rows.equals(other.rows)


def test_a_pair_without_a_graph_is_rejected_and_the_shard_goes_on(amr, label_vectors):
    output = measure_shard(pairs_of(("s1", "lost"), ("s1", "s2"), ("lost", "gone")), amr, label_vectors)
    assert output.rows["pair_id"].to_list() == ["p1"]
    assert output.rejects.schema == pl.Schema(REJECTS)
    assert output.rejects["entity_id"].to_list() == ["p0", "p2"]
    assert set(output.rejects["code"]) == {RejectCode.MISSING_PARSE}
    assert "lost and gone" in output.rejects["message"][1]


def test_an_empty_shard_is_an_empty_table(amr, label_vectors):
    for pairs, graphs in ((pairs_of(), amr), (pairs_of(("s1", "s2")), amr[:0])):
        output = measure_shard(pairs, graphs, label_vectors)
        assert output.rows.schema == pl.Schema(METRIC_COLUMNS)
        assert output.rows.is_empty()
        assert len(output.rejects) == len(pairs)


def test_every_way_in_uses_the_same_compiled_kernels(amr, label_vectors, no_vectors):
    """A second signature (of a read-only or strided array, say) would be compiled in every worker."""
    graphs = batch_of(["(s / see-01 :ARG0 (b / boy :quant 2))", "(g / girl)"])
    measurement.compare(Comparison(graphs, np.arange(2), np.arange(2)[::-1].copy(), no_vectors))
    kernels = {
        kernel.py_func.__qualname__: kernel
        for module in (alignment.solve, focus, overlap, readings, wlk, wwlk)
        for kernel in vars(module).values()
        if isinstance(kernel, CPUDispatcher)
    }
    compiled = {name: len(kernel.signatures) for name, kernel in kernels.items()}
    assert sum(compiled.values()) >= 8
    measure_shard(pairs_of(("s1", "s2"), ("s2", "s3")), amr, label_vectors)
    measure_shard(pairs_of(), amr[:0], label_vectors[:0])
    assert {name: len(kernel.signatures) for name, kernel in kernels.items()} == compiled


def test_what_asks_to_stop_while_a_kernel_is_compiled_is_heard_once_it_is(monkeypatch):
    heard, njit = [], numba.njit
    compile_extra = numba.core.compiler.compile_extra

    def interrupted(*arguments, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == []
        return compile_extra(*arguments, **options)

    monkeypatch.setattr(numba.core.compiler, "compile_extra", interrupted)
    monkeypatch.setattr(numba, "njit", lambda function, **_: njit(function))  # in no cache, from which a run is silent
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        assert kernel(lambda x: 2 * x)(1) == 2
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def test_a_kernel_is_compiled_even_where_nothing_can_be_cached(monkeypatch):
    compile_for_real = numba.njit

    def njit(function, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return compile_for_real(function, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert kernel(lambda x: x + 1)(2) == 3


_WITHOUT = shutil.ignore_patterns("__pycache__", "model", "shipped")
FIRST_USE = """
import numpy as np
from features.metrics.overlap import count_common
bags = np.arange(3), np.array([7, 7])
assert count_common(*bags, np.array([0]), np.array([1]))[0] == 1
"""


def test_a_kernel_is_compiled_at_its_first_use_which_says_so_and_where_another_file_has_changed(tmp_path):
    """After an upgrade that changed only the file of what a kernel uses, the machine code of the old version stayed."""
    package = shutil.copytree(Path(features.__file__).parent, tmp_path / "features", ignore=_WITHOUT)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def said() -> str:
        command = [sys.executable, "-c", FIRST_USE]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path).stderr

    assert "compiling, once" in said()
    assert not said()
    with (package / "metrics" / "arrays.py").open("a", encoding="utf-8") as file:
        file.write("CHANGED = True\n")
    assert "compiling, once" in said()
