"""Exact search of many texts: ours compared with sentence-transformers' `semantic_search` and plain numpy, in one run.

    python benchmarks/retrieval.py [--texts 100000] [--queries 64] [--dimension 384] [-k 10]

Vectors are generated around 200 centres, so that texts have near neighbours as real ones do. Each method runs in a
separate process: one search to warm up, then the median of five, in wall and processor seconds; memory is the peak
during a search beyond what the process used before (Linux). All must find the same texts.
"""

import argparse
import multiprocessing
import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from training.nearest import cosines_of, find_nearest, unit

Search = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
_REPEATS = 5
_STATUS, _REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=64)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("-k", type=int, default=10)
    arguments = parser.parse_args()
    size = (arguments.queries, arguments.texts, arguments.dimension, arguments.k)
    print("{:,} queries among {:,} texts, {} dimensions, k = {}".format(*size))
    print(f"{'':34}{'wall s':>9}{'processor s':>13}{'memory MiB':>12}{'same texts':>12}")
    found = {}
    for name in WAYS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found[name], wall, processor, memory = pool.apply(measure, (name, *size))
        same = (found[name] == found["facetflow"]).mean()
        print(f"{name:34}{wall:9.3f}{processor:13.3f}{memory:>12}{100 * same:10.2f} %")


def measure(name: str, queries: int, texts: int, dimension: int, k: int) -> tuple[np.ndarray, float, float, str]:
    """Return the positions that a method finds, its wall and processor seconds, and its memory in MiB."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((200, dimension), dtype=np.float32)

    def some(count: int) -> np.ndarray:
        around = random.standard_normal((count, dimension), dtype=np.float32)
        return unit(around + centres[random.integers(200, size=count)])

    asked, known = some(queries), some(texts)
    search = WAYS[name]
    found = search(asked, known, k)
    before = _forget_peak()
    walls, processors = [], []
    for _ in range(_REPEATS):
        wall, processor = time.perf_counter(), time.process_time()
        search(asked, known, k)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    peak = _kib("VmHWM")
    memory = "unknown" if before is None or peak is None else f"{(peak - before) / 1024:.0f}"
    return found, median(walls), median(processors), memory


def by_facetflow(queries: np.ndarray, texts: np.ndarray, k: int) -> np.ndarray:
    return find_nearest(cosines_of(queries, texts), queries=len(queries), texts=len(texts), k=k).positions


def by_semantic_search(queries: np.ndarray, texts: np.ndarray, k: int) -> np.ndarray:
    import torch
    from sentence_transformers.util import semantic_search

    found = semantic_search(torch.from_numpy(queries), torch.from_numpy(texts), top_k=k)
    return np.array([[hit["corpus_id"] for hit in hits] for hits in found])


def by_numpy(queries: np.ndarray, texts: np.ndarray, k: int) -> np.ndarray:
    similarities = queries @ texts.T
    best = np.argpartition(-similarities, k, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(similarities, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


WAYS: dict[str, Search] = {
    "facetflow": by_facetflow,
    "sentence-transformers": by_semantic_search,
    "numpy (argpartition)": by_numpy,
}


def _forget_peak() -> int | None:
    """Reset the peak memory; return the memory in use, None where the system does not report it."""
    try:
        _REFERENCES.write_text("5")
    except OSError:
        return None
    return _kib("VmRSS")


def _kib(name: str) -> int | None:
    found = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    return int(found[1]) if found else None


if __name__ == "__main__":
    main()
