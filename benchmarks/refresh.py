"""Cost of a small refresh: 80 new sentences in a project that has been built, by part and by process.

    python benchmarks/refresh.py                  96 sentences are built first (not counted), then 80 are added
    python benchmarks/refresh.py --rounds 3       three refreshes, one after the other
    python benchmarks/refresh.py --all-stages     semantic roles and dependency trees too, which an S3BERT does not read

Takes the sentences of the built-in example, each round with a different beginning, so that they are new; the stages are
those that an S3BERT reads, with the parser and the encoder of the project template. Prints the wall-clock time, and the
processor time of each process that the command started, which is more informative on a busy machine.
"""

import argparse
import csv
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import psutil

from features.core.files import open_text
from features.store.store import Store

_PROJECT = """\
name = "refresh"
[[corpora]]
dataset = "pairs"
name = "mine"
files = { train = "pairs.tsv" }
"""
_ALL_STAGES = """\
[srl]
enabled = true
[dependencies]
enabled = true
"""
_EXAMPLE = Path(__file__).parents[1] / "features/corpora/example/pairs.tsv"
_BUILT, _ADDED = 48, 40
"""Pairs, two sentences each."""
_SAMPLE_SECONDS = 0.1


def main() -> None:
    arguments = _arguments()
    with open_text(_EXAMPLE) as lines:
        pairs = [(row["sentence_a"], row["sentence_b"]) for row in csv.DictReader(lines, delimiter="\t")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        further = _ALL_STAGES if arguments.all_stages else ""
        (folder / "facetflow.toml").write_text(_PROJECT + further, encoding="utf-8")
        (folder / "pairs.tsv").write_text("sentence_a\tsentence_b\n", encoding="utf-8")
        _add(folder, pairs[:_BUILT], "")
        _build(folder)
        for number in range(arguments.rounds):
            _add(folder, pairs[:_ADDED], f"In {1900 + number}, ")
            print(f"\nRefresh {number + 1}, Python {platform.python_version()}, cores: {os.cpu_count()}, ", end="")
            print(f"load {os.getloadavg()[0]:.1f}")
            begun = datetime.now(UTC)
            seconds, processor = _build(folder)
            _print(folder, begun, seconds, processor)


def _print(folder: Path, begun: datetime, seconds: float, processor: Counter[str]) -> None:
    record = Store.open(folder / "store").runs()[0]
    if record.state != "done" or record.finished is None:
        sys.exit(f"The build is {record.state}: {record.message}")
    finished = datetime.fromisoformat(record.finished)
    print(f"\n{'wall-clock time':32}{'s':>8}")
    for part, spent in record.wall.items():
        print(f"{'  ' + part:32}{spent:8.1f}")
    print(f"{'end: events, server, processes':32}{seconds - (finished - begun).total_seconds():8.1f}")
    print(f"{'whole command':32}{seconds:8.1f}")
    print(f"\n{'stage, worker time':32}{'s':>8}")
    for stage, spent in record.seconds.items():
        print(f"{'  ' + stage:32}{spent:8.1f}")
    print(f"\n{'processor time':32}{'s':>8}")
    for process, spent in processor.most_common():
        print(f"{'  ' + process:32}{spent:8.1f}")
    print(f"{'all processes':32}{processor.total():8.1f}")


def _build(folder: Path) -> tuple[float, Counter[str]]:
    """Run a build; return its wall-clock seconds, and the processor time of its processes by kind."""
    command = [sys.executable, "-m", "flows.command_line", "build", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    environment = {name: value for name, value in environment.items() if not name.startswith("PREFECT_")}
    used: dict[int, tuple[str, float]] = {}
    begun = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, env=environment) as run:
        flow = psutil.Process(run.pid)
        while run.poll() is None:
            for process in (flow, *_children(flow)):
                try:
                    times = process.cpu_times()
                    known, _ = used.get(process.pid, ("other", 0.0))  # one that has ended shows no command line
                    kind = _kind(process, flow.pid) if known == "other" else known
                    used[process.pid] = kind, times.user + times.system
                except psutil.Error:  # it has just ended
                    continue
            time.sleep(_SAMPLE_SECONDS)
    seconds = time.perf_counter() - begun
    if run.returncode:
        sys.exit("The build failed; see its output above.")
    processor: Counter[str] = Counter()
    for kind, spent in used.values():
        processor[kind] += spent  # type: ignore[assignment]  # typeshed has whole counts only
    return seconds, processor


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _kind(process: psutil.Process, flow: int) -> str:
    if process.pid == flow:
        return "flow"
    line = " ".join(process.cmdline())
    if "flows.server.server_process" in line:
        return "server"
    if "forkserver" in line and process.ppid() == flow:
        return "fork server of the workers"
    return "workers" if "forkserver" in line or "spawn_main" in line else "other"


def _add(folder: Path, pairs: list[tuple[str, str]], beginning: str) -> None:
    with (folder / "pairs.tsv").open("a", encoding="utf-8") as file:
        for pair in pairs:
            texts = (f"{beginning}{text[0].lower() if beginning else text[0]}{text[1:]}" for text in pair)
            file.write("\t".join(texts) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--all-stages", action="store_true", help="semantic roles and dependency trees too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
