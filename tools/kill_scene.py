"""Projects whose processes are observed and killed; see `random_kills.py`."""

import json
import random
import subprocess
import sys
import time
import uuid
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from faulty_s3 import S3

from features.core.errors import FacetflowError
from features.store.locations import storage_at
from features.store.store import Store

MARK = "FACETFLOW_KILLS_MARK"
EVERYTHING = "everything at once"


PATIENCE = 1200.0
"""Seconds without anything written after which something that has not finished counts as hanging."""
PHASES = ("start", "ingest", "cluster", "stages", "commit", "published")
LEARNING = ("training", "evaluation")
KINDS = {
    "flows.server.server_process": "Prefect server",
    "training.train": "training",
    "training.evaluation.run": "evaluation",
    "prefect worker start": "worker of `up`",
}
"""Part of a process's command line → kind of the process."""


@dataclass(frozen=True)
class Kill:
    """One kill, as printed."""

    number: int
    kind: str
    phase: str
    outcome: str


@dataclass
class Report:
    """What has happened so far."""

    wanted: int
    kills: list[Kill] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def killed(self, kind: str, phase: str, outcome: str) -> None:
        """Record a kill and print its line."""
        kill = Kill(len(self.kills) + 1, kind, phase, outcome)
        self.kills.append(kill)
        print(f"{kill.number:>4}  {kill.kind:<34}{kill.phase:<14}{kill.outcome}", flush=True)

    def violated(self, what: str) -> None:
        """Record a violation and print it."""
        self.violations.append(what)
        print(f"      VIOLATION: {what}", flush=True)


