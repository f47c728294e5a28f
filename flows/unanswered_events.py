"""Events that a server has, and by which it began nothing.

A server writes an event down before it looks at what it triggers; what it has not looked at when it is killed, it never
looks at.

    announced ──> written down ──> training or evaluation
                               └── killed here: the next build begins it
"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from features.store.store import Store
from flows.dead_runs import read_runs
from flows.events import COMMITTED, TRAINED, announced
from flows.prefect_address import server_does
from flows.project import Project
from flows.terminal import warn

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.events import Event

PATIENCE = timedelta(seconds=120)
"""Age of an event after which a server has had the time to look at it: Prefect's may stand still for 60 s first."""
FOLLOWED_BY = {COMMITTED: ("train_encoder", "release", "release"), TRAINED: ("evaluate_encoder", "name", "run")}
"""Event → the flow that follows it, the parameter that says on what, and where the event has its value."""


def begin_unanswered(project: Project, store: Store) -> None:
    """Begin what should have followed the newest release, and its encoders, and was never begun.

    Where the trigger is off, or came after the event, nothing should have.

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
                warn(f"{flow} ({key} {value}) had not been begun though the server has the event, and is begun now.")


def _read_event(client: "SyncPrefectClient", identity: UUID) -> "Event | None":
    from prefect.events.filters import EventFilter, EventIDFilter

    found = client.read_events(EventFilter(id=EventIDFilter(id=[identity])), limit=1).events
    return found[0] if found else None
