"""What allocator settings cost a worker, and how much memory they save.

    python benchmarks/worker_memory.py                            the sentences of the built-in example, varied
    python benchmarks/worker_memory.py flickr30k/train.tsv.gz     captions (an image, then its captions, tab-separated)
    python benchmarks/worker_memory.py --setting MALLOC_TRIM_THRESHOLD_=65536 --setting MALLOC_ARENA_MAX=1

Runs the four parse and encode stages as a worker does (one shard after the other, not in the main thread, with one
thread of computation) in a process for each setting, alternating between settings, and prints processor time, page
faults and memory of the process, and the ratio of each to unmodified glibc. Processor time includes imports and models,
which are the same for all.
"""

import argparse
import csv
import json
import os
import platform
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import polars as pl
import psutil

from features.core.files import open_text

_SETTINGS = ("MALLOC_TRIM_THRESHOLD_=65536",)
"""Dask's own default, which it recommends so that unused memory is released."""
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)
_EXAMPLE = Path(__file__).parents[1] / "features/corpora/example/pairs.tsv"
_COLUMNS = ("user s", "system s", "both, s", "wall s", "page faults", "peak MiB", "at the end MiB")


def main() -> None:
    arguments = _arguments()
    if arguments.work:
        _work(sys.stdin.read().splitlines(), arguments.shard)
        return
    sentences = _captions(arguments.table) if arguments.table else _varied()
    sentences = sentences[: arguments.sentences]
    print(f"{len(sentences):,} sentences in shards of {arguments.shard}, rounds: {arguments.rounds}")
    print(f"Python {platform.python_version()}, {' '.join(platform.libc_ver())}, load {os.getloadavg()[0]:.1f}\n")
    settings = ["", *(arguments.setting or _SETTINGS)]
    found: dict[str, list[list[float]]] = {setting: [] for setting in settings}
    for _ in range(arguments.rounds):
        for setting in settings:
            found[setting].append(_measure(setting, sentences, arguments.shard))
    width = max(len("glibc left alone"), *map(len, settings)) + 2
    print(" " * width + "".join(f"{column:>16}" for column in _COLUMNS))
    alone = _means(found[""])
    for setting, runs in found.items():
        means = _means(runs)
        print(f"{setting or 'glibc left alone':{width}}" + "".join(f"{value:16,.1f}" for value in means))
        if setting:
            ratios = (value / base for value, base in zip(means, alone, strict=True))
            print(f"{'  ratio':{width}}" + "".join(f"{ratio:15.2f}x" for ratio in ratios))


def _measure(setting: str, sentences: list[str], shard: int) -> list[float]:
    """Run the stages in a process with one setting and return its figures, in the order of the columns."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    chosen = dict(part.split("=", 1) for part in setting.split(",") if part)
    command = [sys.executable, __file__, "--work", "--shard", str(shard)]
    environment = inherited | _ONE_THREAD | chosen | {"PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.run(
        command, input="\n".join(sentences), env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return [float(value) for value in json.loads(run.stdout.splitlines()[-1])]


def _work(sentences: list[str], shard: int) -> None:
    """Run the stages in this process and print its figures."""
    started = time.perf_counter()
    with ThreadPoolExecutor(1) as thread:  # as Dask does
        thread.submit(_stages, sentences, shard).result()
    wall = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    at_the_end = psutil.Process().memory_info().rss / 2**20
    user, system = used.ru_utime, used.ru_stime
    print(json.dumps([user, system, user + system, wall, used.ru_minflt, used.ru_maxrss / 2**10, at_the_end]))


def _stages(sentences: list[str], shard: int) -> None:
    from features.core.types import ignore_rows
    from features.stages.registry import STAGES

    shards = [
        pl.DataFrame({"sentence_id": [str(i) for i in range(start, end)], "text": sentences[start:end]})
        for start, end in ((i, min(i + shard, len(sentences))) for i in range(0, len(sentences), shard))
    ]
    for rows in shards:
        # Loaded at the first shard, as by the task.
        for name in ("amr", "srl", "dependencies", "embeddings"):
            STAGES[name].make(cast("Any", _Inputs(rows)), STAGES[name].settings(), ignore_rows)


class _Inputs:
    def __init__(self, sentences: pl.DataFrame) -> None:
        self._sentences = sentences

    def read(self, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        return self._sentences


def _captions(table: Path) -> list[str]:
    with open_text(table) as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return [caption for row in rows for caption in row[1:]]


def _varied() -> list[str]:
    """Return the example's sentences repeatedly, beginning with a different year in each round."""
    with open_text(_EXAMPLE) as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    sentences = [row[column] for row in rows for column in ("sentence_a", "sentence_b")]
    return [f"In {1900 + year}, {text[0].lower()}{text[1:]}" for year in range(100) for text in sentences]


def _means(runs: list[list[float]]) -> list[float]:
    return [sum(values) / len(values) for values in zip(*runs, strict=True)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", nargs="?", type=Path, help="captions, one image per line: .tsv or .tsv.gz")
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--shard", type=int, default=256, help="sentences per shard")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--setting", action="append", metavar="NAME=VALUE[,NAME=VALUE]", help="environment to compare; may be repeated"
    )
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    for part in ",".join(arguments.setting or ()).split(","):
        if part and "=" not in part:
            parser.error(f"--setting takes NAME=VALUE, and {part!r} has no value")
    return arguments


if __name__ == "__main__":
    main()
