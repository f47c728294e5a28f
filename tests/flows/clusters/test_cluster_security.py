"""Who may connect to a cluster: what is refused before any connection attempt."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from distributed import security
from sentences import refused

from features.core.faults import CertificatesWrong, FileMissing, Unencrypted
from flows.clusters.cluster_security import OwnSecurity, of_existing
from flows.project import ClusterSettings, load


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.7:8786", "tcp://scheduler:8786", "scheduler:8786", "ws://[fd00::1]:80"]
)
def test_a_cluster_elsewhere_is_refused_without_encryption(address):
    with refused(Unencrypted):
        of_existing(ClusterSettings(address=address))
    assert not of_existing(ClusterSettings(address=address, unencrypted=True)).require_encryption


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "localhost:8786", "tcp://[::1]:8786"])
def test_a_cluster_on_this_machine_is_taken_as_it_is(address):
    assert not of_existing(ClusterSettings(address=address)).require_encryption


@pytest.mark.parametrize("address", ["tls://scheduler:8786", "wss://scheduler:8786"])
def test_an_encrypted_address_needs_certificates(tmp_path, address):
    with refused(CertificatesWrong):
        of_existing(ClusterSettings(address=address))
    with refused(FileMissing):
        of_existing(ClusterSettings(address=address, tls_ca="/nowhere/ca.pem"))
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("this is no certificate")
    for given in ({"tls_ca": wrong}, {"tls_cert": wrong}, {"tls_ca": wrong, "tls_cert": wrong}):
        with refused(CertificatesWrong):
            of_existing(ClusterSettings(address=address, **given))


def test_certificates_for_an_address_that_is_not_encrypted_are_not_ignored(tmp_path):
    with refused(Unencrypted):
        of_existing(ClusterSettings(address="tcp://127.0.0.1:8786", tls_ca=tmp_path / "ca.pem"))


def test_certificates_lie_beside_the_project_file(project):
    project.write(2, more='tls_ca = "ca.pem"')
    cluster = load(project.folder / "facetflow.toml").cluster
    assert (cluster.tls_ca, cluster.tls_cert) == (project.folder / "ca.pem", None)


def test_a_clock_that_is_set_back_shuts_nobody_out_of_a_local_cluster(monkeypatch):
    ahead = SimpleNamespace(now=lambda tz: datetime.now(tz) + timedelta(hours=1))
    monkeypatch.setattr(security, "datetime", SimpleNamespace(**vars(security.datetime) | {"datetime": ahead}))
    own = OwnSecurity.temporary()
    scheduler, worker = (
        own.get_listen_args("scheduler")["ssl_context"],
        own.get_connection_args("worker")["ssl_context"],
    )
    one, other = socket.socketpair()
    with one, other, ThreadPoolExecutor() as pool:
        accepted = pool.submit(scheduler.wrap_socket, one, server_side=True)
        with worker.wrap_socket(other) as connected, accepted.result() as accepting:
            connected.send(b"result")
            assert accepting.recv(6) == b"result"
