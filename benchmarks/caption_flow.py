"""One build over real captions: AMR, dependencies, semantic roles and metrics, from plain text.

    python benchmarks/caption_flow.py                             the pairs of the built-in example
    python benchmarks/caption_flow.py flickr30k/train.tsv.gz      20,000 captions, two workers
    python benchmarks/caption_flow.py flickr30k/train.tsv.gz --s3    once more with the store in S3, as moto plays it

Takes the first images of a caption set (an image, then its captions, tab-separated, a header line), builds them with
`facetflow build` in a separate folder, and prints the time by stage, the rejects by code and the memory of the
workers. Any two captions of an image are a pair, so five captions make ten. With `--s3` both stores must hold the same
rows, and the ratio of their times is printed.
"""

import argparse
import csv
import gzip
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
import psutil

from features.core.files import open_text
from features.stages.registry import TABLES
from features.store.runs import RunRecord
from features.store.store import Store

sys.path.append(str(Path(__file__).parents[1] / "tools"))

from faulty_s3 import CREDENTIALS, faulty_s3

_PROJECT = """\
name = "captions"
store = "{store}"
[[corpora]]
{corpus}
negatives = []
[ingest]
sentences_per_shard = {sentences_per_shard}
[dependencies]
enabled = true
[srl]
enabled = true
[embeddings]
enabled = false
[cluster]
{cluster}
"""
_CAPTIONS = 'dataset = "flickr30k"\nfiles = { train = "captions.tsv.gz" }'
_EXAMPLE = 'dataset = "example"'
_SAMPLE_SECONDS = 0.5


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = _EXAMPLE
        if arguments.table is not None:
            corpus = _CAPTIONS
            images, captions = _cut(arguments.table, folder / "captions.tsv.gz", arguments.captions)
            print(f"{captions:,} captions of {images:,} images")
        print(f"workers: {arguments.workers}, cores: {os.cpu_count()},")
        print(f"Python {platform.python_version()}, {platform.machine()}, load {os.getloadavg()[0]:.1f}\n")
        cluster = f"address = {arguments.address!r}" if arguments.address else f"workers = {arguments.workers}"
        settings = {
            "corpus": corpus,
            "cluster": cluster,
            "workers": arguments.workers,
            "sentences_per_shard": arguments.sentences_per_shard,
        }
        store, seconds = _timed(folder, str(folder / "store"), settings)
        if not arguments.s3:
            return
        os.environ |= CREDENTIALS
        with faulty_s3() as bucket:
            other, longer = _timed(folder, bucket.url(), settings)
            of_server = bucket.seconds()
            different = [name for name in TABLES if not _rows(store, name).equals(_rows(other, name))]
        rows = f"OTHER ROWS in {', '.join(different)}" if different else "the same rows"
        print(f"\nin S3: {longer / seconds:.2f} times as long, {rows}; moto took {of_server:.0f} s of the cores")
        sys.exit(bool(different))


def _timed(folder: Path, location: str, settings: dict[str, Any]) -> tuple[Store, float]:
    """Build into a store that is not there yet, print what that cost, and return the store and the seconds."""
    project = _PROJECT.format(store=location, **settings)
    (folder / "facetflow.toml").write_text(project, encoding="utf-8")
    begun = time.perf_counter()
    code, memory = _build(folder)
    seconds = time.perf_counter() - begun
    if code not in {0, 2}:
        sys.exit("The build failed; see its output above.")
    store = Store.open(location)
    _print(store, store.runs()[0], seconds, memory[: settings["workers"]])
    return store, seconds


def _rows(store: Store, table: str) -> pl.DataFrame:
    """Return the rows of a table in the order of their keys."""
    return store.read(table, with_shard=True).sort("shard", next(iter(TABLES[table])))


def _print(store: Store, record: RunRecord, seconds: float, memory: list[int]) -> None:
    rows = {table: store.scan(table).select(pl.len()).collect().item() for table in ("sentences", "pairs")}
    print(f"{rows['sentences']:,} sentences, {rows['pairs']:,} pairs: {seconds:.0f} s for the whole command\n")
    print(f"{'':16}{'workers, s':>12}{'rows a worker-second':>22}")
    for stage, spent in record.seconds.items():
        n = rows["pairs" if stage == "metrics" else "sentences"]
        print(f"{stage:16}{spent:12.1f}{n / max(spent, 1e-9):22,.0f}")
    outside = f"{record.outside:.0%}" if record.outside is not None else "unknown"
    print(f"\noutside of stages: {outside} of the workers' time")
    print("wall-clock: " + ", ".join(f"{part} {spent:.1f} s" for part, spent in record.wall.items()))
    print("largest processes: " + ", ".join(f"{size / 2**20:,.0f} MiB" for size in memory))
    rejects = store.read("rejects")
    print(f"rejects: {rejects.height}")
    for code, count in rejects["code"].value_counts(sort=True).iter_rows():
        print(f"  {code}: {count}")


def _build(folder: Path) -> tuple[int, list[int]]:
    """Run the build; return its exit code, and the peak memory of its processes, largest first."""
    command = [sys.executable, "-m", "flows.command_line", "build"]
    peaks: dict[int, int] = {}
    with subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}) as run:
        process = psutil.Process(run.pid)
        while run.poll() is None:
            for child in process.children(recursive=True):
                try:
                    peaks[child.pid] = max(peaks.get(child.pid, 0), child.memory_info().rss)
                except psutil.NoSuchProcess:
                    continue
            time.sleep(_SAMPLE_SECONDS)
    return run.returncode, sorted(peaks.values(), reverse=True)


def _cut(source: Path, target: Path, captions: int) -> tuple[int, int]:
    """Write the first images, up to a number of captions; return the numbers of images and captions written."""
    images = written = 0
    with open_text(source) as lines, gzip.open(target, "wt", encoding="utf-8") as file:
        for number, row in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)):
            if number and written >= captions:
                break
            file.write("\t".join(row) + "\n")
            if number:
                images, written = images + 1, written + len(row) - 1
    return images, written


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", nargs="?", type=Path, help="Flickr30k captions, one image per line: .tsv or .tsv.gz")
    parser.add_argument("--captions", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--address", help="of a Dask scheduler, whose workers are used instead of local ones")
    parser.add_argument("--sentences-per-shard", type=int, default=4096)
    parser.add_argument("--s3", action="store_true", help="build once more with the store in an object storage")
    return parser.parse_args()


if __name__ == "__main__":
    main()
