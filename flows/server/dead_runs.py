"""Flow runs that the server still counts as running although their process is gone.

A run holds the only slot of its deployment until it ends, and one that died with its machine never ends: the next
refreshes would wait behind it for ever. Prefect itself sends heartbeats of runs and leaves what follows to automations.

    `facetflow up`      no process of this machine has the run's id           ─┐
    any server          an automation: no heartbeat of the run for ten minutes ─┴─> Crashed; the next refresh goes on
    `up` told to end    the runs that it ended                                 ───> scheduled again, which is no attempt
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

import psutil

from flows.server.prefect_address import server_does

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

AUTOMATION = "facetflow: runs without a heartbeat"
"""Name of the automation; a server needs one, however many projects it serves."""
SILENCE = 600
"""Seconds without a heartbeat after which a run counts as dead; runs send one every 180 s."""
FLOWS = ("refresh", "train_encoder", "evaluate_encoder")
"""The flows of a project that have deployments."""


def mark_dead_runs(*, worker_runs: bool) -> list[str]:
    """Mark deployment runs without a process here as crashed, and return their names.

    Only for a server whose workers are all on this machine; one that runs may be about to start or end a process.
    """
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterState, FlowRunFilterStateType
    from prefect.client.schemas.objects import StateType
    from prefect.states import Crashed

    # A worker starts pending runs, and reports itself when a run that is being cancelled has ended.
    begun = ("RUNNING",) if worker_runs else ("RUNNING", "CANCELLING", "PENDING")
    with server_does("say which runs it holds to be running") as client:
        kinds = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType(state) for state in begun]))
        running = client.read_flow_runs(flow_run_filter=FlowRunFilter(state=kinds))
        suspects = [run for run in running if run.deployment_id is not None]
        alive = runs_of_processes() if suspects else set()
        dead = []
        for run in suspects:
            # Read again: it may have ended, and reported it, before its process was looked for.
            state = client.read_flow_run(run.id).state_type
            if run.id not in alive and state is not None and state.value in begun:
                client.set_flow_run_state(run.id, Crashed(message="Its process is gone."), force=True)
                dead.append(run.name)
    return dead


def schedule_again(runs: set[UUID]) -> list[str]:
    """Schedule ended runs again that had not done their work, for the next worker, and return their names."""
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
    from prefect.states import AwaitingRetry, Crashed

    message = "It was ended with `facetflow up`, and goes on when that runs again."
    names = []
    with server_does("schedule again what was ended") as client:
        # Those that it still has: it may have lost its database meanwhile.
        for run in client.read_flow_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=list(runs)))):
            if run.state_type is None or run.state_type.value in {"COMPLETED", "CANCELLED", "CANCELLING"}:
                continue
            client.set_flow_run_state(run.id, Crashed(message=message), force=True)  # which gives back its slot
            client.set_flow_run_state(run.id, AwaitingRetry(message=message), force=True)
            names.append(run.name)
    return names


def watch_heartbeats(client: "SyncPrefectClient") -> None:
    """Make the server mark runs of our flows as crashed when they stop sending heartbeats, wherever they ran."""
    from prefect.client.schemas.objects import StateType
    from prefect.events import AutomationCore, EventTrigger, Posture, ResourceSpecification
    from prefect.events.actions import ChangeFlowRunState

    heartbeat = "prefect.flow-run.heartbeat"
    ends = {f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed")}
    automation = AutomationCore(
        name=AUTOMATION,
        description="Marks runs as crashed that have sent no heartbeat for ten minutes.",
        trigger=EventTrigger(
            after={heartbeat},
            expect={heartbeat, *ends},
            match=ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"}),
            match_related=ResourceSpecification(
                {"prefect.resource.role": "flow", "prefect.resource.name": list(FLOWS)}
            ),
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=SILENCE,  # type: ignore[arg-type]  # pydantic takes seconds
        ),
        actions=[
            ChangeFlowRunState(  # type: ignore[call-arg]  # the other fields have defaults
                state=StateType.CRASHED, message="It has sent no heartbeat for ten minutes."
            )
        ],
    )
    automations = client.read_automations_by_name(automation.name)
    for each in automations:
        client.update_automation(each.id, automation)
    if not automations:
        client.create_automation(automation)


def runs_of_processes(url: str | None = None) -> set[UUID]:
    """Return the ids of the flow runs with a process on this machine, of any server or of the one at `url`."""
    return {run for _, run, server in _processes() if url in (None, server)}


def processes_of_flows(url: str) -> list[psutil.Process]:
    """Return the processes here that run flows for the server with an API at `url`, without those that they started."""
    processes = [process for process, _, server in _processes() if server == url]
    ids = {process.pid for process in processes}
    first = []
    for process in processes:
        with suppress(psutil.Error):  # it has just ended
            if process.ppid() not in ids:
                first.append(process)
    return first


def _processes() -> Iterator[tuple[psutil.Process, UUID, str | None]]:
    """Yield each process that works for a flow run, the id of the run, and the address of its server."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, ValueError, OSError):  # it has just ended, or belongs to another user
            environment = process.environ()
            yield process, UUID(environment.get("PREFECT__FLOW_RUN_ID", "")), environment.get("PREFECT_API_URL")
