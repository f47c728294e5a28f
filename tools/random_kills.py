"""Kill processes of builds, trainings and evaluations at random moments, and compare with what was left undisturbed.

    python tools/random_kills.py --kills 100 --seed 1        about half an hour on two idle cores
    python tools/random_kills.py --kills 6 --by-hand         builds only, each with a private Prefect server

By turns two projects grow and are brought up to date: one by commands that are typed again when they fail, with a
Prefect server of their own; one under `facetflow up`, where builds are runs of the deployment, and training and
evaluation follow by themselves. SIGKILL goes to any process that was started (command, flow run, Prefect server, worker
of either kind, what workers are copied from, training, evaluation, `up` itself, everything at once) in a phase that was
drawn before. At the end both stores are compared with one that was built without a kill, row for row.

Exit code 1 when a row is lost or doubled, a release is announced or trained on not exactly once, or anything is left.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from features.store.schemas import TABLES
from generated import write_backbone, write_project

from features.errors import FacetflowError
from features.store.store import Store

MARK = "FACETFLOW_KILLS_MARK"
ROOT = Path(__file__).resolve().parents[1]
GROWTH = 24
"""Pairs that a project grows by in each round."""
PATIENCE = 1200.0
"""Seconds after which something that does not come to its end counts as hanging."""
PHASES = ("start", "ingest", "cluster", "stages", "commit", "publication", "announcement", "end")
LEARNING = ("training", "evaluation")
KINDS = {
    "flows.server_process": "Prefect server",
    "training.encoders.s3bert.train": "training",
    "training.evaluation.run": "evaluation",
    "prefect worker start": "worker of `up`",
}
"""What is in the command line of a process, and what that is."""
EVERYTHING = "everything at once"


@dataclass(frozen=True)
class Kill:
    """One kill, as it is printed."""

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
        """Note a kill and print its line."""
        kill = Kill(len(self.kills) + 1, kind, phase, outcome)
        self.kills.append(kill)
        print(f"{kill.number:>4}  {kill.kind:<34}{kill.phase:<14}{kill.outcome}", flush=True)

    def violated(self, what: str) -> None:
        """Note that something does not hold."""
        self.violations.append(what)
        print(f"      VIOLATION: {what}", flush=True)


class Scene:
    """A project, the processes that work on it, and what can be seen of them from outside.

    Args:
        folder: of everything; the project is in `<folder>/<name>`.
        name: of the project.
        environment: of all commands.
    """

    def __init__(self, folder: Path, name: str, environment: dict[str, str]) -> None:
        self.name = name
        self.folder = folder / name
        self.mark = uuid.uuid4().hex
        self.environment = {**environment, MARK: self.mark}
        self.log = folder / f"{name}.log"
        self.releases = 0

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start `facetflow WORDS`; what it says goes to the log of the scene."""
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
        """Run `facetflow WORDS` to its end and return what it said."""
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.start(*words) as process:
            process.wait(PATIENCE)
        return self.log.read_bytes()[before:].decode(errors="replace")

    def processes(self) -> dict[psutil.Process, str]:
        """Return the processes that run, and what each of them is."""
        found = {}
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found[process] = _kind(process)
            except psutil.Error:
                continue
        return found

    def store(self) -> Store | None:
        """Return the store, None while there is none."""
        try:
            return Store.open(self.folder / "store")
        except FacetflowError:
            return None

    def phase(self) -> str:
        """Return what is being done, as far as files tell."""
        store = self.folder / "store"
        runs = sorted((store / "runs").glob("2*.json"))
        newest = _json(runs[-1]) if runs else {}
        if newest.get("state") != "running" or not _alive(str(newest.get("process", ""))):
            return "start"
        now = time.time()
        logs = [file.stat().st_mtime for file in store.glob("tables/*/_delta_log/*.json")]
        build = self.folder / "runs" / "builds" / runs[-1].stem
        release, announced = self._newest_release()
        if announced == "pending":
            return "announcement" if release else "publication"
        if announced == "announced" and now - self._announced_at() < 1.0:
            return "end"
        if logs and now - max(logs) < 0.2:
            return "commit"
        return "ingest" if not build.exists() else "stages" if list(build.glob("*.log")) else "cluster"

    def _newest_release(self) -> tuple[bool, str]:
        records = sorted((self.folder / "store" / "releases").glob("*.announcement.json"))
        if not records:
            return False, ""
        release = records[-1].with_name(records[-1].name.replace(".announcement", ""))
        return release.exists(), str(_json(records[-1]).get("state", ""))

    def _announced_at(self) -> float:
        return max(file.stat().st_mtime for file in (self.folder / "store" / "releases").glob("*.announcement.json"))


