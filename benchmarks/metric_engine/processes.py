"""More than one core, and more pairs than fit a batch: measured in separate processes."""

import resource
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
from metric_engine.inputs import DIMENSIONS, Pairs

from features.metrics.label_vectors import LabelVectors, words_of
from features.metrics.measurement import compare, measure_shard
from features.metrics.metric import Comparison

SHARDS = 8
PAIRS_PER_SHARD = 8_192


def dask_speed(pairs: Pairs, n_workers: int) -> float:
    """Return pairs per second of Dask workers that measure shards from files, as a build does.

    Raises:
        ImportError: without Dask.
    """
    from distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory() as folder:
        write_shard(pairs, Path(folder))
        with (
            LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster) as client,
        ):
            client.gather(client.map(measure_files, [folder] * n_workers, pure=False))
            started = time.perf_counter()
            n = sum(client.gather(client.map(measure_files, [folder] * SHARDS, pure=False)))
            return n / (time.perf_counter() - started)


def write_shard(pairs: Pairs, folder: Path) -> None:
    """Write the tables of a shard: the pairs repeated, each time as separate sentences."""
    copies = range(-(-PAIRS_PER_SHARD // len(pairs)))
    ids = [f"{copy}:{graph}" for copy in copies for graph in range(2 * len(pairs))]
    pl.concat([pairs.rows] * len(copies)).with_columns(pl.Series("sentence_id", ids)).write_parquet(folder / "amr")
    n = len(pairs)
    table = [(f"{c}:{p}", f"{c}:{p}", f"{c}:{p + n}") for c in copies for p in range(n)][:PAIRS_PER_SHARD]
    pl.DataFrame(table, ["pair_id", "sentence_a", "sentence_b"], orient="row").write_parquet(folder / "pairs")
    words = sorted(
        words_of([*pairs.rows["concepts"].explode(), *pairs.rows["attribute_values"].explode().drop_nulls()])
    )
    vectors = np.random.default_rng(0).standard_normal((len(words), DIMENSIONS)).astype(np.float32)
    pl.DataFrame({"label": words, "vector": vectors.tolist()}).write_parquet(folder / "label_vectors")


def measure_files(folder: str) -> int:
    """Measure a shard from its files; return its number of pairs."""
    pairs, amr, vectors = (pl.read_parquet(Path(folder) / name) for name in ("pairs", "amr", "label_vectors"))
    return len(measure_shard(pairs, amr, vectors).rows)


def peak_memory(pairs: Pairs, n_pairs: int) -> float:
    """Return the peak memory of a process that measures a number of pairs, in MiB."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak, (pairs, n_pairs))


def _peak(pairs: Pairs, n_pairs: int) -> float:
    batch = pairs.comparison()
    chosen = np.resize(np.arange(len(pairs)), n_pairs)
    vectors: LabelVectors = pairs.vectors
    frame = compare(Comparison(batch.graphs, batch.first[chosen], batch.second[chosen], vectors))
    assert len(frame) == n_pairs  # noqa: S101
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes on macOS, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
