"""The deployments of a project on a Prefect server: build on a schedule, train after a release, then evaluate.

    build_features/<project>     cron                                       ──┐
    train_encoder/<project>      facetflow.features.committed of this store <─┘ ──┐
    evaluate_encoder/<project>   facetflow.encoder.trained of this store     <────┘ ──> promoted if its scores hold

One server serves any number of projects: deployments carry the project's name, triggers the id of its store. Deploying
again keeps existing schedules, on or off.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from features.core.errors import RunError, SettingsError
from features.store.store import Store
from flows.project import load
from flows.schedules import NIGHTLY, schedule_of
from flows.server.dead_runs import watch_heartbeats
from flows.server.events import COMMITTED, TRAINED, resource_id
from flows.server.passwords import shown
from flows.server.prefect_address import is_on_this_machine
from flows.server.unanswered_events import FOLLOWED_BY

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.objects import DeploymentSchedule
    from prefect.client.schemas.responses import DeploymentResponse
    from prefect.deployments.runner import RunnerDeployment

POOL = "facetflow"
"""Default name of the work pool."""
BUILD = "build_features"
TRAIN = "train_encoder"
FLOWS = (BUILD, TRAIN, "evaluate_encoder")


@dataclass(frozen=True, slots=True)
class Target:
    """What the deployments of a project are made from.

    Args:
        name: name of the project and of its deployments.
        project_file: absolute path.
        resource: id by which events name the project's store.
    """

    name: str
    project_file: Path
    resource: str


@dataclass(frozen=True, slots=True)
class Deployed:
    """Deployments that a server has.

    Args:
        names: names of the form `flow/deployment`.
        schedules: schedules of the build, in words; empty if it has none.
        former: deployments of the same project file under other names, from before the project was renamed.
    """

    names: tuple[str, ...]
    schedules: tuple[str, ...]
    former: tuple[str, ...] = ()


def deploy(project_file: Path, *, cron: str | None = None, pool: str = POOL) -> Deployed:
    """Register the deployments of a project on the configured server, or update them.

    Args:
        project_file: the project file.
        cron: schedule of the build, on from now; if None, existing schedules are kept.
        pool: work pool for processes on the workers' machines; created if missing.

    Raises:
        SettingsError: the project file is wrong, or so is the schedule (`schedule_of`).
        RunError: the server does not answer, or serves another project of this name.
    """
    from prefect.client.orchestration import get_client

    target = target_of(project_file)
    schedules = [{"schedule": schedule_of(cron), "active": True}] if cron is not None else None
    with get_client(sync_client=True) as client:
        _refuse_another_project(client, target)
        _make_pool(client, pool)
        watch_heartbeats(client)
        names = []
        for deployment in _deployments(target, pool):
            known = _read(client, str(deployment.flow_name), target.name)
            given = schedules if deployment.flow_name == BUILD else None
            # A schedule that is given is on: a paused deployment would not run by it.
            deployment.paused = known.paused if known is not None and given is None else False
            # Registering a deployment again replaces its schedules, and removes them if none are given.
            kept = [_kept(schedule) for schedule in known.schedules] if known is not None else None
            deployment.apply(schedules=given or kept)
            names.append(deployment.full_name)
        _remove_ownerless(client, target)
        return Deployed(tuple(names), _schedules(_read(client, BUILD, target.name)), _former(client, target))


def next_steps(made: Deployed, pool: str | None) -> str:
    """Return when the build runs, and what the user has to do for it.

    Args:
        made: the deployments.
        pool: work pool that needs a worker; None if one is running.
    """
    if made.schedules:
        when = f"The build is scheduled: {', '.join(made.schedules)}."
    else:
        when = f'The build has no schedule yet: give one with --cron "{NIGHTLY}".'
    worker = "" if pool is None else f" Flows need a running worker: prefect worker start --pool {pool}"
    former = (
        f"\nThe server still has {', '.join(made.former)} for this project file, from before the project was renamed: "
        "releases are trained on twice until you delete them, on the server's page or with `prefect deployment delete "
        "NAME`."
    )
    return when + worker + (former if made.former else "")


def describe(project_file: str) -> dict[str, Any]:
    """Return what `prefect.yaml` needs to know about a project: the build step of its deployments.

    Args:
        project_file: the project file.

    Returns:
        `name`, `project_file`, `resource` (id of the store in events); `cron`, `timezone` and `active` of the build's
        schedule on the server, so that deploying again does not change it.

    Raises:
        SettingsError: no project is named.
        RunError: the server serves another project of this name, or has schedules that one cron expression cannot keep.
    """
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.schedules import CronSchedule

    if not project_file.strip() or "{{" in project_file:
        raise SettingsError("FACETFLOW_PROJECT is not set: name the project file in it, and deploy again.")
    target = target_of(Path(project_file))
    with get_client(sync_client=True) as client:
        _refuse_another_project(client, target)
        watch_heartbeats(client)  # here, because Prefect's own command line deploys what we describe
        deployment = _read(client, BUILD, target.name)
    described = {"name": target.name, "project_file": str(target.project_file), "resource": target.resource}
    if deployment is None or not deployment.schedules:
        return described | {"cron": NIGHTLY, "timezone": "UTC", "active": False}
    known, *others = deployment.schedules
    if others or not isinstance(known.schedule, CronSchedule):
        raise RunError(
            f"The build of {target.name!r} has schedules on the server that prefect.yaml would replace by one cron "
            f"expression ({', '.join(_schedules(deployment))}): deploy with `facetflow deploy`, which keeps them."
        )
    return described | {
        "cron": known.schedule.cron,
        "timezone": known.schedule.timezone or "UTC",
        # Prefect's own command line ends a pause: the schedule is off instead.
        "active": known.active and not deployment.paused,
    }


def target_of(project_file: Path) -> Target:
    """Read what the deployments of a project are made from; its store is created if missing."""
    project = load(project_file)
    store = Store.open(project.store, create=True, project=project.name)
    store.check_owner(project.name)
    return Target(project.name, project_file.expanduser().resolve(), resource_id(store))


def _deployments(target: Target, pool: str) -> "Sequence[RunnerDeployment]":
    """Return the three deployments."""
    from prefect import Flow
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.events import DeploymentEventTrigger, DeploymentTriggerTypes, ResourceSpecification, TriggerTypes
    from prefect.types.entrypoint import EntrypointType

    from flows.build_features import build_features
    from flows.evaluate_encoder import evaluate_encoder
    from flows.train_encoder import train_encoder

    def trigger(event: str) -> list[DeploymentTriggerTypes | TriggerTypes]:
        _, parameter, key = FOLLOWED_BY[event]
        return [
            DeploymentEventTrigger(
                name=_trigger_name(event, target),
                match=ResourceSpecification({"prefect.resource.id": target.resource}),
                expect={event},
                parameters={parameter: f"{{{{ event.payload.{key} }}}}"},
            )
        ]

    started_by_release = trigger(COMMITTED)
    started_by_training = trigger(TRAINED)

    def deployment(
        flow: Flow[..., Any],
        description: str,
        triggers: list[DeploymentTriggerTypes | TriggerTypes] | None = None,
        **more: Any,
    ) -> "RunnerDeployment":
        made = flow.to_deployment(  # a coroutine if an event loop runs, which is not the case here
            target.name,
            description=description,
            parameters={"project_file": str(target.project_file), **more},
            triggers=triggers,
            # Builds of one store run one at a time; so do trainings and evaluations on one machine.
            concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
            entrypoint_type=EntrypointType.MODULE_PATH,
            work_pool_name=pool,
        )
        return cast("RunnerDeployment", made)

    return [
        deployment(build_features, "Bring the feature store up to date and publish a release."),
        deployment(
            train_encoder,
            "Train the encoders whose input changed in the release that a build has published.",
            started_by_release,
            only_changed=True,
        ),
        deployment(
            evaluate_encoder,
            "Evaluate the encoder that was trained, and promote it if its scores hold.",
            started_by_training,
            promote=True,
        ),
    ]


def _make_pool(client: "SyncPrefectClient", pool: str) -> None:
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound

    try:
        client.read_work_pool(pool)
    except ObjectNotFound:
        with suppress(ObjectAlreadyExists):  # another project is deployed at the same time
            client.create_work_pool(WorkPoolCreate(name=pool, type="process"))


def _read(client: "SyncPrefectClient", flow: str, name: str) -> "DeploymentResponse | None":
    from prefect.exceptions import ObjectNotFound

    try:
        return client.read_deployment_by_name(f"{flow}/{name}")
    except ObjectNotFound:
        return None


def _refuse_another_project(client: "SyncPrefectClient", target: Target) -> None:
    """Refuse to take over the deployments of another store, which keeps its id wherever its folder is mounted."""
    deployment = _read(client, BUILD, target.name)
    known = deployment.parameters.get("project_file") if deployment is not None else None
    stores = _stores_of(client, target.name)
    if not stores or target.resource in stores:
        return
    # On a server of this machine a path identifies a project: its store was recreated.
    if known == str(target.project_file) and is_on_this_machine(str(client.api_url)):
        return
    raise RunError(
        f"The Prefect server at {shown(str(client.api_url))} serves another project named {target.name!r}, of "
        f"{known!r} with the store {stores[0]!r}: give this one another name in "
        f"{str(target.project_file)!r}, or delete the other's deployments if they belong to a store that this "
        "project had before."
    )


def _stores_of(client: "SyncPrefectClient", name: str) -> list[str]:
    """Return the ids of the stores whose releases the deployments of a name wait for, read from their triggers."""
    deployment = _read(client, TRAIN, name)
    if deployment is None:
        return []
    related = client.read_resource_related_automations(f"prefect.deployment.{deployment.id}")
    matches = [getattr(automation.trigger, "match", None) for automation in related]
    named = [match.root.get("prefect.resource.id", "") for match in matches if match is not None]
    return [str(resource) for resource in named if str(resource).startswith("facetflow.store.")]


def _former(client: "SyncPrefectClient", target: Target) -> tuple[str, ...]:
    """Return the deployments of the project file and its store under other names: their triggers are still there."""
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName

    found = [
        (flow, known.name)
        for flow in FLOWS
        for known in client.read_deployments(flow_filter=FlowFilter(name=FlowFilterName(any_=[flow])))
        if known.parameters.get("project_file") == str(target.project_file) and known.name != target.name
    ]
    # On a server of many machines a path alone does not identify a project.
    names = {name for name in {name for _, name in found} if target.resource in _stores_of(client, name)}
    return tuple(f"{flow}/{name}" for flow, name in found if name in names)


def _remove_ownerless(client: "SyncPrefectClient", target: Target) -> None:
    """Delete triggers whose deployment was deleted: Prefect leaves them, and each of their events would fail."""
    from prefect.events.actions import RunDeployment
    from prefect.exceptions import ObjectNotFound

    for event in FOLLOWED_BY:
        for automation in client.read_automations_by_name(_trigger_name(event, target)):
            started = [action.deployment_id for action in automation.actions if isinstance(action, RunDeployment)]
            try:
                for deployment in filter(None, started):
                    client.read_deployment(deployment)
            except ObjectNotFound:
                client.delete_automation(automation.id)


def _trigger_name(event: str, target: Target) -> str:
    return f"{event} of {target.name}"


def _schedules(deployment: "DeploymentResponse | None") -> tuple[str, ...]:
    """Return the schedules of a deployment in words."""
    if deployment is None:
        return ()
    on = "off: the deployment is paused" if deployment.paused else "on"
    return tuple(f"{_words(known.schedule)} ({on if known.active else 'off'})" for known in deployment.schedules)


def _words(schedule: Any) -> str:
    for name in ("cron", "interval", "rrule"):
        if (value := getattr(schedule, name, None)) is not None:
            return f"{name} {value} {getattr(schedule, 'timezone', None) or 'UTC'}"
    return str(schedule)


def _kept(known: "DeploymentSchedule") -> dict[str, Any]:
    """Return a schedule of the server in the form that `apply` takes."""
    return known.model_dump(include={"schedule", "active", "parameters", "slug"}, exclude_none=True) | {
        "schedule": known.schedule
    }
