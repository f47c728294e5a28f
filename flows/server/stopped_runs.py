"""Trainings and evaluations that ended because `facetflow up` was told to end: they go on when it runs again.

    down, Ctrl-C, SIGTERM at a shutdown ──> the time is recorded ──> flows are ended    still Running on the server, or
                                                                                        Crashed or Failed since then
    up ──> each of them is scheduled again: the same flow run, so that a stop is no attempt (`dead_runs.ATTEMPTS`)

A build is left to the next one. What ended with a power cut or `kill -9` counts as an attempt: it may be the cause.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from flows.server.dead_runs import LEARNING, read_runs, runs_of_processes
from flows.server.prefect_address import server_does

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun

_RUNNING = ("RUNNING", "PENDING")
_ENDED = ("CRASHED", "FAILED")


def go_on(since: datetime) -> list[str]:
    """Schedule trainings and evaluations again that an orderly stop ended; only while no worker runs.

    Args:
        since: when `facetflow up` was told to end.

    Returns:
        Flow and name of the runs, such as "train_encoder 'precise-unicorn'".

    Raises:
        RunError: the server does not answer as it should.
    """
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName
    from prefect.states import AwaitingRetry, Crashed

    said = "It was ended with `facetflow up`, and goes on."
    resumed = []
    with server_does("say what ran when it was stopped"), get_client(sync_client=True) as client:
        for flow in LEARNING:
            for deployment in client.read_deployments(flow_filter=FlowFilter(name=FlowFilterName(any_=[flow]))):
                for run in _stopped(read_runs(client, (*_RUNNING, *_ENDED), deployment.id), since):
                    # It gives back the slot of its deployment first.
                    client.set_flow_run_state(run.id, Crashed(message=said), force=True)
                    client.set_flow_run_state(run.id, AwaitingRetry(message=said), force=True)
                    resumed.append(f"{flow} {run.name!r}")
    return resumed


def _stopped(runs: "list[FlowRun]", since: datetime) -> "list[FlowRun]":
    """Return the runs that ended, without having said so or not before a time, each once by what it does."""
    here = runs_of_processes() if runs else set()
    found: dict[str, FlowRun] = {}
    for run in runs:
        state = run.state
        if state is None or run.id in here or (state.type.value in _ENDED and state.timestamp < since):
            continue
        found.setdefault(repr(sorted((name, str(value)) for name, value in run.parameters.items())), run)
    return list(found.values())
