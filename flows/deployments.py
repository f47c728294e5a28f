"""The deployments of a project on a Prefect server: refresh on a schedule, and what a refresh begins.

    refresh/<project>             cron     build, publish, and begin what is due:
    train_encoder/<project>                a training, which begins the evaluation that is due after it
    evaluate_encoder/<project>             an evaluation; promoted if its scores hold
    train_encoder/<project>@gpu            both again for each further pool that an encoder names (`pool = "gpu"`)

One server serves any number of projects: deployments carry the project's name, and the id of its store as their
version (Prefect 3.8.8 loses the tags of a prefect.yaml). Deploying again keeps existing schedules, on or off: Prefect
keeps them where none are given. What the server of `facetflow up` has lost with its database is registered again:
otherwise schedules would end without a word.
"""

import asyncio
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from features.core.errors import FacetflowError
from features.core.faults import NoProjectFile, OtherProjectsServer, PauseEnds, ScheduleWrong
from features.store.store import Store
from flows.building.store_access import own_store
from flows.project import load
from flows.server import up_record
from flows.server.attempts import deployment_name, read_deployment
from flows.server.dead_runs import FLOWS, watch_heartbeats
from flows.server.outbox import resource_id
from flows.server.passwords import shown
from flows.server.prefect_address import is_on_this_machine, server_does
from flows.terminal import say, warn

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse
    from prefect.client.schemas.schedules import CronSchedule
    from prefect.deployments.runner import RunnerDeployment

POOL = "facetflow"
"""Default name of the work pool."""
REFRESH = "refresh"
NIGHTLY = "0 3 * * *"
"""The schedule of examples."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the deployments of a project are made from: its absolute path, the id of its store, further work pools."""

    name: str
    project_file: Path
    resource: str
    pools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deployed:
    """Deployments that a server has, as `flow/deployment`; schedules of the refresh in words; further work pools.

    The former ones are of the same project file under other names: of a former name of the project, or pool.
    """

    names: tuple[str, ...]
    schedules: tuple[str, ...]
    pools: tuple[str, ...] = ()
    former: tuple[str, ...] = ()


def deploy(project_file: Path, *, cron: str | None = None, pool: str = POOL) -> Deployed:
    """Register the deployments of a project on the configured server, or update them; make its work pools if missing.

    Without a schedule of the refresh, which is on from now, existing ones are kept.
    """
    target = target_of(project_file)
    schedules = [{"schedule": schedule_of(cron), "active": True}] if cron is not None else None
    with server_does(f"register the project {target.name!r}") as client:
        _refuse_another_project(client, target)
        for each in (pool, *target.pools):
            _make_pool(client, each)
        watch_heartbeats(client)
        names = []
        for deployment in _deployments(target, pool):
            registered = read_deployment(client, str(deployment.flow_name), str(deployment.name))
            given = schedules if deployment.flow_name == REFRESH else None
            # A schedule that is given is on: a paused deployment would not run by it.
            deployment.paused = registered.paused if registered is not None and given is None else False
            deployment.model_fields_set.discard("schedules")  # an empty list, as Prefect makes, would remove them
            deployment.apply(schedules=given)
            names.append(deployment.full_name)
        schedules_now = _schedules(client.read_deployment_by_name(f"{REFRESH}/{target.name}"))
        return Deployed(tuple(names), schedules_now, target.pools, _former(client, target, names))


def schedule_of(cron: str) -> "CronSchedule":
    """Return the schedule of a cron expression, in UTC; refuse seconds, years, and a time that never comes."""
    from prefect.client.schemas.schedules import CronSchedule
    from prefect.server.schemas import schedules as of_server

    advice = f"give minute, hour, day, month, weekday, as in {NIGHTLY!r}."
    try:
        schedule = CronSchedule(cron=cron)
    except ValueError as error:
        raise ScheduleWrong(f"The schedule {cron!r} is not a cron expression: {advice}") from error
    # Prefect reads a sixth field as seconds, others read the first one so: sixty refreshes at a time that nobody meant.
    if (fields := len(cron.split())) > 5:
        raise ScheduleWrong(f"The schedule {cron!r} has {fields} fields instead of five: {advice}")
    try:
        asyncio.run(of_server.CronSchedule(cron=cron).get_dates(1))
    except ValueError as error:  # Prefect's server would log this every minute, where nobody looks
        raise ScheduleWrong(
            f"The schedule {cron!r} never comes, because no month in it has that day: {advice}"
        ) from error
    return schedule


