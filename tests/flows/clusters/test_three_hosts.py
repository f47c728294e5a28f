"""A build on three hosts that share nothing but a network: each has its own addresses, folders and home.

    cluster 10.83.0.1    scheduler, S3        workers 10.83.0.2    two workers of four threads
    flow    10.83.0.3    facetflow build      this  10.83.0.254    this process, which looks at the store

The hosts are network namespaces of this machine, joined by a bridge in a fourth; whoever may not make some skips this.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from distributed import Client
from faulty_s3 import CREDENTIALS, faulty_s3

from features.core.errors import FacetflowError
from features.stages.registry import TABLES
from features.store.store import Store
from flows.clusters import cluster_security
from flows.project import ClusterSettings
from tests.flows.clusters.test_external_cluster import end, write_certificates

pytestmark = [pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(1800)]
CUT = float(os.environ.get("FACETFLOW_TEST_CUT", "10"))
"""Seconds for which the network is cut."""
CLUSTER, WORKERS, FLOW, HERE = (f"10.83.0.{number}" for number in (1, 2, 3, 254))
IP = shutil.which("ip") or "ip"
SCHEDULER = f"tls://{CLUSTER}:8786"


def ip(*words: str) -> None:
    subprocess.run([IP, *words], check=True, capture_output=True, text=True)


@dataclass(frozen=True)
class Host:
    """A network namespace with a folder that is its home."""

    namespace: str
    folder: Path
    environment: dict[str, str] = field(repr=False)

    def start(self, *command: str, log: str, **environment: str) -> subprocess.Popen:
        """Start a process that sees no other host's folder, its output in a file of its own host's."""
        others = [str(folder) for folder in self.folder.parent.glob("10.83.*") if folder != self.folder]
        hidden = " && ".join(shlex.join(["mount", "-t", "tmpfs", "none", other]) for other in others)
        with (self.folder / log).open("a") as output:
            return subprocess.Popen(
                [IP, "netns", "exec", self.namespace, "/bin/sh", "-c", f'{hidden} && exec "$@"', "sh", *command],
                cwd=self.folder,
                env={**self.environment, **environment},
                stdout=output,
                stderr=output,
            )

    @contextmanager
    def cut_off(self):
        """Take the host off the network for the block."""
        ip("-n", self.namespace, "link", "set", "eth0", "down")
        yield
        ip("-n", self.namespace, "link", "set", "eth0", "up")


@pytest.fixture
def hosts(tmp_path, monkeypatch):
    """Three hosts by address, joined by a switch, to which this process is connected as well."""
    if shutil.which(IP) is None:
        pytest.skip("needs ip (iproute2)")
    mark = uuid.uuid4().hex[:6]
    switch, own = f"ff{mark}-switch", f"ff{mark}"
    made: dict[str, Host] = {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "XDG_"))}
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:
        try:
            _add_namespace(switch, stack)
            ip("-n", switch, "link", "add", "bridge", "type", "bridge")
            ip("-n", switch, "link", "set", "bridge", "up")
            for address in (CLUSTER, WORKERS, FLOW):
                name = f"{own}-{address.rpartition('.')[2]}"
                _add_namespace(name, stack)
                _plug_in(switch, name, "eth0", address)
                folder = tmp_path / address
                (folder / "tmp").mkdir(parents=True)
                homes = {"HOME": str(folder), "TMPDIR": str(folder / "tmp")}
                made[address] = Host(name, folder, {**environment, **homes, **CREDENTIALS})
            _plug_in(switch, None, own, HERE)
        except (subprocess.CalledProcessError, PermissionError) as error:
            pytest.skip(f"may not make network namespaces: {getattr(error, 'stderr', error)}")
        yield made


def _add_namespace(name: str, stack: ExitStack) -> None:
    ip("netns", "add", name)
    stack.callback(ip, "netns", "delete", name)
    ip("-n", name, "link", "set", "lo", "up")


def _plug_in(switch: str, namespace: str | None, device: str, address: str) -> None:
    """Connect a device of a namespace, or of this process's, to a switch."""
    inside = [] if namespace is None else ["-n", namespace]
    port = f"p{address.rpartition('.')[2]}"
    peer = ("peer", "name", device, "netns", namespace or str(os.getpid()))
    ip("-n", switch, "link", "add", port, "type", "veth", *peer)
    ip("-n", switch, "link", "set", port, "master", "bridge", "up")
    ip(*inside, "address", "add", f"{address}/24", "dev", device)
    ip(*inside, "link", "set", device, "up")


