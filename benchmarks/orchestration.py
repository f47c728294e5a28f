"""Cost of orchestration: the share of a build's wall-clock time in which workers do not work.

    python benchmarks/orchestration.py                            shards of 5, 10 and 30 s, ten for each of four workers
    python benchmarks/orchestration.py --seconds 30 --workers 2

The work is artificial: a metric of the project that sleeps, so that it takes the same time on any machine and leaves
the processors to the orchestration. A build is measured from the start of its command to its end (server, cluster,
plan, commits, publication) and from the first shard of the stage to its last.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from features.store.store import Store

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))

from generated import write_project  # noqa: E402 (it is in the tools folder)

_METRIC = """\
import time

from features.metrics.own import own_metric


@own_metric(reads="sentences", symmetric=False)  # otherwise the first pairs are measured twice to check symmetry
def work(left, right):
    \"\"\"Work of {seconds} s.\"\"\"
    time.sleep({seconds})
    return 1.0
"""


def main() -> None:
    arguments = _arguments()
    print(f"{arguments.workers} workers, {arguments.shards} shards each; share of the workers' time without work\n")
    print(f"{'a shard':>10}{'work':>10}{'build':>10}{'share':>9}{'stage':>10}{'share':>9}")
    for seconds in arguments.seconds:
        with tempfile.TemporaryDirectory() as name:
            _measure(Path(name), seconds, arguments.workers, arguments.shards)


def _measure(folder: Path, seconds: float, workers: int, each: int) -> None:
    """Build a project whose shards take some seconds, and print a line."""
    # A row of the file gives two pairs, one in each direction.
    write_project(
        folder,
        workers * each,
        name="work",
        sentences_per_shard=10_000,
        pairs_per_shard=2,
        workers=workers,
        more='[metrics]\nown = ["work.py"]',
    )
    (folder / "work.py").write_text(_METRIC.format(seconds=seconds / 2), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run(
        [sys.executable, "-m", "flows.command_line", "build", "--quiet"],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), "PREFECT_API_URL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"The build failed: {done.stderr}")
    record = Store.open(folder / "store").runs()[0]
    work = record.made["metrics"] * seconds / workers
    total, stage = record.wall["total"], record.spans["metrics"]
    shares = [f"{spent:>8.1f} s{1 - work / spent:>9.1%}" for spent in (total, stage)]
    print(f"{seconds:>8.0f} s{work:>8.0f} s{shares[0]}{shares[1]}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[5.0, 10.0, 30.0], help="of a shard")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--shards", type=int, default=10, help="of each worker")
    return parser.parse_args()


if __name__ == "__main__":
    main()
