"""Projects of generated sentences with graphs and word vectors, and a real server and command line to build them."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import polars as pl
import psutil
import pytest
from faulty_s3 import CREDENTIALS, faulty_s3
from filelock import FileLock
from generated import NO_ROLES, write_project
from sentences import told

from features.core.errors import FacetflowError
from features.stages.registry import TABLES
from features.store.runs import RunRecord
from features.store.store import Store
from flows.command_line import run
from flows.server.own_server import OwnServer

T = TypeVar("T")
MARK = "FACETFLOW_TEST_MARK"
QUICK = """
[[encoders]]
name = "syntax"
kind = "s3bert"
layers_tuned = 1
splits = ["train", "train"]
loop = { epochs = 1, threads = 1 }
"""
SCRIPT = """
import sys
from pathlib import Path

if __name__ == "__main__":
    from flows.clusters import cluster
    from flows.building import run_shards
    from flows import stages
    from flows.server.local_run import run_flow
    from prefect import task

{code}
    run_flow("build_features", Path(sys.argv[1]), lambda _: None)
"""


@dataclass(frozen=True)
class Generated:
    """A project in a folder, small enough to be built in seconds."""

    folder: Path

    def write(
        self,
        pairs: int,
        *,
        name: str = "generated",
        store: str = "store",
        sentences: int = 16,
        per_shard: int = 16,
        amr: str = "",
        srl: str = NO_ROLES,
        workers: int = 1,
        more: str = "",
    ) -> None:
        """Write the first `pairs` pairs of an endless list, and a project file with these shard sizes."""
        write_project(
            self.folder,
            pairs,
            name=name,
            store=store,
            sentences_per_shard=sentences,
            pairs_per_shard=per_shard,
            amr=amr,
            srl=srl,
            workers=workers,
            more=more,
        )

    def hide_ours(self) -> None:
        """Write packages of the user's into the folder that fail when they are imported in place of ours."""
        for name in ("facetflow", "features", "flows", "tasks", "training"):
            (self.folder / name).mkdir()
            (self.folder / name / "__init__.py").write_text("raise RuntimeError('a package of the user')\n")

    @property
    def store(self) -> Store:
        """The store, which must have been built."""
        return Store.open(self.folder / "store")

    def has_committed(self, table: str) -> bool:
        """Return whether a running build has committed a first shard of a table."""
        try:
            return bool(self.store.committed(table))
        except FacetflowError:  # the store is just being created
            return False

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return every row of every table, in an order independent of the order of commits."""
        return {
            name: self.store.read(name, with_shard=True).sort("shard", next(iter(columns)))
            for name, columns in TABLES.items()
        }


@pytest.fixture
def bucket(monkeypatch):
    """Start an object storage with an empty bucket."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with faulty_s3() as started:
        yield started


@pytest.fixture(scope="session")
def generated() -> type[Generated]:
    """The class of generated projects, for fixtures that make their own."""
    return Generated


@pytest.fixture(scope="session")
def quick(needs_model: Callable[[str], Path]) -> str:
    """Project file lines for an encoder that is trained in seconds; skip if its backbone is missing."""
    needs_model("all-MiniLM-L6-v2")
    return QUICK


@pytest.fixture
def project(tmp_path: Path) -> Generated:
    return Generated(tmp_path)


@pytest.fixture(scope="session")
def server() -> Iterator[OwnServer]:
    """The one Prefect server of the test session."""
    started = OwnServer(events=True)
    try:
        started.wait_until_ready()
        yield started
    finally:
        started.stop()


@dataclass(frozen=True)
class CommandLine:
    """The console script in its own process; all processes it starts carry a mark in their environment."""

    environment: dict[str, str]
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def start(self, project: Generated, *arguments: str) -> "subprocess.Popen[str]":
        """Start `facetflow ARGUMENTS` in the project's folder."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "flows.command_line", *arguments],
            cwd=project.folder,
            env={**self.environment, MARK: self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, project: Generated, *arguments: str) -> tuple[int, str]:
        """Run `facetflow ARGUMENTS`; return its exit code and what it wrote."""
        with self.start(project, *arguments) as process:
            output, _ = process.communicate(timeout=400)
        assert "Traceback" not in output
        return process.returncode, output

    def done(self, project: Generated, *arguments: str) -> str:
        """Run `facetflow ARGUMENTS`; return what it wrote, and fail if its exit code is not 0."""
        code, output = self.run(project, *arguments)
        assert code == 0, output
        return output

    def left_running(self) -> list[psutil.Process]:
        """Return the processes started by a command that are still running."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found


@dataclass(frozen=True)
class WarmCommandLine(CommandLine):
    """The console script; commands that are waited for run in one process with all imports done (warm_process.py)."""

    process: "subprocess.Popen[str] | None" = None
    outputs: Path = Path()

    def run(self, project: Generated, *arguments: str) -> tuple[int, str]:
        """Run `facetflow ARGUMENTS`; return its exit code and what it wrote."""
        if "--verbose" in arguments:  # Prefect's verbosity is set once per process
            return super().run(project, *arguments)
        assert self.process
        assert self.process.stdin
        assert self.process.stdout
        output = self.outputs / uuid.uuid4().hex
        asked = {"folder": str(project.folder), "arguments": arguments, "output": str(output)}
        hanging = threading.Timer(400, self.process.kill)
        hanging.start()
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        code = self.process.stdout.readline()
        hanging.cancel()
        said = output.read_text()
        assert code, said
        assert "Traceback" not in said
        return int(code), said


