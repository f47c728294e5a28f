"""The memory of local workers against the needs of the stages, before they start."""

from dataclasses import replace

import pytest

from features.core.errors import RunError
from features.parsers.settings import AmrSettings, SrlSettings
from features.stages.models import LIBRARIES, MIB, PROCESS, StageModels
from features.stages.registry import STAGES
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
    with pytest.raises(RunError) as error:
        check(GIB)
    assert str(error.value).startswith(
        "A worker needs at least 2.50 GiB for the models of the stages 'amr', 'srl', most"
    )
    assert str(error.value).endswith(
        "most of it for 'amr', and a worker of the local cluster is paused at 870.40 MiB of its limit of 1.00 GiB: set "
        "memory_limit in [cluster] to 3.23 GiB or more."
    )


def test_shares_of_the_machine_are_refused_with_the_number_of_workers_that_fits(check):
    with pytest.raises(RunError, match=r"set workers in \[cluster\] \(at most 2 workers\)"):
        check(GIB, shared=True)


def test_a_machine_that_is_too_small_for_one_worker_is_told_so(check, monkeypatch):
    monkeypatch.setattr(preflight, "MEMORY_LIMIT", GIB)
    with pytest.raises(RunError, match="this machine has too little memory for one"):
        check(GIB, shared=True)


def test_workers_without_a_gpu_are_not_given_what_goes_to_those_that_have_one(check):
    with pytest.raises(RunError, match="for the models of the stages 'amr', most of it for 'amr'"):
        check(GIB, gpu=True)
    check(GIB, stages=("srl",), gpu=True)
