"""A training in two processes compared with one process, with the same global batch.

    python benchmarks/processes.py [--texts 384] [--rounds 3] [--layers 6]

An encoder of aspects is trained on generated texts: in one process with one thread, in one with two threads, in two
with one thread each, alternating; each run starts a new process, and start-up time does not count. Two cores of a
machine may be two threads of one, so two independent trainings are also run at once: together they show what two
processes could reach if they never waited for each other.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from training.data.labelled_texts import LabelledTexts

ALONE = "one process, one thread"
WAYS: dict[str, dict[str, Any]] = {
    ALONE: {"threads": 1},
    "one process, two threads": {"threads": 2},
    "two processes, one thread each": {"threads": 1, "processes": 2},
}
APART = "two trainings at once, one thread each"
WORDS = ("a", "bank", "makes", "steel", "cars", "ships", "in", "Japan", "Norway", "for", "people", "who", "travel")


def main() -> None:
    """Train in all ways, alternating, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6, help="number of tuned layers, of six")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    speeds: dict[str, list[float]] = {name: [] for name in (*WAYS, APART)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder / "texts.parquet", options.texts)
        for turn in range(options.rounds):
            for number, (way, loop) in enumerate(WAYS.items()):
                speeds[way].append(sum(train(folder, [f"{turn}-{number}"], loop, options.layers)))
            both = [f"{turn}-apart-{number}" for number in range(2)]
            speeds[APART].append(sum(train(folder, both, WAYS[ALONE], options.layers)))
    alone = float(np.median(speeds[ALONE]))
    print(f"{'':42}{'triplets/s':>12}{'ratio':>8}")
    for way, found in speeds.items():
        print(f"{way:42}{np.median(found):>12.1f}{np.median(found) / alone:>7.2f}x")


def write_texts(path: Path, count: int) -> None:
    """Write texts of 40 to 80 words, each with one of eight labels; every fourth is in the split dev."""
    random = np.random.default_rng(0)
    rows = [
        {
            "text": " ".join(random.choice(WORDS, size=int(random.integers(40, 80)))),
            "corpus": "made",
            "split": "dev" if number % 4 == 0 else "train",
            "aspect": "label",
            "label": str(random.integers(8)),
        }
        for number in range(count)
    ]
    LabelledTexts.from_table(pl.DataFrame(rows), source={}).export(path)


def train(folder: Path, names: list[str], loop: dict[str, Any], layers: int) -> list[float]:
    """Train one encoder per name, all at once; return the speed of each, in triplets per second."""
    started = []
    for name in names:
        job = {
            "source": {"texts": str(folder / "texts.parquet")},
            "settings": {
                "kind": "aspect",
                "name": "aspects",
                "aspects": ["label"],
                "layers_tuned": layers,
                "loop": {"epochs": 2, "batch_size": 32, **loop},
            },
            "output": str(folder / name),
        }
        (folder / f"{name}.json").write_text(json.dumps(job), encoding="utf-8")
        command = [sys.executable, "-m", "training.train", "--settings", str(folder / f"{name}.json")]
        started.append(subprocess.Popen([*command, "--quiet"], cwd=Path(__file__).parents[1]))
    if any(process.wait() for process in started):
        sys.exit("A training failed.")
    return [json.loads((folder / name / "encoder/training.json").read_text())["triplets_per_second"] for name in names]


if __name__ == "__main__":
    main()
