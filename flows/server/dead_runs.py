"""Flow runs that the server still counts as running although their process is gone, and what they had begun.

A run holds the only slot of its deployment until it ends, and one that died with its machine never ends: the next
builds would wait behind it for ever.

    `facetflow up`      no process of this machine has the run's id           ─┐
    any server          an automation: no heartbeat of the run for ten minutes ─┴─> Crashed
    the next build      a training on the newest release or an evaluation that crashed or failed is restarted

Those that ended because `facetflow up` was told to end are no attempts (`flows.server.stopped_runs`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psutil

from flows.server.prefect_address import server_does
from flows.terminal import warn

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.objects import FlowRun

AUTOMATION = "facetflow: runs without a heartbeat"
"""Name of the automation; a server needs one, however many projects it serves."""
SILENCE = 600
"""Seconds without a heartbeat after which a run counts as dead; runs send one every 180 s."""
ATTEMPTS = 3
"""Attempts at a training or an evaluation, whatever ended them, before it is left to the user."""
_MANY = 200
"""Runs that a server returns in one request."""
_RUN_ID = "PREFECT__FLOW_RUN_ID"
LEARNING = ("train_encoder", "evaluate_encoder")
"""Flows that are restarted when they ended without a result; a build continues what the one before left."""
_FLOWS = ("build_features", *LEARNING)


def mark_dead_runs(*, worker_runs: bool) -> list[str]:
    """Mark deployment runs without a process here as crashed; only for a server whose workers are all on this machine.

    Args:
        worker_runs: whether a worker is running, which may be about to start or end the process of a run.

    Returns:
        The names of the runs.

    Raises:
        RunError: the server does not answer as it should.
    """
    from prefect.client.orchestration import get_client
    from prefect.states import Crashed

    # A worker starts pending runs, and reports itself when a run that is being cancelled has ended.
    begun = ("RUNNING",) if worker_runs else ("RUNNING", "CANCELLING", "PENDING")
    with server_does("say which runs it holds to be running"), get_client(sync_client=True) as client:
        suspects = [run for run in read_runs(client, begun) if run.deployment_id is not None]
        here = runs_of_processes() if suspects else set()
        dead = []
        for run in suspects:
            # Read again: it may have ended, and reported it, before its process was looked for.
            state = client.read_flow_run(run.id).state_type
            if run.id not in here and state is not None and state.value in begun:
                client.set_flow_run_state(run.id, Crashed(message="Its process is gone."), force=True)
                dead.append(run.name)
    return dead


def watch_heartbeats(client: "SyncPrefectClient") -> None:
    """Make the server mark runs of our flows as crashed when they stop sending heartbeats, wherever they ran.

    Args:
        client: client of the server; its automation is created or updated.
    """
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
                {"prefect.resource.role": "flow", "prefect.resource.name": list(_FLOWS)}
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
    known = client.read_automations_by_name(automation.name)
    for found in known:
        client.update_automation(found.id, automation)
    if not known:
        client.create_automation(automation)


def begin_again(project: str, newest: int | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Restart trainings and evaluations of a project that crashed or failed and have not been completed since.

    Args:
        project: name of the project, by which the configured server knows its deployments.
        newest: number of the newest release; trainings on older ones are not restarted.

    Returns:
        Flow and parameters of those that are not restarted, after too many attempts.

    Raises:
        RunError: the server does not answer as it should.
    """
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    given_up = []
    with server_does("say which trainings have ended"), get_client(sync_client=True) as client:
        for flow in LEARNING:
            try:
                deployment = client.read_deployment_by_name(f"{flow}/{project}")
            except ObjectNotFound:  # a server on which the project is not deployed
                continue
            for parameters, attempts in _undone(read_runs(client, deployment=deployment.id), newest):
                if attempts >= ATTEMPTS:
                    given_up.append((flow, parameters))
                    continue
                client.create_flow_run_from_deployment(deployment.id, parameters=parameters)
                what = parameters.get("name") or f"release {parameters.get('release') or 'unknown'}"
                warn(f"{flow} ({what}) ended without a result and is started again.")
    return given_up


def _undone(runs: "Sequence[FlowRun]", newest: int | None) -> list[tuple[dict[str, Any], int]]:
    """Return the parameters whose runs all crashed or failed, with the number of these attempts.

    Args:
        runs: runs of one deployment, newest first; those before a completed one of the same subject are ignored.
        newest: number of the newest release; runs of older ones are ignored.
    """
    states: defaultdict[str, Counter[str]] = defaultdict(Counter)
    parameters: dict[str, dict[str, Any]] = {}
    completed: set[tuple[str, str]] = set()
    for run in runs:
        subject, release = _subject(run.parameters), str(run.parameters.get("release"))
        if _state(run) == "COMPLETED":
            completed.add(subject)
        if subject in completed or (newest is not None and release.isdecimal() and int(release) < newest):
            continue
        key = repr(sorted((name, str(value)) for name, value in run.parameters.items()))
        parameters[key] = run.parameters
        states[key][_state(run)] += 1
    ended = {"CRASHED", "FAILED"}
    return [(parameters[key], found.total()) for key, found in states.items() if found.keys() <= ended]


def _subject(parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return encoder and seed of an evaluation: all encoders share a deployment. A training is of all encoders."""
    name = str(parameters.get("name") or "")
    return name.partition("/")[0], name.rpartition("/")[2]


def _state(run: "FlowRun") -> str:
    return run.state_type.value if run.state_type is not None else ""


def read_runs(
    client: "SyncPrefectClient", states: Sequence[str] = (), deployment: UUID | None = None
) -> "list[FlowRun]":
    """Return runs that a server knows, newest first; not all if there are many.

    Args:
        client: client of the server.
        states: states of the runs, such as "RUNNING"; any if empty.
        deployment: id of their deployment; any by default.
    """
    from prefect.client.schemas.filters import (
        DeploymentFilter,
        DeploymentFilterId,
        FlowRunFilter,
        FlowRunFilterState,
        FlowRunFilterStateType,
    )
    from prefect.client.schemas.objects import StateType
    from prefect.client.schemas.sorting import FlowRunSort

    kinds = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType(state) for state in states]))
    return client.read_flow_runs(
        flow_run_filter=FlowRunFilter(state=kinds) if states else None,
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])) if deployment else None,
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
        limit=_MANY,
    )


def runs_of_processes() -> set[UUID]:
    """Return the ids of the flow runs that have a process on this machine."""
    return {run for _, run, _ in _processes()}


def processes_of_flows(url: str) -> list[psutil.Process]:
    """Return the processes of this machine that run flows for a server, without those that they have started.

    Args:
        url: address of the server's API.
    """
    found = [process for process, _, server in _processes() if server == url]
    known = {process.pid for process in found}
    first = []
    for process in found:
        with suppress(psutil.Error):  # it has just ended
            if process.ppid() not in known:
                first.append(process)
    return first


def _processes() -> Iterator[tuple[psutil.Process, UUID, str | None]]:
    """Yield each process that works for a flow run, the id of the run, and the address of its server."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, ValueError, OSError):  # it has just ended, or belongs to another user
            environment = process.environ()
            yield process, UUID(environment.get(_RUN_ID, "")), environment.get("PREFECT_API_URL")
