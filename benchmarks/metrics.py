"""Speed of the metric engine compared with its peers, on the same pairs in the same run.

    python benchmarks/metrics.py                           the built-in example, 16 times over
    python benchmarks/metrics.py left.amr.gz right.amr.gz  any two files of PENMAN, in pair order

Times are processor time of one core, the best of some runs, with everything compiled. The metrics start from rows of
the table `amr`, as the stage does ("from arrays"), or from PENMAN, as the peers do ("from text"). Peers that are not
installed are skipped: `pip install smatchpp==1.8.0 mip==2.0.0` adds smatchpp (GPL) and its ILP solver.
"""

import argparse
import os
import platform
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core for all
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from metric_engine.clock import best, head, row
from metric_engine.inputs import Pairs, example_pairs, generated_pairs, read_pairs
from metric_engine.peers import peers
from metric_engine.processes import dask_speed, peak_memory

from features.graphs.batch import encode
from features.metrics.alignment.solve import best_alignments
from features.metrics.measurement import compare
from features.metrics.registry import ALGORITHM_VERSION, METRICS
from features.metrics.triples import TRIPLES, triples_of

SIZES = (("1 to 8 nodes", 1, 8), ("9 to 16", 9, 16), ("17 to 32", 17, 32), ("33 and more", 33, 10**6))
GROWTH = ((5, 400), (10, 400), (20, 200), (40, 50), (80, 10), (160, 5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("left", nargs="?", type=Path)
    parser.add_argument("right", nargs="?", type=Path)
    parser.add_argument(
        "--shift", type=int, default=0, help="pair with the right graph this many places further on: unrelated pairs"
    )
    parser.add_argument("--runs", type=int, default=5, help="number of runs, of which the best counts")
    parser.add_argument("--peer-pairs", type=int, default=2_000, help="pairs of each size that peers are timed on")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="a section; may be given again")
    arguments = parser.parse_args()
    if (arguments.left is None) != (arguments.right is None):
        parser.error("give two files, or none for the built-in example")
    if arguments.left is None:
        pairs, what = example_pairs(), "the built-in example, 16 times over"
    else:
        pairs = read_pairs(arguments.left, arguments.right, arguments.shift)
        what = f"{arguments.left.name} and {arguments.right.name}"
    sizes = pairs.sizes()
    compare(next(pairs.comparison().parts(16)))  # compiles every kernel, or loads it from the cache
    print(f"{what}: {len(pairs)} pairs, larger graph: {np.median(sizes):.0f}")
    print(f"nodes in the middle, {sizes.max()} at most. Python {platform.python_version()}, {platform.machine()},")
    print(f"{os.cpu_count()} cores; algorithm version {ALGORITHM_VERSION}")
    for name in arguments.only or SECTIONS:
        SECTIONS[name](pairs, arguments)


def each_metric(pairs: Pairs, arguments: argparse.Namespace) -> None:
    """Print the time of each metric alone, including reading the graphs, and of all in one pass."""
    head("metric, from arrays, one core")
    for name, metric in METRICS.items():
        row(name, best(arguments.runs, lambda metric=metric: metric.statistics(pairs.comparison())) / len(pairs))
    row("all fifteen, one pass", best(arguments.runs, lambda: compare(pairs.comparison())) / len(pairs))


def beside_peers(pairs: Pairs, arguments: argparse.Namespace) -> None:
    """Print Smatch by facetflow and by the peers, by size of the larger graph."""
    sizes, smatch = pairs.sizes(), METRICS["smatch"]
    for title, least, most in (*SIZES, ("all sizes", 1, 10**6)):
        chosen = np.flatnonzero((sizes >= least) & (sizes <= most))[: arguments.peer_pairs]
        if not len(chosen):
            continue
        some = pairs.some(chosen)
        n = len(some)
        runs = max(arguments.runs, 500 // n)  # the fewer the pairs, the noisier a run
        arrays = best(runs, lambda some=some: smatch.statistics(some.comparison())) / n
        ids = [str(graph) for graph in range(2 * n)]
        decoding = best(arguments.runs, lambda some=some, ids=ids: encode(ids, some.texts, "benchmark")) / n
        head(f"Smatch, {title}: {n} pairs")
        row("here, from arrays", arrays)
        row("here, from text", arrays + decoding)
        ours = smatch.number(smatch.statistics(some.comparison()))
        for peer in peers():
            if peer.score is None:
                print(f"{peer.name:36}{'absent':>12}; {peer.missing}")
                continue
            found: list[float] = []
            texts = list(zip(some.texts[:n], some.texts[n:], strict=True))
            spent = best(1, lambda p=peer, t=texts, f=found: f.extend(p.score(*pair) for pair in t)) / n
            note = f"{spent / arrays:,.0f}x, from text {spent / (arrays + decoding):,.0f}x"
            if peer.same_triples:
                note += f"; below the optimum in {np.mean(np.array(found) < ours - 0.001):.1%} of the pairs"
            row(peer.name, spent, note)


def proofs(pairs: Pairs, arguments: argparse.Namespace) -> None:
    """Print what proves the alignments optimal, and how fast, with the triples given."""
    titles = ("start", "bound", "search", "open")
    print(f"\n{'optimum proven by':36}" + "".join(f"{title:>9}" for title in titles) + f"{'pairs/s':>12}")
    comparison = pairs.comparison()
    for name in TRIPLES:
        triples = triples_of(name, comparison.readings)
        found = best_alignments(triples, comparison.first, comparison.second)
        spent = best(
            arguments.runs, lambda triples=triples: best_alignments(triples, comparison.first, comparison.second)
        )
        shares = np.bincount(found.closed_by, minlength=4) / len(pairs)
        print(f"{name:36}" + "".join(f"{share:9.2%}" for share in shares) + f"{len(pairs) / spent:12,.0f}")


def growth(pairs: Pairs, arguments: argparse.Namespace) -> None:
    """Print how time grows with the number of nodes, on generated pairs that differ in a fifth."""
    print(
        f"\n{'generated pairs':20}"
        + "".join(f"{name:>16}" for name in ("smatch", "unlabeled", "wlk", "wwlk", "proven"))
    )
    for nodes, n in GROWTH:
        some = generated_pairs(n, nodes)
        comparison = some.comparison()
        times = [
            best(1, lambda m=METRICS[m], c=comparison: m.statistics(c)) / n
            for m in ("smatch", "unlabeled", "wlk", "wwlk")
        ]
        proven = [METRICS[m].proof(METRICS[m].statistics(comparison)).mean() for m in ("smatch", "unlabeled")]
        line = "".join(f"{seconds * 1e6:13,.0f} µs" for seconds in times)
        print(f"{nodes:4} nodes, {n:3} pairs{line}{proven[0]:10.0%}, {proven[1]:.0%}")


def cores(pairs: Pairs, arguments: argparse.Namespace) -> None:
    """Print the speed of one and of two Dask workers on shards from files."""
    try:
        speeds = [dask_speed(pairs, n_workers) for n_workers in (1, 2)]
    except ImportError:
        print("\ntwo cores: left out, Dask is not installed; pip install 'facetflow[flows]'")
        return
    print("\nDask workers, shards of 8,192 pairs from files, wall-clock")
    print(f"{'one':36}{speeds[0]:12,.0f} pairs/s")
    print(f"{'two':36}{speeds[1]:12,.0f} pairs/s, {speeds[1] / speeds[0]:.2f}x")


def memory(pairs: Pairs, arguments: argparse.Namespace) -> None:
    """Print the peak memory of a process that measures more and more pairs."""
    print("\nall fifteen, peak memory of the process")
    for n_pairs in (4_000, 40_000, 120_000):
        print(f"{n_pairs:8,} pairs{peak_memory(pairs, n_pairs):12,.0f} MiB")


SECTIONS = {
    "metrics": each_metric,
    "peers": beside_peers,
    "proofs": proofs,
    "growth": growth,
    "cores": cores,
    "memory": memory,
}

if __name__ == "__main__":
    main()
