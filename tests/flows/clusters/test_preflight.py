"""The memory of local workers against the needs of the stages, before they start."""

from dataclasses import replace

import pytest
from sentences import refused

from features.core.faults import TooLittleMemory
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


@pytest.fixture
def check(monkeypatch):
    """Return a function that compares a limit with stages that need 2.1 GiB besides the process and its libraries."""
    needing = {name: replace(STAGES[name], models=lambda _, needs=needs: needs) for name, needs in NEEDED.items()}
    monkeypatch.setattr(preflight, "STAGES", needing)
    monkeypatch.setattr(preflight, "MEMORY_LIMIT", 8 * GIB)

    def compare(limit, *, stages=("amr", "srl"), shared=False, gpu=False):
        chain = Chain((), {"amr": AmrSettings(), "srl": SrlSettings(device="cpu")}, ())
        Preflight(None, chain, stages, gpu=gpu).check_local(limit, 0.85, shared=shared)

    return compare


def test_a_limit_that_suffices_is_not_spoken_of(check):
    check(int((PROCESS + LIBRARIES["torch"] + NEEDED["amr"].beside + NEEDED["srl"].beside) / 0.85) + 1)


def test_a_limit_at_which_every_worker_would_rest_is_refused(check):
    with refused(TooLittleMemory):
        check(GIB)


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