@pytest.fixture(scope="session")
def warm(
    server: OwnServer, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., AbstractContextManager[CommandLine]]:
    """Return a function that starts a warm console script, with the Prefect API of the session and more variables."""

    @contextmanager
    def start(**variables: str) -> Iterator[CommandLine]:
        environment = {**os.environ, **_talking_to(server), **variables}
        command = [sys.executable, str(Path(__file__).with_name("warm_process.py"))]
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            yield WarmCommandLine(environment, process=process, outputs=tmp_path_factory.mktemp("said"))
            process.stdin.close()

    return start


@pytest.fixture(scope="session")
def facetflow(warm: Callable[..., AbstractContextManager[CommandLine]]) -> Iterator[CommandLine]:
    """The console script, with the Prefect API of the session."""
    with warm() as command_line:
        yield command_line


@pytest.fixture
def facetflow_alone() -> CommandLine:
    """The console script without a Prefect API, so that it starts its own."""
    return CommandLine(_without_prefect())


@dataclass(frozen=True)
class InProcess:
    """The console script in this process, which saves seconds of imports, for commands that only read."""

    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]
    done = CommandLine.done

    def run(self, project: Generated, *arguments: str) -> tuple[int, str]:
        """Run `facetflow ARGUMENTS` in the project's folder; return its exit code and what it wrote."""
        self.capture.readouterr()
        with self.patch.context() as patch:
            patch.chdir(project.folder)
            code = run(arguments)
        said = self.capture.readouterr()
        return code, said.err + said.out


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    """The console script in this process."""
    return InProcess(monkeypatch, capsys)


@pytest.fixture
def refuses(capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Return a function that runs a command in this process, and fails unless a fault ends it, in its one sentence."""

    def refuse(fault: type[FacetflowError], *words: str) -> None:
        capsys.readouterr()
        assert run(words) == 1
        assert told(capsys.readouterr().err, fault)

    return refuse


def _talking_to(server: OwnServer) -> dict[str, str]:
    return {
        "PREFECT_API_URL": server.url,
        "PREFECT_API_AUTH_STRING": server.credentials,
        "PREFECT_HOME": str(server.home),
    }


def _without_prefect() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """A project of 60 pairs, built by a command with its own server; once for all processes of pytest-xdist."""
    own = tmp_path_factory.getbasetemp()
    of_all = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    project = Generated(of_all / "built-once")
    done = of_all / "built-once.done"
    with FileLock(of_all / "built-once.lock"):
        if done.exists():
            return project
        shutil.rmtree(project.folder, ignore_errors=True)  # left by a process that failed
        project.folder.mkdir()
        project.write(60, sentences=8, per_shard=8)
        alone = CommandLine(_without_prefect())
        code, output = alone.run(project, "build")
        assert code == 0, output
        _wait_until(lambda: not alone.left_running(), "the server and the workers of a build to end")
        done.touch()
    return project


@pytest.fixture
def built(_built: Generated, tmp_path: Path) -> Generated:
    """A copy of a built project."""
    return Generated(Path(shutil.copytree(_built.folder, tmp_path / "built")))


@pytest.fixture
def workers() -> Callable[[int], list[psutil.Process]]:
    """Return a function that finds the Dask workers below a flow's process."""

    def find(flow: int) -> list[psutil.Process]:
        found = []
        for child in psutil.Process(flow).children(recursive=True):
            try:
                command = " ".join(child.cmdline())
                # Copies of the fork server share its command line, but are not direct children of the flow.
                if "spawn_main" in command or ("forkserver" in command and child.ppid() != flow):
                    found.append(child)
            except psutil.NoSuchProcess:
                continue
        return found

    return find


@pytest.fixture(scope="session")
def wait_for() -> Callable[..., object]:
    """Return `_wait_until`, for fixtures that live longer than a test."""
    return _wait_until


@pytest.fixture(name="wait_until")
def wait_until_fixture() -> Callable[..., object]:
    """Return `_wait_until`."""
    return _wait_until


@pytest.fixture
def build_with(server: OwnServer, tmp_path: Path) -> Callable[[Generated, str], RunRecord]:
    """Return a function that builds a project in its own process after running some code, and returns the record."""

    def build(project: Generated, code: str) -> RunRecord:
        script = tmp_path / "build.py"
        script.write_text(SCRIPT.format(code=textwrap.indent(textwrap.dedent(code), "    ")))
        subprocess.run(
            [sys.executable, str(script), str(project.folder / "facetflow.toml")],
            env={**os.environ, **_talking_to(server)},
            check=True,
            timeout=400,
        )
        return project.store.runs()[0]

    return build


def _wait_until(condition: Callable[[], T], what: str, seconds: float = 180) -> T:
    """Return the first true value of a condition; polling takes at most a fifth of the time, to spare the cores."""
    deadline = time.monotonic() + seconds
    looked = time.monotonic()
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(max(0.05, 4 * (time.monotonic() - looked)))
        looked = time.monotonic()
    return value
