"""Processor time of commands on little data, most of which is the time to start: imports, models, compiled metrics.

    python benchmarks/start_up.py                 the best of five runs of each command
    python benchmarks/start_up.py --rounds 1      a first look

Builds and trains two projects first, which is not counted: the built-in example, with facets, and a classifier of pairs
of kind rgcn, which parses what it predicts. Then prints user and system seconds of each command with all processes that
it starts; these depend less on what else the machine does than wall-clock time.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

_CLASSIFIER = """\
name = "classifier"
[[corpora]]
dataset = "pairs"
name = "mine"
files = { train = "pairs.tsv" }
draw = { dev = 0.1, test = 0.1 }
negatives = []
[[encoders]]
name = "syntax"
kind = "rgcn"
"""
_EXAMPLE = Path(__file__).parents[1] / "features/corpora/example/pairs.tsv"
_PREDICTED, _SEARCHED = 15, 4
_COMMANDS = {
    "status": ("example", "status"),
    "plan": ("example", "plan"),
    "explain, in any folder": (".", "explain", "two cats look", "a cat looks"),
    "explain, in a project": ("example", "explain", "two cats look", "a cat looks"),
    f"search, among {_SEARCHED} lines": ("example", "search", "a cat looks", "--among", "../{round}.txt"),
    f"predict, {_PREDICTED} pairs": ("classifier", "predict", "../{round}.tsv", "-o", "labels.tsv"),
}
"""Folder and words of each command; files of each round have sentences of their own, whose vectors are not kept yet."""


def main() -> None:
    """Make both projects, run each command, and print its best processor time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command (default: 5)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _make_projects(root, rounds)
        for name, (where, *words) in _COMMANDS.items():
            best = min(_seconds(root / where, [word.format(round=n) for word in words]) for n in range(rounds))
            print(f"{best:6.2f} s  {name}", flush=True)


def _make_projects(root: Path, rounds: int) -> None:
    _seconds(root, ["new", "example", "--example"])
    (root / "classifier").mkdir()
    (root / "classifier/facetflow.toml").write_text(_CLASSIFIER)
    with _EXAMPLE.open() as lines:
        pairs = [(row["sentence_a"], row["sentence_b"]) for row in csv.DictReader(lines, delimiter="\t")]
    rows = [f"{a}\t{b}\t{number % 2}" for number, (a, b) in enumerate(pairs)]
    header = "sentence_a\tsentence_b\tlabel"
    (root / "classifier/pairs.tsv").write_text("\n".join([header, *rows, ""]))
    for number in range(rounds):
        asked = [f"On day {number}, {row}" for row in rows[:_PREDICTED]]
        (root / f"{number}.tsv").write_text("\n".join([header, *asked, ""]))
        (root / f"{number}.txt").write_text("".join(f"On day {number}, {a}\n" for a, _ in pairs[:_SEARCHED]))
    for project in ("example", "classifier"):
        for command in ("build", "train"):
            _seconds(root / project, [command])


def _seconds(folder: Path, words: list[str]) -> float:
    """Run a command; return the processor time of its processes."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "flows.command_line", *words]
    # As installed: modules are compiled once.
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"facetflow {' '.join(words)}: {done.stderr}")
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


if __name__ == "__main__":
    main()
