"""Events that a server has received without starting what they trigger.

A server stores an event before it evaluates its triggers; if it is killed in between, it never does.

    announced ──> stored ──> training or evaluation
                         └── killed here: the next build starts it
"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from features.store.store import Store
from flows.project import Project
from flows.server.dead_runs import read_runs
from flows.server.events import COMMITTED, TRAINED, announced
from flows.server.prefect_address import server_does
from flows.terminal import warn

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.events import Event

PATIENCE = timedelta(seconds=120)
"""Age after which a server has had time to process an event: Prefect's may stall for 60 s first."""
FOLLOWED_BY = {COMMITTED: ("train_encoder", "release", "release"), TRAINED: ("evaluate_encoder", "name", "run")}
"""Event → the flow that follows it, the parameter that it sets, and the key of its value in the event."""


def begin_unanswered(project: Project, store: Store) -> None:
    """Start what should have followed the newest release and its encoders, and was never started.

    Nothing should have if the trigger is off, or was created after the event.

    Args:
        project: the project, as the configured server knows it.
        store: its store.

    Raises:
        RunError: the server does not answer as it should.
    """
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    with server_does("say what its events have begun"), get_client(sync_client=True) as client:
        told = list(announced(project, store))
        for name, (flow, parameter, key) in FOLLOWED_BY.items():
            try:
                deployment = client.read_deployment_by_name(f"{flow}/{project.name}")
            except ObjectNotFound:  # a server on which the project is not deployed
                return
            triggers = client.read_automations_by_name(f"{name} of {project.name}")
            if deployment.created is None or not any(trigger.enabled for trigger in triggers):
                continue
            begun = {str(run.parameters.get(parameter)) for run in read_runs(client, deployment=deployment.id)}
            for announcement in told:
                value = announcement.payload.get(key)
                if announcement.event != name or str(value) in begun:
                    continue
                event = _read_event(client, announcement.id)
                if event is None or not deployment.created <= event.occurred < datetime.now(UTC) - PATIENCE:
                    continue
                client.create_flow_run_from_deployment(
                    deployment.id, parameters={parameter: value}, idempotency_key=str(announcement.id)
                )
                warn(f"{flow} ({key} {value}) was not started although the server has the event; it is started now.")


def _read_event(client: "SyncPrefectClient", identity: UUID) -> "Event | None":
    from prefect.events.filters import EventFilter, EventIDFilter

    found = client.read_events(EventFilter(id=EventIDFilter(id=[identity])), limit=1).events
    return found[0] if found else None