@dataclass(frozen=True)
class Site:
    """The cluster, the store and the project on these hosts; processes that were started end with the test."""

    hosts: dict[str, Host]
    files: dict[str, Path]
    url: str
    wait_until: Callable[..., object]
    running: list[subprocess.Popen] = field(default_factory=list)

    def scheduler(self) -> subprocess.Popen:
        return self._dask(CLUSTER, "scheduler", "--host", CLUSTER, "--port", "8786", log="scheduler.txt")

    def worker(self, name: str, **environment: str) -> subprocess.Popen:
        options = ["--name", name, "--nthreads", "4", "--host", WORKERS, "--memory-limit", "4GiB"]
        return self._dask(WORKERS, "worker", SCHEDULER, *options, log=f"{name}.txt", **environment)

    def _dask(self, address: str, what: str, *options: str, log: str, **environment: str) -> subprocess.Popen:
        named = {"ca-file": "tls_ca", "cert": "tls_cert", "key": "tls_key"}
        tls = [word for option, key in named.items() for word in (f"--tls-{option}", str(self.files[key]))]
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, *tls, "--no-dashboard"]
        return self._started(address, *command, log=log, **environment)

    def build(self, log: str) -> subprocess.Popen:
        folder = self.hosts[FLOW].folder
        command = [sys.executable, "-P", "-m", "flows.command_line", "--project", str(folder), "build"]
        return self._started(FLOW, *command, log=log)

    def _started(self, address: str, *command: str, log: str, **environment: str) -> subprocess.Popen:
        process = self.hosts[address].start(*command, log=log, **environment)
        self.running.append(process)
        return process

    def end_all_but(self, kept: subprocess.Popen | None) -> None:
        for process in self.running:
            if process is not kept:
                end(process)
                process.wait()

    def output(self, log: str) -> str:
        return (self.hosts[FLOW].folder / log).read_text()

    def committed(self, *tables: str) -> int:
        """Return how many shards of some tables are committed, as this process sees it."""
        try:
            return sum(len(Store.open(self.url).committed(table)) for table in tables)
        except FacetflowError:  # the store is just being made
            return 0

    def wait_for_a_commit(self, build: subprocess.Popen, *tables: str) -> None:
        before = self.committed(*tables)
        self.wait_until(lambda: self.committed(*tables) > before or build.poll() is not None, "a commit", 600)
        assert build.poll() is None, "the build ended before it was disturbed"

    def client(self) -> Client:
        security = cluster_security.of_existing(ClusterSettings(address=SCHEDULER, **self.files))
        return Client(SCHEDULER, security=security, set_as_default=False, timeout=60)

    def wait_for_workers(self, number: int) -> None:
        with self.client() as client:
            client.wait_for_workers(number, timeout=120)

    def wait_for_shards_to_make(self) -> None:
        with self.client() as client:
            asked = partial(client.run_on_scheduler, lambda dask_scheduler: len(dask_scheduler.tasks))
            self.wait_until(asked, "shards that workers are asked for", 600)


@pytest.fixture
def site(hosts, tmp_path, generated, wait_until):
    write_certificates(tmp_path)
    files = {f"tls_{name}": tmp_path / f"{name}.pem" for name in ("ca", "cert", "key")}
    lines = [f'address = "{SCHEDULER}"', *(f'{name} = "{file}"' for name, file in files.items())]
    with faulty_s3(CLUSTER, IP, "netns", "exec", hosts[CLUSTER].namespace) as bucket:
        project = generated(hosts[FLOW].folder)
        project.write(60, sentences=8, per_shard=8, more="\n".join(lines), store=bucket.url())
        file = project.folder / "facetflow.toml"
        # What stages read besides the store has to be on every host under the same path.
        vectors = (project.folder / "vectors.txt").replace(tmp_path / "vectors.txt")
        file.write_text(file.read_text().replace('"vectors.txt"', f'"{vectors}"'))
        made = Site(hosts, files, bucket.url(), wait_until)
        try:
            yield made
        finally:
            made.end_all_but(None)


def test_kills_a_cut_network_and_a_worker_of_another_version_change_no_row(site, built, tmp_path):
    lose_a_worker_the_network_and_the_build(site)
    lose_the_scheduler(site)
    meet_another_version(site, tmp_path / "other")

    assert site.build("fourth").wait(timeout=900) == 0, site.output("fourth")
    store = Store.open(site.url)
    verified = store.verify(deep=True)
    assert (verified.broken, verified.damaged) == ((), ())
    for name, expected in built.tables().items():
        rows = store.read(name, with_shard=True).sort("shard", next(iter(TABLES[name])))
        assert rows.equals(expected), name
    for log in ("first", "second", "third", "fourth"):
        assert "Traceback" not in site.output(log), site.output(log)
    for address in (WORKERS, FLOW):
        copies = list(site.hosts[address].folder.rglob("objects/*/*.arrow"))
        assert len(copies) == 1, "each host has fetched the index of graphs for itself"


def lose_a_worker_the_network_and_the_build(site):
    site.scheduler()
    one, two = site.worker("one"), site.worker("two")
    site.wait_for_workers(2)
    build = site.build("first")
    site.wait_for_a_commit(build, "amr")
    end(one)
    with site.hosts[WORKERS].cut_off():
        time.sleep(CUT)
    if CUT > 30:  # as long as Dask waits: the worker has ended, and whatever supervises it starts it again
        two.wait(timeout=120)
        site.worker("two")
    site.wait_for_a_commit(build, "amr", "label_vectors", "metrics")
    end(build)
    site.worker("one")
    site.wait_for_workers(2)


def lose_the_scheduler(site):
    build = site.build("second")
    site.wait_until(lambda: "Waiting up to 20 s" in site.output("second"), "the lease of a killed build", 600)
    site.wait_for_shards_to_make()  # a commit is seen late on a busy machine, when few are left
    site.end_all_but(build)
    assert build.wait(timeout=600) == 1, site.output("second")
    assert "no longer answers" in site.output("second")


def meet_another_version(site, other):
    site.scheduler()
    site.worker("one")
    site.worker("two")
    site.wait_for_workers(2)
    (other / "facetflow-0.0.9.dist-info").mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: facetflow\nVersion: 0.0.9\n"
    (other / "facetflow-0.0.9.dist-info" / "METADATA").write_text(metadata)
    build = site.build("third")
    late = site.worker("late", PYTHONPATH=str(other))
    assert build.wait(timeout=600) == 1, site.output("third")
    assert "has facetflow 0.0.9" in site.output("third")
    end(late)
