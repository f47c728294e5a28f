"""How many pairs a second each metric measures, beside smatch 1.0.4 on the same pairs in the same run.

    python benchmarks/metrics.py                           the STS development pairs, where the reference data lies
    python benchmarks/metrics.py left.amr.gz right.amr.gz  any two files of PENMAN, in pair order

Times are processor time of one core, the best of some runs, everything compiled. The metrics start from rows of the
table `amr`, as the stage does; smatch starts from PENMAN, having no other way in, and is also given without parsing.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core for all

import amr as smatch_amr
import numpy as np
import smatch

from features.graphs.batch import GraphBatch
from features.graphs.penman_files import read_blocks
from features.graphs.table import encode
from features.metrics import ALGORITHM_VERSION, METRICS, LabelVectors
from features.metrics.label_vectors import words_of
from features.metrics.measurement import compare
from features.metrics.metric import Comparison

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "data" / "bamboo" / "sts"
DIMENSIONS = 384  # of all-MiniLM-L6-v2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("left", nargs="?", type=Path, default=REFERENCE / "src.dev.amr.gz")
    parser.add_argument("right", nargs="?", type=Path, default=REFERENCE / "tgt.dev.amr.gz")
    parser.add_argument("--runs", type=int, default=5, help="the best of so many runs is taken")
    parser.add_argument("--smatch-pairs", type=int, default=1_000, help="pairs that smatch 1.0.4 is timed on")
    arguments = parser.parse_args()
    texts = [
        [block.text for block in read_blocks(path) if block.error is None] for path in (arguments.left, arguments.right)
    ]
    n = min(map(len, texts))
    texts = [side[:n] for side in texts]
    rows = encode([str(number) for number in range(2 * n)], texts[0] + texts[1], "benchmark").rows
    graphs = GraphBatch.from_rows(rows)
    sizes = np.diff(graphs.node_offsets)
    print(f"{n} pairs, {np.median(sizes):.0f} nodes a graph in the middle, {sizes.max()} at most")

    words = sorted(words_of([*graphs.concept_names, *graphs.value_names]))
    vectors = LabelVectors(words, np.random.default_rng(0).standard_normal((len(words), DIMENSIONS)).astype(np.float32))
    first = np.arange(n)

    def pairs() -> Comparison:
        return Comparison(GraphBatch.from_rows(rows), first, first + n, vectors)

    started = time.perf_counter()
    compare(Comparison(graphs, first[:2], first[:2] + n, vectors))
    print(f"{time.perf_counter() - started:.1f} s to compile, or to load what was compiled before\n")

    print(f"{'':32}{'pairs/s':>10}{'µs/pair':>10}")
    for name, metric in METRICS.items():
        report(name, best(arguments.runs, lambda metric=metric: metric.statistics(pairs())) / n)
    ours = best(arguments.runs, lambda: compare(pairs())) / n
    report("all fifteen, one pass", ours)
    print(f"\nalgorithm version {ALGORITHM_VERSION}")

    few = min(n, arguments.smatch_pairs)
    alone = best(arguments.runs, lambda: METRICS["smatch"].statistics(pairs())) / n
    whole = best(1, lambda: smatch_scores(texts, few)) / few
    parsing = best(1, lambda: [smatch_amr.AMR.parse_AMR_line(one_line(t)) for side in texts for t in side[:few]]) / few
    decoding = best(arguments.runs, lambda: encode(rows["sentence_id"], texts[0] + texts[1], "benchmark")) / n
    print()
    report("smatch 1.0.4 from PENMAN", whole)
    report("smatch 1.0.4 without parsing", whole - parsing)
    report("smatch here from PENMAN", decoding + alone)
    report("smatch here", alone)
    print(f"\nratio from PENMAN          {whole / (decoding + alone):8.1f}")
    print(f"ratio without parsing      {(whole - parsing) / alone:8.1f}")
    print(f"ratio of all fifteen here to one smatch 1.0.4 {whole / (decoding + ours):8.1f}")


def smatch_scores(texts: list[list[str]], n: int) -> None:
    for left, right in zip(texts[0][:n], texts[1][:n], strict=True):
        smatch.match_triple_dict.clear()
        smatch.get_amr_match(one_line(left), one_line(right))


def one_line(text: str) -> str:
    return "".join(line.strip() for line in text.splitlines())


def best(runs: int, work: Callable[[], object]) -> float:
    """Return the least processor time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def report(name: str, seconds: float) -> None:
    print(f"{name:32}{1 / seconds:10.0f}{seconds * 1e6:10.1f}")


if __name__ == "__main__":
    main()
