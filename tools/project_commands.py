"""Commands of facetflow on a project, as the benchmarks that make tables run them: each in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def facetflow(project: Path, command: Sequence[str]) -> None:
    """Run a command with a Prefect server of its own, and end this process where it fails.

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