class Killer:
    """Kills one process after the other, each in a phase that is drawn before.

    Args:
        scene: whose processes.
        draw: the source of chance.
        report: what has happened so far.
        phases: those that may be drawn.
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
        """Kill if the moment has come; return whether it had."""
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


def by_hand(scene: Scene, killer: Killer, commands: tuple[str, ...]) -> None:
    """Bring a project up to date by commands, each typed again until it succeeds."""
    for command in commands:
        begun = time.monotonic()
        while True:
            size = scene.log.stat().st_size if scene.log.exists() else 0
            with scene.start(command) as process:
                while process.poll() is None:
                    killer.look()
                    time.sleep(0.005)
                    if time.monotonic() - begun > PATIENCE:
                        process.kill()
                        killer.report.violated(f"`facetflow {command}` hangs; see {scene.log}")
                        return
            said = scene.log.read_bytes()[size:].decode(errors="replace")
            if "Traceback" in said or "Unexpected" in said:
                killer.report.violated(f"`facetflow {command}` ended with a traceback; see {scene.log}")
            if process.returncode == 0:
                break
            if process.returncode > 0:
                print(f"      then: {_last_line(said)}", flush=True)


class Up:
    """`facetflow up`, started again whenever it ended.

    Args:
        scene: the project.
        report: what has happened so far.
    """

    def __init__(self, scene: Scene, report: Report) -> None:
        self.scene, self.report = scene, report
        self.process: subprocess.Popen[bytes] | None = None
        self.asked: str | None = None

    def api(self, path: str, content: Any = None) -> Any:
        """Ask the server; None where it does not answer."""
        try:
            known = _json(Path(self.scene.environment["XDG_STATE_HOME"]) / "facetflow" / "up.json")
            data = None if content is None else json.dumps(content).encode()
            request = urllib.request.Request(  # noqa: S310 (the server of `up`)
                f"{known['url']}{path}", data, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                return json.load(answer)
        except (OSError, KeyError, ValueError):
            return None

    def see_to_it(self) -> None:
        """Start `up` where it does not run, and a build where none is scheduled, waiting or running."""
        if self.process is None or self.process.poll() is not None:
            self.process = self.scene.start("up")
        deployment = self.api(f"/deployments/name/build_features/{self.scene.name}")
        if deployment is None:
            return
        if self.asked is not None:
            run = self.api(f"/flow_runs/{self.asked}")
            if run is None or run["state_type"] in {"SCHEDULED", "PENDING", "RUNNING"}:
                return
        run = self.api(f"/deployments/{deployment['id']}/create_flow_run", {"state": {"type": "SCHEDULED"}})
        self.asked = run["id"] if run is not None else None

    def events(self, name: str) -> list[Any]:
        """Return the payloads of the events of a name that are about this project's store."""
        store = self.scene.store()
        about = {"resource": {"id": [f"facetflow.store.{store.id}"]}, "event": {"name": [name]}} if store else {}
        found = self.api("/events/filter", {"filter": about, "limit": 50})
        return [event["payload"] for event in found["events"]] if found else []

    def end(self) -> None:
        """End it as a user would."""
        self.scene.run("down")
        if self.process is not None:
            self.process.wait(PATIENCE)


def under_up(scene: Scene, up: Up, killer: Killer) -> None:
    """Bring a project up to date with nobody at the keyboard: the next build is a run of the deployment."""
    begun, looked = time.monotonic(), 0.0
    number = scene.releases + 1
    while not (killer.left == 0 and _is_evaluated(scene, number)):
        killer.look()
        time.sleep(0.005)
        if time.monotonic() - looked > 1:
            looked = time.monotonic()
            if killer.left or not _is_evaluated(scene, number):
                up.see_to_it()
        if time.monotonic() - begun > PATIENCE:
            killer.report.violated(f"round {number} of {scene.name} does not come to its end; see {scene.log}")
            return
        if _is_evaluated(scene, number) and killer.left:
            return  # what is left is for the next round