def deploy_lost() -> None:
    """Register the recorded projects again on a server that has none, or name those that it lacks.

    Of a server that has others, somebody may have deleted them.
    """
    recorded = up_record.projects()
    try:
        present = _project_files() if recorded else set()
    except FacetflowError as error:
        warn(f"{error} Whether it still has its projects is unknown.")
        return
    for project_file, cron in recorded.items():
        if project_file in present or (present and not Path(project_file).exists()):  # it was moved or deleted
            continue
        if present:
            named = f"--project {shlex.quote(project_file)}"
            warn(f"The server lacks the project {project_file!r}: `facetflow up {named}` registers it again.")
            continue
        try:
            made = deploy(Path(project_file), cron=cron)
            again = f"registered again: {', '.join(made.names)}. {next_steps(made, None)}"
            say(f"The server has lost its projects; {again}")
        except FacetflowError as error:
            warn(f"The server has lost the project {project_file!r}, and it cannot be registered again: {error}")


def next_steps(made: Deployed, pool: str | None) -> str:
    """Return when the refresh runs, and what is to be done for it, also for the pool of the project if it is named."""
    if made.schedules:
        when = f"The refresh is scheduled: {', '.join(made.schedules)}."
    else:
        when = f'The refresh has no schedule yet: give one with --cron "{NIGHTLY}".'
    pools = [*([pool] if pool is not None else []), *made.pools]
    commands = " and ".join(f"prefect worker start --pool {shlex.quote(each)}" for each in pools)
    worker = f" Flows need a running worker: {commands}" if pools else ""
    former = (
        f"\nThe server still has {', '.join(made.former)} for this project file, of a former name or pool: delete "
        "them, on the server's page or with `prefect deployment delete NAME`."
    )
    return when + worker + (former if made.former else "")


def describe(project_file: str) -> dict[str, str]:
    """Return what `prefect.yaml` needs to know about a project: the build step of its deployments.

    Returns:
        `name`, `project_file`, `resource` (id of the store).
    """
    from prefect.client.orchestration import get_client

    if not project_file.strip() or "{{" in project_file:
        raise NoProjectFile("FACETFLOW_PROJECT is not set: name the project file in it, and deploy again.")
    target = target_of(Path(project_file))
    with get_client(sync_client=True) as client:
        _refuse_another_project(client, target)
        watch_heartbeats(client)  # here, because Prefect's own command line deploys what we describe
        deployment = read_deployment(client, REFRESH, target.name)
    if deployment is not None and deployment.paused:
        raise PauseEnds(
            f"The refresh of {target.name!r} is paused on the server, and Prefect's own command line would end that: "
            "deploy with `facetflow deploy`, which keeps it."
        )
    return {"name": target.name, "project_file": str(target.project_file), "resource": target.resource}


def target_of(project_file: Path) -> Target:
    """Read what the deployments of a project are made from; its own store is created if missing."""
    project = load(project_file)
    store = own_store(project, create=True) if project.corpora else Store.open(project.store)
    if not project.corpora and project.name == store.project:
        raise OtherProjectsServer(
            f"The project that builds the store {str(store.location)!r} has the name {project.name!r}, too: give this "
            "one, which only trains on it, a name of its own."
        )
    pools = dict.fromkeys(encoder.pool for encoder in project.encoders if encoder.pool is not None)
    return Target(project.name, project_file.expanduser().resolve(), resource_id(store), tuple(pools))


