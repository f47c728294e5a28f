"""Kill processes of builds, trainings and evaluations at random moments, and compare with an undisturbed store.

    python tools/random_kills.py --kills 100 --seed 1        an hour or more on two idle cores
    python tools/random_kills.py --kills 6 --by-hand         builds only, each with a private Prefect server
    python tools/random_kills.py --s3                        with the stores in S3, as moto plays it

Two projects grow and are refreshed in turn: one by `facetflow refresh`, repeated when it fails, with a private Prefect
server; one under `facetflow up`, where refreshes, trainings and evaluations are runs of its deployments. SIGKILL goes
to any process that was started (command, flow run, Prefect server, worker of either kind, fork server of the workers,
training, evaluation, `up` itself, everything at once) in a phase drawn beforehand. At the end both stores are compared
with one that was built without a kill, row for row; Ctrl-C or SIGTERM stop the killing at once, and the comparison
follows.

Exits with 1 when a row is lost or doubled, a training or an evaluation is done or begun twice, or anything is left.
"""

import argparse
import base64
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from faulty_s3 import CREDENTIALS, S3, faulty_s3
from generated import ENCODER, write_backbone, write_project
from kill_checks import check, check_left_behind
from kill_scene import LEARNING, PATIENCE, PHASES, Killer, Report, Scene, last_line, read_json

ROOT = Path(__file__).resolve().parents[1]
GROWTH = 24
"""Pairs that a project grows by in each round."""


_REFRESH_EVERY = 20.0
"""Seconds between two refreshes under `up`."""
_REFUSALS = 3
"""Failures in a row without a kill that count as a violation: a dying process may still hold a lock."""


def by_hand(scene: Scene, killer: Killer, commands: tuple[str, ...]) -> None:
    """Update a project by commands, each repeated until it succeeds."""
    for command in commands:
        begun = time.monotonic()
        refused = 0  # failures in a row without a kill
        while True:
            before = len(killer.report.kills)
            size = scene.log.stat().st_size if scene.log.exists() else 0
            with scene.start(command) as process:
                while process.poll() is None:
                    killer.look()
                    time.sleep(0.005)
                    if time.monotonic() - begun > PATIENCE:
                        begun = time.monotonic()
                        if scene.hangs():
                            process.kill()
                            killer.report.violated(f"`facetflow {command}` hangs; see {scene.log}")
                            return
            said = scene.log.read_bytes()[size:].decode(errors="replace")
            if "Traceback" in said or "Unexpected" in said:
                killer.report.violated(f"`facetflow {command}` ended with a traceback; see {scene.log}")
            if process.returncode == 0:
                break
            if process.returncode > 0:
                print(f"      then: {last_line(said)}", flush=True)
            refused = refused + 1 if len(killer.report.kills) == before else 0
            if refused == _REFUSALS:
                killer.report.violated(f"`facetflow {command}` fails by itself: {last_line(said)}")
                return


class Up:
    """`facetflow up`, restarted whenever it has ended.

    Args:
        scene: the project.
        report: what has happened so far.
    """

    def __init__(self, scene: Scene, report: Report) -> None:
        self.scene, self.report = scene, report
        self.process: subprocess.Popen[bytes] | None = None
        self.asked: str | None = None
        self.asked_at = 0.0

    def api(self, path: str, content: Any = None) -> Any:
        """Query the server; None where it does not answer."""
        try:
            state = Path(self.scene.environment["XDG_STATE_HOME"]) / "facetflow"
            known, password = read_json(state / "up.json"), (state / "password").read_bytes().strip()
            data = None if content is None else json.dumps(content).encode()
            request = urllib.request.Request(  # noqa: S310 (the server of `up`)
                f"{known['url']}{path}", data, {"Content-Type": "application/json"}
            )
            request.add_header("Authorization", f"Basic {base64.b64encode(password).decode()}")
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                return json.load(answer)
        except (OSError, KeyError, ValueError):
            return None

    def see_to_it(self) -> None:
        """Start `up` unless it is running, and a refresh unless one is scheduled, pending or running."""
        if self.process is None or self.process.poll() is not None:
            self.process = self.scene.start("up")
        deployment = self.api(f"/deployments/name/refresh/{self.scene.name}")
        if deployment is None:
            return
        if self.asked is not None:
            run = self.api(f"/flow_runs/{self.asked}")
            if run is None or run["state_type"] in {"SCHEDULED", "PENDING", "RUNNING"}:
                return
            if time.monotonic() - self.asked_at < _REFRESH_EVERY:
                return
        run = self.api(f"/deployments/{deployment['id']}/create_flow_run", {"state": {"type": "SCHEDULED"}})
        self.asked, self.asked_at = (run["id"] if run is not None else None), time.monotonic()

    def runs(self, flow: str) -> list[Any]:
        """Return the runs of a deployment of the project."""
        deployment = self.api(f"/deployments/name/{flow}/{self.scene.name}")
        asked = {"flow_runs": {"deployment_id": {"any_": [deployment["id"]]}}, "limit": 200} if deployment else {}
        return self.api("/flow_runs/filter", asked) or [] if asked else []

    def end(self) -> None:
        """Stop it as a user would."""
        self.scene.run("down")
        if self.process is not None:
            self.process.wait(PATIENCE)


def under_up(scene: Scene, up: Up, killer: Killer) -> None:
    """Update a project unattended: the next refresh is a run of the deployment."""
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
            begun = time.monotonic()
            if scene.hangs():
                killer.report.violated(f"round {number} of {scene.name} does not finish; see {scene.log}")
                return
        if _is_evaluated(scene, number) and killer.left:
            return  # remaining kills are for the next round