def check(scene: Scene, reference: Scene, report: Report) -> None:
    """Compare a store with one that was built without a kill, and look for what is left behind."""
    store, other = scene.store(), reference.store()
    if store is None or other is None:
        report.violated(f"{scene.name} has no store")
        return
    for table, columns in TABLES.items():
        key = next(iter(columns))
        mine, its = (part.read(table, with_shard=True).sort("shard", key) for part in (store, other))
        if not mine.equals(its, null_equal=True):
            lost, doubled = its.join(mine, on=key, how="anti").height, mine.height - mine[key].n_unique()
            report.violated(f"{scene.name}: {table}, {its.height} rows: {lost} lost, {doubled} doubled, or others")
    mine, its = ([(r.number, dict(r.rows)) for r in part.releases()] for part in (store, other))
    if mine != its:
        report.violated(f"{scene.name}: releases {mine} for {its}")
    for number in range(1, scene.releases + 1):
        if len(found := list(scene.folder.glob(f"runs/release-{number:05d}-*/encoder/facets.json"))) > 1:
            report.violated(f"{scene.name}: release {number} has {len(found)} encoders")


def check_left_behind(scene: Scene, temporary: Path, report: Report) -> None:
    """Say what is left of killed processes after the last build, and that nothing which is dead escapes `gc`."""
    deadline = time.monotonic() + 30
    while (running := scene.processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process, kind in running.items():
        report.violated(f"{scene.name}: {kind or 'a process'} ({process.pid}) still runs")
    for path in sorted(temporary.iterdir()):
        report.violated(f"left behind: {path}")
    known = re.compile(
        r"store\.json|build\.lock|runs/[\w-]+\.json|releases/\d{5}(\.announcement)?\.json|releases/\.announcing\.lock"
        r"|graphs/\w+\.arrow|tables/\w+/_delta_log/\d{20}\.json|tables/\w+/(\w+=[\w-]+/)*\w{20}\.parquet"
    )
    root = scene.folder / "store"
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    for name in sorted(name for name in files if not known.fullmatch(name)):
        report.violated(f"{scene.name}: left behind in the store: {name}")
    for path in sorted((scene.folder / "runs").rglob(".*")):
        if path.name != ".announcing.lock":
            report.violated(f"{scene.name}: left behind: {path}")
    store = scene.store()
    if store is None:
        return
    garbage = set(store.collect_garbage(timedelta(0), dry_run=True).files)
    store.collect_garbage(timedelta(0))
    left = {path.relative_to(root).as_posix() for path in root.rglob("*.parquet")}
    named = {f"tables/{table}/{name}" for table in TABLES for name in _files_of_versions(store, table)}
    if lost := left - named:
        report.violated(f"{scene.name}: dead files that `gc` does not know: {sorted(lost)}")
    print(f"{scene.name}: `gc` removed {len(garbage)} files that killed processes had written", flush=True)


def check_announced(scene: Scene, up: Up, report: Report) -> None:
    """Check that the server has one event of each release and of each encoder."""
    wanted = Counter(range(1, scene.releases + 1))
    for name in ("facetflow.features.committed", "facetflow.encoder.trained"):
        if (found := Counter(payload["release"] for payload in up.events(name))) != wanted:
            report.violated(f"{scene.name}: {name} was announced {dict(found)} (release: times), not once each")


def main() -> None:
    """Run the experiment and leave with 1 if anything does not hold."""
    options = _options()
    draw, report = random.Random(options.seed), Report(options.kills)
    folder = Path(options.folder or tempfile.mkdtemp(prefix="random-kills-")).resolve()
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    print(f"Seed {options.seed}, {options.kills} kills, in {folder}\n", flush=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(temporary),
        "HF_HUB_OFFLINE": "1",
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PREFECT_HOME": str(folder / "prefect"),
    }
    reference, alone, served = (Scene(folder, name, environment) for name in ("reference", "alone", "served"))
    scenes = [alone] if options.by_hand else [alone, served]
    for scene in (reference, alone):
        scene.environment["PREFECT_API_URL"] = ""
    for scene in scenes:
        if not options.by_hand:
            write_backbone(scene.folder / "backbone")
    killers = {
        alone.name: Killer(alone, draw, report, PHASES if options.by_hand else PHASES + LEARNING, all_at_once=False),
        served.name: Killer(served, draw, report, PHASES + LEARNING, all_at_once=True),
    }
    up = Up(served, report)
    print(f"{'kill':>4}  {'process':<34}{'phase':<14}where", flush=True)
    rounds = 0
    while len(report.kills) < report.wanted and not report.violations:
        scene = scenes[rounds % len(scenes)]
        rounds += 1
        write_project(scene.folder, GROWTH * (scene.releases + 1), name=scene.name)
        killer = killers[scene.name]
        killer.left = min(options.per_round, report.wanted - len(report.kills))
        if scene is served:
            under_up(scene, up, killer)
        else:
            by_hand(scene, killer, ("build",) if options.by_hand else ("build", "train", "evaluate"))
        killer.left = 0
        scene.releases += 1
    _finish(scenes, reference, up, temporary, report)
    print(f"\n{'process':<36}kills", flush=True)
    for kind, count in report.kinds.most_common():
        print(f"{kind:<36}{count:>5}", flush=True)
    verdict = "nothing lost, nothing doubled, nothing left" if not report.violations else "VIOLATED"
    print(f"\n{len(report.kills)} kills: {verdict}", flush=True)
    for violation in report.violations:
        print(f"  {violation}")
    sys.exit(bool(report.violations))


def _finish(scenes: list[Scene], reference: Scene, up: Up, temporary: Path, report: Report) -> None:
    """Build once more where nothing is new, build the reference, and compare."""
    scenes = sorted(scenes, key=lambda scene: scene.releases)  # the reference grows from one to the other
    for scene in scenes:
        if scene.releases == 0:
            continue
        said = scene.run("build")
        if "Nothing changed" not in said:
            report.violated(f"{scene.name}: a build without news says: {_last_line(said)}")
        if scene.name == "served":
            check_announced(scene, up, report)
            up.end()
        while reference.releases < scene.releases:
            write_project(reference.folder, GROWTH * (reference.releases + 1), name=reference.name)
            reference.run("build", "--quiet")
            reference.releases += 1
        check(scene, reference, report)
    for scene in scenes:
        check_left_behind(scene, temporary, report)


def _is_evaluated(scene: Scene, number: int) -> bool:
    return any(scene.folder.glob(f"runs/release-{number:05d}-*/promotion.json"))


def _files_of_versions(store: Store, table: str) -> set[str]:
    """Return the files that the newest version of a table or a release names."""
    from deltalake import DeltaTable

    versions = {release.versions[table] for release in store.releases() if table in release.versions}
    path = str(store.path / "tables" / table)
    tables = [DeltaTable(path), *(DeltaTable(path, version=version) for version in versions)]
    return {file.removeprefix(f"{path}/").removeprefix("file://") for found in tables for file in found.file_uris()}


def _kind(process: psutil.Process) -> str:
    """Return what a process is; nothing for one that only watches another."""
    words = process.cmdline()
    line = " ".join(words)
    for part, kind in KINDS.items():
        if part in line:
            return kind
    if "forkserver" in line:
        parent = process.parent()
        copy = parent is not None and "forkserver" in " ".join(parent.cmdline())
        return "Dask worker" if copy else "what workers are copied from"
    if "flows.command_line" in line:
        return f"`facetflow {words[words.index('flows.command_line') + 1]}`"
    if "PREFECT__FLOW_RUN_ID" in process.environ() and "prefect" in line:
        return "flow run (scheduler, nannies)"
    return ""


def _alive(process: str) -> bool:
    number = process.rpartition(":")[2]
    return number.isdigit() and psutil.pid_exists(int(number))


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _last_line(said: str) -> str:
    return next((line for line in reversed(said.splitlines()) if line.strip()), "nothing")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", help="for everything; a temporary one by default")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-round", type=int, default=4, help="kills before a project grows")
    parser.add_argument("--by-hand", action="store_true", help="only builds by hand, with a private server")
    return parser.parse_args()


if __name__ == "__main__":
    main()