def _deployments(target: Target, pool: str) -> "Sequence[RunnerDeployment]":
    from prefect import Flow
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.types.entrypoint import EntrypointType

    from flows.evaluate_encoder import evaluate_encoder
    from flows.refresh import refresh
    from flows.train_encoder import train_encoder

    def deployment(flow: Flow[..., Any], description: str, other: str | None = None, **more: Any) -> "RunnerDeployment":
        made = flow.to_deployment(  # a coroutine if an event loop runs, which is not the case here
            deployment_name(target.name, other),
            description=description,
            parameters={"project_file": str(target.project_file), **more},
            version=target.resource,
            # Of a project, one refresh runs at a time, and in each pool one training and one evaluation.
            concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
            entrypoint_type=EntrypointType.MODULE_PATH,
            work_pool_name=other or pool,
        )
        return cast("RunnerDeployment", made)

    made = [deployment(refresh, "Build if there are corpora, and begin the trainings and evaluations that are due.")]
    for other in (None, *target.pools):
        made.append(deployment(train_encoder, "Train an encoder that is due.", other))
        made.append(
            deployment(evaluate_encoder, "Evaluate a training, and promote it if its scores hold.", other, promote=True)
        )
    return made


def _make_pool(client: "SyncPrefectClient", pool: str) -> None:
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound

    try:
        client.read_work_pool(pool)
    except ObjectNotFound:
        with suppress(ObjectAlreadyExists):  # another project is deployed at the same time
            client.create_work_pool(WorkPoolCreate(name=pool, type="process"))


def _refuse_another_project(client: "SyncPrefectClient", target: Target) -> None:
    """Refuse to take over the deployments of another store, which keeps its id wherever its folder is mounted."""
    deployment = read_deployment(client, REFRESH, target.name)
    file = None if deployment is None else deployment.parameters.get("project_file")
    if deployment is None or deployment.version == target.resource:
        if file not in (None, str(target.project_file)):
            warn(f"The server had {target.name!r} for {file!r} until now: a copy needs a `name` of its own.")
        return
    # On a server of this machine a path identifies a project: its store was recreated.
    if file == str(target.project_file) and is_on_this_machine(str(client.api_url)):
        return
    raise OtherProjectsServer(
        f"The Prefect server at {shown(str(client.api_url))} serves another project named {target.name!r}, of "
        f"{file!r} with the store {deployment.version!r}: give this one another name in "
        f"{str(target.project_file)!r}, or delete the other's deployments if they belong to a store that this "
        "project had before."
    )


def _deployments_of(client: "SyncPrefectClient", flow: str) -> "list[DeploymentResponse]":
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName

    return client.read_deployments(flow_filter=FlowFilter(name=FlowFilterName(any_=[flow])))


def _project_files() -> set[str]:
    with server_does("say which projects it has") as client:
        refreshes = _deployments_of(client, REFRESH)
    # One whose work pool was deleted never runs again.
    return {str(each.parameters.get("project_file")) for each in refreshes if each.work_pool_name is not None}


def _former(client: "SyncPrefectClient", target: Target, names: Sequence[str]) -> tuple[str, ...]:
    """Return the deployments of the project file and its store that are not among some names."""
    # On a server of many machines a path alone does not identify a project.
    ours = (str(target.project_file), target.resource)
    own = (
        f"{flow}/{deployment.name}"
        for flow in FLOWS
        for deployment in _deployments_of(client, flow)
        if (deployment.parameters.get("project_file"), deployment.version) == ours
    )
    return tuple(name for name in own if name not in names)


def _schedules(deployment: "DeploymentResponse") -> tuple[str, ...]:
    on = "off: the deployment is paused" if deployment.paused else "on"
    return tuple(
        f"{_words(schedule.schedule)} ({on if schedule.active else 'off'})" for schedule in deployment.schedules
    )


def _words(schedule: Any) -> str:
    for name in ("cron", "interval", "rrule"):
        if (value := getattr(schedule, name, None)) is not None:
            return f"{name} {value} {getattr(schedule, 'timezone', None) or 'UTC'}"
    return str(schedule)
