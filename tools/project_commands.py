"""Helpers for the benchmarks that make tables of a project: its commands, each in a separate process, and cells."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from training.runs import find_encoder, seeds_of

ROOT = Path(__file__).resolve().parents[1]


def facetflow(project: Path, command: Sequence[str]) -> None:
    """Run a command with a private Prefect server, and exit where it fails.

    Args:
        project: the project file.
        command: words of the command line.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run(
        [sys.executable, "-m", "flows.command_line", "--project", str(project), *command],
        env={**environment, "PYTHONPATH": str(ROOT), "PREFECT_API_URL": ""},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        sys.exit(f"facetflow {command[0]} ended with {done.returncode}")


@contextmanager
def working_folder(kept: Path | None) -> Iterator[Path]:
    """Yield a folder that is kept, created if needed, or a temporary one.

    Args:
        kept: the folder to keep; None for a temporary one.
    """
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def build_train_evaluate(project: Path, names: Sequence[str], seeds: int, suite: str | None = None) -> None:
    """Build a project's release, train encoders and score them on the test split, and print how long each took.

    Args:
        project: the project file.
        names: names of its encoders.
        seeds: number of trainings of each.
        suite: suite to score with; all by default.
    """
    for command in (
        ["build"],
        ["train", *names, "--seeds", str(seeds)],
        ["evaluate", *names, "--split", "test", *(["--suite", suite] if suite else [])],
    ):
        started = time.monotonic()
        facetflow(project, command)
        print(f"{command[0]}: {time.monotonic() - started:,.0f} s", flush=True)


def with_whole_paths(text: str, paths: Collection[str], folder: Path) -> str:
    """Return a project file whose paths are absolute, below a folder.

    Args:
        text: of the project file.
        paths: paths as written in it.
        folder: folder that they are relative to.
    """
    for path in paths:
        text = text.replace(f'"{path}"', json.dumps(str(folder.resolve() / path)))
    return text


def as_toml(project: Mapping[str, Any]) -> str:
    """Return a project as TOML.

    Args:
        project: as read from its file; lists of tables become sections, other tables stay in a line.
    """
    sections = {key: value for key, value in project.items() if _is_sections(value)}
    lines = [f"{key} = {_value(value)}" for key, value in project.items() if key not in sections]
    for section, entries in sections.items():
        for entry in entries:
            lines += ["", f"[[{section}]]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def _is_sections(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def suites(runs: Path, name: str, suite: str | None = None) -> list[Mapping[str, Any]]:
    """Return the results of the seeds of an encoder's newest training, in their order: suite → its result.

    Args:
        runs: folder of the project's runs.
        name: of the encoder.
        suite: the only suite that it was scored with, if there was one.
    """
    seeds = seeds_of(find_encoder(runs, name).parent)
    files = (seed / f"metrics{f'-{suite}' if suite else ''}.json" for seed in seeds)
    return [json.loads(file.read_text(encoding="utf-8"))["suites"] for file in files if file.is_file()]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Return a cell of a table: mean ± standard deviation, a single value itself, or a dash for none.

    Args:
        values: of the seeds.
        digits: after the decimal point.
    """
    if not values:
        return "-"
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{deviation}"


def gain(values: Sequence[float], others: Sequence[float]) -> str:
    """Return the gain of values over others, seed by seed, and the p of a paired t test; empty without others.

    Args:
        values: of the seeds.
        others: of the same seeds.
    """
    if len(values) != len(others) or not values:
        return ""
    gains = [value - other for value, other in zip(values, others, strict=True)]
    cell = f"{'' if statistics.mean(gains) < 0 else '+'}{spread(gains)}"
    if len(gains) < 2 or not statistics.stdev(gains):
        return cell
    from scipy.stats import ttest_rel

    return f"{cell}, p = {ttest_rel(values, others).pvalue:.3f}"