class Scene:
    """A project, the processes that work on it, and what can be observed of them from outside.

    Args:
        folder: folder for everything; the project is in `<folder>/<name>`.
        name: of the project.
        environment: environment variables of all commands.
        bucket: where its store is; None for a folder of the project.
    """

    def __init__(self, folder: Path, name: str, environment: dict[str, str], bucket: S3 | None = None) -> None:
        self.name = name
        self.folder = folder / name
        self.bucket = bucket
        self.location = bucket.url(name) if bucket else str(self.folder / "store")
        self.mark = uuid.uuid4().hex
        self.environment = {**environment, MARK: self.mark}
        self.log = folder / f"{name}.log"
        self.releases = 0

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start `facetflow WORDS`; its output goes to the log of the scene."""
        with self.log.open("ab") as log:
            log.write(f"\n$ facetflow {' '.join(words)}\n".encode())
            log.flush()
            return subprocess.Popen(
                [sys.executable, "-m", "flows.command_line", *words],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def run(self, *words: str) -> str:
        """Run `facetflow WORDS` to completion and return its output."""
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.start(*words) as process:
            process.wait(PATIENCE)
        return self.log.read_bytes()[before:].decode(errors="replace")

    def processes(self) -> dict[psutil.Process, str]:
        """Return the running processes with their kinds."""
        found = {}
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found[process] = _kind(process)
            except psutil.Error:
                continue
        return found

    def hangs(self) -> bool:
        """Return whether nothing of the project has been written for long, other than the heartbeat of a build."""
        written = self._written("*.parquet")
        for file in (self.log, *self.folder.rglob("*")):
            with suppress(FileNotFoundError):  # temporary
                written = max(written, file.stat().st_mtime if file.name != "build.lock" else 0.0)
        return time.time() - written > PATIENCE

    def store(self) -> Store | None:
        """Return the store, None while there is none."""
        try:
            return Store.open(self.location)
        except FacetflowError:
            return None

    def phase(self) -> str:
        """Return the current phase, as far as files show it."""
        newest = self._newest_run()
        if newest.get("state") != "running" or not _alive(str(newest.get("process", ""))):
            return "start"
        now = time.time()
        build = self.folder / "runs" / "builds" / newest["run_id"]
        if now - self._written("releases/*.json") < 1.0:
            return "published"
        if now - self._written("tables/*/_delta_log/*.json") < 0.2:
            return "commit"
        return "ingest" if not build.exists() else "stages" if list(build.glob("*.log")) else "cluster"

    def _newest_run(self) -> dict[str, Any]:
        """Return the record of the newest build, nothing if there is none."""
        storage = storage_at(self.location)
        names = [name for name in storage.names("runs") if name.startswith("2")]
        record: dict[str, Any] = json.loads(storage.read(f"runs/{names[-1]}")) if names else {}
        return record

    def _written(self, pattern: str) -> float:
        """Return when an object of the store was last written, in seconds since 1970; 0 if none has such a name."""
        if self.bucket:
            return self.bucket.written(f"*/{self.name}/{pattern}")
        return max((file.stat().st_mtime for file in Path(self.location).glob(pattern)), default=0.0)


class Killer:
    """Kills one process after the other, each in a phase drawn beforehand.

    Args:
        scene: scene of the processes.
        draw: the random generator.
        report: what has happened so far.
        phases: phases that may be drawn.
        all_at_once: whether everything may be killed at once.
    """

    def __init__(
        self, scene: Scene, draw: random.Random, report: Report, phases: tuple[str, ...], *, all_at_once: bool
    ) -> None:
        self.scene, self.draw, self.report = scene, draw, report
        self.phases, self.all_at_once = phases, all_at_once
        self.left = 0
        self._await_next()

    def _await_next(self) -> None:
        self.target = self.draw.choice(self.phases)
        self.seen: float | None = None
        self.delay = self.draw.random() ** 2 * (0.15 if self.target in PHASES[4:] else 1.5)
        self.impatient = time.monotonic() + 240

    def look(self) -> bool:
        """Kill if the moment has come; return whether it did."""
        if not self.left:
            return False
        phase = self._phase()
        if phase == self.target and self.seen is None:
            self.seen = time.monotonic()
        due = self.seen is not None and time.monotonic() - self.seen >= self.delay
        if not due and time.monotonic() < self.impatient:
            return False
        running = {process: kind for process, kind in self.scene.processes().items() if kind}
        kinds = sorted(set(running.values()))
        if not kinds:
            self._await_next()
            return False
        if self.all_at_once and len(running) > 3 and self.draw.random() < 0.08:
            kind, victims = EVERYTHING, list(running)
        else:
            kind = min(kinds, key=lambda kind: (self.report.kinds[kind], self.draw.random()))
            victims = [self.draw.choice([process for process, its in running.items() if its == kind])]
        phase = self._phase()
        for victim in victims:
            try:
                victim.kill()
            except psutil.NoSuchProcess:
                continue
        self.report.kinds[kind] += 1
        self.report.killed(kind, phase, f"{self.scene.name}, round {self.scene.releases + 1}")
        self.left -= 1
        self._await_next()
        return True

    def _phase(self) -> str:
        if self.target in LEARNING:
            kinds = set(self.scene.processes().values())
            return next((phase for phase in LEARNING if phase in kinds), "start")
        return self.scene.phase()


def _kind(process: psutil.Process) -> str:
    """Return the kind of a process; nothing for one that only watches another."""
    words = process.cmdline()
    line = " ".join(words)
    for part, kind in KINDS.items():
        if part in line:
            return kind
    if "forkserver" in line:
        parent = process.parent()
        copy = parent is not None and "forkserver" in " ".join(parent.cmdline())
        return "Dask worker" if copy else "fork server of the workers"
    if "flows.command_line" in line:
        return f"`facetflow {words[words.index('flows.command_line') + 1]}`"
    if "PREFECT__FLOW_RUN_ID" in process.environ() and "prefect" in line:
        return "flow run (scheduler, nannies)"
    return ""


def _alive(process: str) -> bool:
    number = process.rpartition(":")[2].partition("-")[0]  # host:4711-9f3c1a
    return number.isdigit() and psutil.pid_exists(int(number))


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file, nothing where it is missing or incomplete."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def last_line(said: str) -> str:
    """Return the last line of a command's output."""
    return next((line for line in reversed(said.splitlines()) if line.strip()), "nothing")
