"""A cluster that somebody else started: `dask worker` in separate processes and folders, over TLS."""

import datetime
import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from distributed import Client
from sentences import refused

from features.core.errors import RunError
from features.core.faults import NoScheduler, OtherCode, StoreUnseen, TooLittleMemory
from features.stages import stage
from flows.clusters import cluster, cluster_security, cluster_watch, preflight
from flows.clusters.preflight import Preflight
from flows.project import ClusterSettings, load
from flows.stages import chain

pytestmark = [pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class External:
    """A running scheduler, and what is needed to talk to it."""

    address: str
    folder: Path
    environment: dict[str, str]

    @property
    def certificates(self) -> dict[str, Path]:
        return {
            "tls_ca": self.folder / "ca.pem",
            "tls_cert": self.folder / "cert.pem",
            "tls_key": self.folder / "key.pem",
        }

    @property
    def options(self) -> list[str]:
        """The options of `dask scheduler` and `dask worker`, as docs/howto/clusters.md has them."""
        named = {"ca-file": "tls_ca", "cert": "tls_cert", "key": "tls_key"}
        return [word for option, key in named.items() for word in (f"--tls-{option}", str(self.certificates[key]))]

    def settings(self, **others) -> ClusterSettings:
        return ClusterSettings(address=self.address, **{**self.certificates, **others})

    def in_file(self) -> str:
        """Return the lines of a project file that point to this cluster."""
        return "\n".join([f'address = "{self.address}"', *(f'{k} = "{v}"' for k, v in self.certificates.items())])

    def connect(self) -> Client:
        return Client(self.address, security=cluster_security.of_existing(self.settings()), set_as_default=False)

    @contextmanager
    def worker(self, name: str, *options: str):
        """Start `dask worker` in its own folder, and yield its process when it has joined."""
        folder = self.folder / name
        folder.mkdir()
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--name", name, "--no-dashboard"]
        with (
            (folder / "log.txt").open("w") as log,
            subprocess.Popen(
                [*command, *self.options, *options], cwd=folder, env=self.environment, stdout=log, stderr=log
            ) as process,
        ):
            try:
                yield process
            finally:
                end(process)


def end(process: subprocess.Popen) -> None:
    """Kill a process and all its children."""
    if process.poll() is None:
        for one in [*psutil.Process(process.pid).children(recursive=True), process]:
            one.kill()


def write_certificates(folder: Path) -> None:
    """Write a certificate authority and a certificate that it signed, as an administrator would."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.UTC)
    keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("ca", "cert")}
    names = {name: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"test {name}")]) for name in keys}
    for name, key in keys.items():
        certificate = (
            x509.CertificateBuilder()
            .subject_name(names[name])
            .issuer_name(names["ca"])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
            .sign(keys["ca"], hashes.SHA256())
        )
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        keys["cert"].private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )


@pytest.fixture(scope="module")
def external(tmp_path_factory, wait_for):
    """A scheduler with two workers of four threads each, over TLS; one for all tests of this file."""
    folder = tmp_path_factory.mktemp("external")
    write_certificates(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[3] / "tools")  # of this file, whose functions a worker runs
    told = folder / "scheduler.json"
    here = External("", folder, environment)
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--protocol", "tls", "--host", "127.0.0.1"]
    options = ["--port", "0", "--scheduler-file", str(told), "--no-dashboard", *here.options]
    with ExitStack() as stack:
        scheduler = stack.enter_context(
            subprocess.Popen([*command, *options], env=environment, cwd=folder, stderr=subprocess.DEVNULL)
        )
        stack.callback(end, scheduler)
        wait_for(lambda: told.exists() and told.read_text().endswith("}"), "the scheduler")
        started = External(json.loads(told.read_text())["address"], folder, environment)
        for name in ("one", "two"):
            stack.enter_context(started.worker(name, "--nthreads", "4"))
        with started.connect() as client:
            client.wait_for_workers(2, timeout=120)
        yield started


@pytest.fixture
def connected(external):
    with external.connect() as client:
        yield client


@pytest.fixture
def ready(built):
    """A built project, its store, and the stages that it would make."""
    project = load(built.folder / "facetflow.toml")
    return built, built.store, chain(project, built.store)


def assert_same_rows(project, built):
    for name, rows in project.tables().items():
        assert rows.equals(built.tables()[name]), name


def test_a_build_on_two_workers_of_several_threads_equals_the_local_one_row_for_row(
    project, built, facetflow, external
):
    project.write(60, sentences=8, per_shard=8, more=external.in_file())
    output = facetflow.done(project, "--verbose", "build")
    assert len(set(re.findall(r"begun by (\S+)", output))) == 2, "both worked"
    assert_same_rows(project, built)


def test_a_worker_that_is_killed_in_the_middle_changes_no_row(
    project, built, facetflow, external, wait_until, connected
):
    project.write(60, sentences=8, per_shard=8, more=external.in_file())
    with external.worker("victim", "--nthreads", "2", "--no-nanny") as victim:
        connected.wait_for_workers(3, timeout=120)
        with facetflow.start(project, "build") as build:
            wait_until(lambda: project.has_committed("amr"), "the first commit of graphs", 300)
            victim.kill()
            output, _ = build.communicate(timeout=300)
    assert build.returncode == 0, output
    assert "Traceback" not in output
    assert_same_rows(project, built)


def test_workers_that_are_fit_are_not_spoken_of(external, connected, ready, capsys):
    _, store, stages = ready
    Preflight(store, stages, stages.settings, gpu=False).check(connected, external.address)
    assert capsys.readouterr().err == ""


def test_a_worker_that_does_not_see_the_store_is_refused(external, connected, ready, tmp_path):
    built, store, stages = ready
    check = Preflight(store, stages, stages.settings, gpu=False)
    built.folder.rename(tmp_path / "elsewhere")
    with refused(StoreUnseen):
        check.check(connected, external.address)
    (built.folder / "store").mkdir(parents=True)
    type(store).open(built.folder / "store", create=True)
    with refused(StoreUnseen):
        check.check(connected, external.address)


def test_a_worker_with_other_code_or_too_little_memory_is_refused(external, connected, ready, monkeypatch):
    _, store, stages = ready
    check = Preflight(store, stages, stages.settings, gpu=False)
    with monkeypatch.context() as patch:
        patch.setattr(stage, "PROCESS", 1 << 50)
        with refused(TooLittleMemory):
            check.check(connected, external.address)
    monkeypatch.setattr(preflight, "OWN_CODE", "other")
    with refused(OtherCode):
        check.check(connected, external.address)


def test_only_who_has_a_certificate_of_the_cluster_is_let_in(external, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 2.0)
    write_certificates(tmp_path)
    others = {name: tmp_path / path.name for name, path in external.certificates.items()}
    unencrypted = ClusterSettings(address=external.address.replace("tls", "tcp"))
    for settings in (external.settings(**others), unencrypted):
        with refused(NoScheduler), cluster.connected(settings):
            pass


def test_a_worker_that_rests_at_its_limit_and_cannot_be_started_again_ends_the_build(
    external, connected, monkeypatch, wait_until
):
    monkeypatch.setattr(cluster_watch, "SAY_AFTER", 0.5)
    with external.worker("full", "--nthreads", "1", "--no-nanny", "--memory-limit", "600MiB"):
        connected.wait_for_workers(3, timeout=120)
        known = connected.scheduler_info(n_workers=-1)["workers"]
        (full,) = (address for address, worker in known.items() if worker["name"] == "full")
        connected.run(fill, 0.86, workers=[full])
        watch = cluster_watch.ClusterWatch(connected, external.address, lambda _: None)
        try:
            sentence = wait_until(lambda: ended(watch), "the end of the build", 60)
        finally:
            watch.stop()
    assert "The worker 'full' of the Dask cluster at" in sentence
    assert "so Dask gives it no shard: start workers with a higher `--memory-limit`" in sentence


def fill(share: float, dask_worker) -> None:
    """Take memory until this worker uses a share of its limit."""
    used = psutil.Process().memory_info().rss
    dask_worker.hoard = b"x" * int(dask_worker.memory_manager.memory_limit * share - used)


def ended(watch) -> str:
    """Return why a watch would end the build; empty if it would not."""
    try:
        watch.check()
    except RunError as error:
        return str(error)
    return ""
