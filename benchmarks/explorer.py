"""The explorer: seconds from the command to its first page, and of a pair once models are loaded.

    python benchmarks/explorer.py [--pairs 5]

Runs `facetflow explore` in an empty folder, with the encoder that comes with facetflow. Wall seconds, and processor
seconds of its process: for the first page those of the thread that answers, since models are loaded beside it. A pair
is explained with both graphs parsed and its words shaded; each pair is new.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx

_TICKS = os.sysconf("SC_CLK_TCK")
NAMES = ("boy", "doctor", "lawyer", "teacher", "girl", "nurse", "pilot", "farmer", "baker", "judge")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    count = parser.parse_args().pairs
    command = [sys.executable, "-m", "flows.command_line", "explore", "--no-browser"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                address = process.stdout.readline().strip()
                with httpx.Client(timeout=600, follow_redirects=True, trust_env=False) as client:
                    client.get(address).raise_for_status()
                    wall, own = time.perf_counter() - begun, processor(process.pid, f"task/{process.pid}/stat")
                    print(f"first page: {wall:.2f} s wall, {own:.2f} s processor (main thread)")
                    measure(client, address.split("/?")[0], process.pid, count)
            finally:
                process.terminate()


def measure(client: httpx.Client, root: str, pid: int, count: int) -> None:
    walls, processors = [], []
    for n in range(count + 1):
        a, b = NAMES[n % len(NAMES)], NAMES[(n + 3) % len(NAMES)]
        query = {"a": f"The {a} saw the {b} in town.", "b": f"The {b} saw the {a} in town.", "format": "json"}
        wall, used = time.perf_counter(), processor(pid)
        client.get(f"{root}/pair", params=query).raise_for_status()
        walls.append(time.perf_counter() - wall)
        processors.append(processor(pid) - used)
    print(f"first pair: {walls[0]:.2f} s wall, {processors[0]:.2f} s processor, models being loaded")
    print(f"a pair then: {median(walls[1:]):.2f} s wall, {median(processors[1:]):.2f} s processor (median of {count})")


def processor(pid: int, file: str = "stat") -> float:
    """Return the processor seconds of a process, or of one of its threads."""
    numbers = (Path("/proc") / str(pid) / file).read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / _TICKS


if __name__ == "__main__":
    main()