def check_learnt(scene: Scene, report: Report) -> None:
    """Check that nothing is due any more, and that each release has exactly one encoder, which was judged."""
    deadline = time.monotonic() + PATIENCE
    while due := _due(scene):
        if time.monotonic() > deadline:
            report.violated(f"{scene.name}: still due: {due}")
            return
        time.sleep(2)
    for number in range(1, scene.releases + 1):
        if len(judged := list(scene.folder.glob(f"runs/*/{number:05d}-*/seed-*/promotion.json"))) != 1:
            report.violated(f"{scene.name}: release {number} has {len(judged)} encoders that were judged")


def _due(scene: Scene) -> list[Any]:
    said = scene.run("plan", "--json", "--quiet")
    due: list[Any] = json.loads(said[said.index("{") :])["due"]
    return due


def check_begun_once(scene: Scene, up: Up, report: Report) -> None:
    """Check that each training and each evaluation was completed by exactly one of its attempts."""
    for flow in ("train_encoder", "evaluate_encoder"):
        identities: Counter[str] = Counter()
        for run in up.runs(flow):
            identities[run["idempotency_key"].partition(":")[0]] += run["state_type"] == "COMPLETED"
        if len(identities) != scene.releases or set(identities.values()) != {1}:
            report.violated(f"{scene.name}: {flow} was completed {dict(identities)} (identity: times), not once each")


def main() -> None:
    """Run the experiment and exit with 1 if anything is violated."""
    options = _options()
    if not options.s3:
        _run(options, None)
    os.environ |= CREDENTIALS
    with faulty_s3() as bucket:
        _run(options, bucket)


def _run(options: argparse.Namespace, bucket: S3 | None) -> NoReturn:
    draw, report = random.Random(options.seed), Report(options.kills)
    folder = Path(options.folder or tempfile.mkdtemp(prefix="random-kills-")).resolve()
    temporary = folder / "tmp"
    if temporary.exists():
        raise SystemExit(f"{folder} is that of another run: name a new folder")
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
    reference = Scene(folder, "reference", environment)  # in a folder: both storages hold the same rows
    alone, served = (Scene(folder, name, environment, bucket) for name in ("alone", "served"))
    scenes = [alone] if options.by_hand else [alone, served]
    for scene in (reference, alone):
        scene.environment["PREFECT_API_URL"] = ""
    for scene in (reference, *scenes):
        write_backbone(scene.folder / "backbone")
    killers = {
        alone.name: Killer(alone, draw, report, PHASES if options.by_hand else PHASES + LEARNING, all_at_once=False),
        served.name: Killer(served, draw, report, PHASES + LEARNING, all_at_once=True),
    }
    up = Up(served, report)

    def enough(*_: object) -> None:
        report.wanted = len(report.kills)
        for killer in killers.values():
            killer.left = 0

    signal.signal(signal.SIGINT, enough)
    signal.signal(signal.SIGTERM, enough)
    print(f"{'kill':>4}  {'process':<34}{'phase':<14}where", flush=True)
    rounds = 0
    while len(report.kills) < report.wanted and not report.violations:
        scene = scenes[rounds % len(scenes)]
        rounds += 1
        _write(scene)
        killer = killers[scene.name]
        killer.left = min(options.per_round, report.wanted - len(report.kills))
        if scene is served:
            under_up(scene, up, killer)
        else:
            by_hand(scene, killer, ("build",) if options.by_hand else ("refresh",))
        killer.left = 0
        scene.releases += 1
    _finish(scenes, reference, up, temporary, report, learns=not options.by_hand)
    print(f"\n{'process':<36}kills", flush=True)
    for kind, count in report.kinds.most_common():
        print(f"{kind:<36}{count:>5}", flush=True)
    verdict = "nothing lost, nothing doubled, nothing left" if not report.violations else "VIOLATED"
    print(f"\n{len(report.kills)} kills: {verdict}", flush=True)
    for violation in report.violations:
        print(f"  {violation}")
    sys.exit(bool(report.violations))


def _finish(scenes: list[Scene], reference: Scene, up: Up, temporary: Path, report: Report, *, learns: bool) -> None:
    """Refresh once more without changes, build the reference, and compare."""
    scenes = sorted(scenes, key=lambda scene: scene.releases)  # the reference grows from one to the other
    for scene in scenes:
        if scene.releases == 0:
            continue
        said = scene.run("refresh" if learns else "build")
        if "Nothing changed" not in said:
            report.violated(f"{scene.name}: without changes it prints: {last_line(said)}")
        if learns:
            check_learnt(scene, report)
        if scene.name == "served":
            check_begun_once(scene, up, report)
            up.end()
        while reference.releases < scene.releases:
            _write(reference)
            reference.run("build", "--quiet")
            reference.releases += 1
        check(scene, reference, report)
    for scene in scenes:
        check_left_behind(scene, temporary, report)


def _write(scene: Scene) -> None:
    """Write the project of a scene with the pairs of its next release."""
    pairs = GROWTH * (scene.releases + 1)
    write_project(scene.folder, pairs, name=scene.name, store=scene.location, neighbours=2, more=ENCODER)


def _is_evaluated(scene: Scene, number: int) -> bool:
    return any(scene.folder.glob(f"runs/*/{number:05d}-*/seed-*/promotion.json"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", help="folder for everything; a temporary one by default")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-round", type=int, default=4, help="kills before a project grows")
    parser.add_argument("--s3", action="store_true", help="keep the stores in an object storage that moto plays")
    parser.add_argument("--by-hand", action="store_true", help="only manual builds, with a private server")
    return parser.parse_args()


if __name__ == "__main__":
    main()
