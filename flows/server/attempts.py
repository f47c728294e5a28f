"""Trainings and evaluations that a server lets its workers do: each is begun once under its identity.

Prefect promises that one idempotency key makes one run, whoever asks and however often. A run that has ended keeps
its key, so the key has the number of the attempt.

    9a1c…:0    Crashed     a worker died
    9a1c…:1    Running     nothing to begin
    9a1c…:2    three attempts that Failed or Crashed, or one that was Cancelled: left to the user
"""

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from features.store.store import Store
from flows.project import Project
from flows.server.outbox import resource_id
from flows.server.prefect_address import is_on_this_machine, server_does, somebody_listens
from flows.terminal import conclude, warn
from flows.trainings.due import Contents, Due, due

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse

ATTEMPTS = 3
"""Attempts at a training or an evaluation, whatever ended them, before it is left to the user."""
_FLOW_OF = {"training": "train_encoder", "evaluation": "evaluate_encoder"}
"""Step → its flow."""
_ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def deployment_name(project: str, pool: str | None) -> str:
    """Return the name of the deployments of a project that work in a pool; None is the pool of the project."""
    return project if pool is None else f"{project}@{pool}"


def read_deployment(client: "SyncPrefectClient", flow: str, name: str) -> "DeploymentResponse | None":
    """Return a deployment of a flow; None if the server has none of that name."""
    from prefect.exceptions import ObjectNotFound

    try:
        return client.read_deployment_by_name(f"{flow}/{name}")
    except ObjectNotFound:
        return None


def begin_due(project: Project, store: Store) -> list[Due] | None:
    """Let the configured server do what is due, unless it does so already.

    Returns:
        What the server does, begun now or before; None if none works for this project: it is to be done here.
    """
    if not somebody_listens():
        return None
    items = due(project, Contents.of(store, store.release()))  # whose errors are not the server's
    with server_does("say which trainings it has begun") as client:
        deployed = read_deployment(client, _FLOW_OF["training"], project.name)
        if deployed is None or deployed.version != resource_id(store):  # another project of this name
            return None
        folder = Path(str(deployed.parameters.get("project_file"))).parent
        if folder != project.base and is_on_this_machine(str(client.api_url)):  # a copy of this project
            return None
        return [item for item in items if _begin(client, project, item)]


def _begin(client: "SyncPrefectClient", project: Project, item: Due) -> bool:
    """Begin one training or evaluation; return whether the server does it, and it is not left to the user."""
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterTags
    from prefect.client.schemas.sorting import FlowRunSort

    flow, tag = _FLOW_OF[item.step], f"facetflow:{item.identity}"
    begun, newest_first = FlowRunFilter(tags=FlowRunFilterTags(all_=[tag])), FlowRunSort.EXPECTED_START_TIME_DESC
    runs = client.read_flow_runs(flow_run_filter=begun, sort=newest_first)
    states = [run.state_type.value if run.state_type else "" for run in runs]
    if any(state not in _ENDED for state in states):
        return True
    since = states[: states.index("COMPLETED")] if "COMPLETED" in states else states
    if "CANCELLED" in since[:1] or len(since) >= ATTEMPTS:
        ended = "was cancelled" if "CANCELLED" in since[:1] else f"has ended without a result {ATTEMPTS} times"
        name = item.runs[0] if len(item.runs) == 1 else item.encoder.name
        words = f"train {name}" if item.step == "training" else f"evaluate {name} --promote"
        warn(f"{flow} ({item.subject}) {ended} and is not started again: `facetflow {words}` does.")
        return False
    keys = {run.idempotency_key for run in runs}  # None of a run that a user began with the tag
    number = next(number for number in count() if f"{item.identity}:{number}" not in keys)
    name = deployment_name(project.name, item.encoder.pool)
    parameters = {"names": [item.encoder.name]} if item.step == "training" else {"name": list(item.runs)}
    if (deployed := read_deployment(client, flow, name)) is None:
        warn(f"The server has no deployment {flow}/{name}: `facetflow deploy` or `facetflow up` registers it.")
        return False
    run = client.create_flow_run_from_deployment(
        deployed.id,
        parameters={**parameters, "wanted": item.identity},
        tags=[tag],
        idempotency_key=f"{item.identity}:{number}",
    )
    again = f", attempt {number + 1}" if number else ""
    conclude(f"The server does the {item.step} of {item.subject} ({run.name}{again}), because {item.reason}.")
    return True
