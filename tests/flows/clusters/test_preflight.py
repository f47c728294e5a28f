"""What is checked on workers: the memory of local ones before they start, and what those of a cluster answer."""

import os
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from dask.utils import parse_bytes
from distributed import LocalCluster
from distributed.comm.core import CommClosedError
from sentences import refused

from features.core.faults import OtherCode, StoreUnseen, TooLittleMemory, WorkerLacksModel
from features.parsers.settings import AmrSettings, SrlSettings
from features.stages.registry import STAGES
from features.stages.stage import LIBRARIES, MIB, PROCESS, StageModels
from flows.clusters import preflight
from flows.clusters.preflight import Preflight
from flows.stages import Chain

GIB = 1 << 30
NEEDED = {
    "amr": StageModels(frozenset({"torch"}), beside=2 * GIB),
    "srl": StageModels(frozenset({"torch"}), beside=100 * MIB),
}
FIT = {"code": preflight.OWN_CODE, "store": "id", "unseen": None, "writable": None, "missing": [], "pause": None}


@pytest.fixture
def check(monkeypatch):
    """Return a function that compares a limit with stages that need 2.1 GiB besides the process and its libraries."""
    needing = {name: replace(STAGES[name], models=lambda _, needs=needs: needs) for name, needs in NEEDED.items()}
    monkeypatch.setattr(preflight, "STAGES", needing)
    monkeypatch.setattr(preflight, "MEMORY_LIMIT", 8 * GIB)

    def compare(limit, *, stages=("amr", "srl"), shared=False, gpu=False):
        chain = Chain((), {"amr": AmrSettings(), "srl": SrlSettings(device="cpu")})
        Preflight(None, chain, stages, gpu=gpu).check_local(limit, 0.85, shared=shared)

    return compare


def test_a_limit_that_suffices_is_not_spoken_of(check):
    check(int((PROCESS + LIBRARIES["torch"] + NEEDED["amr"].beside + NEEDED["srl"].beside) / 0.85) + 1)


def test_a_limit_at_which_every_worker_would_rest_is_refused(check):
    with refused(TooLittleMemory) as told:
        check(GIB)
    enough = re.search(r"memory_limit in \[cluster\] to (.*) or more", str(told.value))[1]
    check(parse_bytes(enough))
    with refused(TooLittleMemory):
        check(int(parse_bytes(enough) * 0.85))


def test_shares_of_the_machine_are_refused_with_the_number_of_workers_that_fits(check):
    with refused(TooLittleMemory):
        check(GIB, shared=True)


def test_a_machine_that_is_too_small_for_one_worker_is_told_so(check, monkeypatch):
    monkeypatch.setattr(preflight, "MEMORY_LIMIT", GIB)
    with refused(TooLittleMemory):
        check(GIB, shared=True)


def test_workers_without_a_gpu_are_not_given_what_goes_to_those_that_have_one(check):
    with refused(TooLittleMemory):
        check(GIB, gpu=True)
    check(GIB, stages=("srl",), gpu=True)


@pytest.mark.slow
def test_a_worker_that_leaves_while_it_is_asked_ends_no_build(monkeypatch):
    def leave(_store, _models, _files, dask_worker):
        if dask_worker.name == 1:
            os._exit(1)
        return FIT

    assert _fit(monkeypatch, leave) == {0}


def test_a_worker_whose_connection_broke_is_asked_again_although_the_scheduler_still_has_it(monkeypatch):
    def break_off(_store, _models, _files, dask_worker):
        if dask_worker.name == 1:
            raise CommClosedError
        return FIT

    assert _fit(monkeypatch, break_off) == {0}


def _fit(monkeypatch, report):
    """Return the names of those of two workers that are fit for a build, by what a function makes them answer."""
    monkeypatch.setattr(preflight, "report", report)
    check = Preflight(SimpleNamespace(location="", id="id"), Chain((), {}), (), gpu=False)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        names = {worker.worker_address: name for name, worker in cluster.workers.items()}
        with cluster.get_client() as client:
            check.check(client, cluster.scheduler_address)
    return {names[address] for address in check.fit}


@pytest.fixture
def ask(check):
    """Return a function that checks a worker of an existing cluster by its answer, and returns the workers that fit."""

    def checked(answer, *, left=False):
        like_here = {"packages": {"python": "3.11.7", "facetflow": "0.1.0"}}
        client = SimpleNamespace(
            get_versions=lambda packages: {"client": like_here, "workers": {"tls://1": like_here}},
            run=lambda _, workers, on_error: dict.fromkeys(workers, answer),
            scheduler=SimpleNamespace(identity=None),
            sync=lambda _, n_workers: {"workers": {} if left else {"tls://1": {"resources": {}}}},
        )
        store = SimpleNamespace(location="s3://bucket/prefix", id="id")
        asking = Preflight(store, Chain((), {"amr": AmrSettings()}), ["amr"], gpu=False)
        asking.check(client, "tls://host:8786", ["tls://1"])
        return asking.fit

    return checked


NO_CREDENTIALS = "There are no credentials for 's3://bucket/prefix': set AWS_ACCESS_KEY_ID, or give a role."


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (FIT | {"code": "of yesterday"}, OtherCode),
        (ImportError("No module named 'tasks'"), OtherCode),
        (FIT | {"store": None, "unseen": NO_CREDENTIALS}, StoreUnseen),
        (FIT | {"store": None}, StoreUnseen),
        (FIT | {"store": "another"}, StoreUnseen),
        (FIT | {"writable": "Permission denied"}, StoreUnseen),
        (FIT | {"missing": ["There is no model 'amr'; pull it"]}, WorkerLacksModel),
        (FIT | {"pause": GIB}, TooLittleMemory),
    ],
    ids=["code", "import", "unseen", "no store", "another store", "read only", "model", "memory"],
)
def test_a_worker_that_could_not_make_the_shards_is_refused_unless_it_has_left(ask, answer, fault):
    with refused(fault):
        ask(answer)
    assert ask(answer, left=True) == set()


def test_a_worker_that_can_make_the_shards_is_fit(ask):
    assert ask(FIT) == ask(FIT | {"pause": 8 * GIB}) == {"tls://1"}
