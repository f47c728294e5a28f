"""`facetflow up`, `down`, `deploy`: the project's deployments, on a Prefect server of this machine or elsewhere."""

import os
from pathlib import Path

import click

from features.core.errors import FacetflowError
from features.core.faults import AnotherProcess, NoServer, ServerConfigured
from flows.server.own_server import prefect_api
from flows.server.passwords import shown
from flows.server.prefect_address import configured_api
from flows.server.up_record import projects, record_project, running
from flows.terminal import warn

CRON = click.option(
    "--cron",
    metavar="EXPRESSION",
    help='When to refresh, such as "0 3 * * *" for every night at 3:00 UTC; without it, schedules stay as they are.',
)


@click.command()
@CRON
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Port of the server on 127.0.0.1; by default the one it had before, or any.",
)
@click.option("--systemd", is_flag=True, help="Print a systemd user unit that does this at every start, and exit.")
@click.pass_obj
def up(project: Path, cron: str | None, port: int | None, *, systemd: bool) -> None:
    """Run a Prefect server and a worker on this machine, with the deployments of the project; stop with Ctrl-C.

    If they run already, the project is added. The database is in the user's state folder ($XDG_STATE_HOME).
    """
    from flows import deployments
    from flows.project import load
    from flows.server import services

    def add(done: str, url: str, where: str = "") -> None:
        made = deployments.deploy(project, cron=cron)
        record_project(project, cron)
        click.echo(f"{done} {', '.join(made.names)}{where}: {url.removesuffix('/api')}")
        click.echo(deployments.next_steps(made, None))

    recorded, name = projects(), str(project.resolve())
    # They are not to rest with this one.
    others = name in recorded and any(Path(other).exists() for other in recorded.keys() - {name})
    if systemd or not others:
        load(project)  # before anything is started
    if cron is not None:
        deployments.schedule_of(cron)
    if systemd:
        more = [*(["--cron", cron] if cron is not None else []), *(["--port", str(port)] if port else [])]
        click.echo(services.systemd_unit(project.resolve(), more), nl=False)
        return
    url = configured_api()  # waits for one that is starting
    service = running()
    if service is not None and service.url is None:
        raise AnotherProcess(
            f"`facetflow up` (process {service.process}) is still starting: try again when `facetflow status` says "
            "that it runs, or end it with `facetflow down`."
        )
    if url is not None and (service is None or service.url != shown(url)):
        raise ServerConfigured(
            f"A Prefect server is configured, {shown(url)}: `facetflow deploy` registers the project there. To run "
            "your own as well, set PREFECT_API_URL to an empty value."
        )
    if service is not None and service.url is not None and service.address is not None:
        # Even if PREFECT_API_URL is empty: a private server would forget the deployments at once.
        os.environ["PREFECT_API_URL"] = service.address
        with prefect_api():
            add("Added", service.url, " to the server of `facetflow up`")
        return

    def on_ready(url: str) -> None:
        deployments.deploy_lost()
        try:
            add("Serving", url)
        except FacetflowError as error:
            if not others:
                raise
            warn(f"{error.with_code()} Other projects are served: {url.removesuffix('/api')}")

    os.environ.pop("PREFECT_API_URL", None)
    try:
        services.keep_running(deployments.POOL, port or 0, on_ready, deployments.deploy_lost)
    except KeyboardInterrupt:
        click.echo("Stopped. Schedules rest until `facetflow up` runs again.", err=True)


@click.command()
def down() -> None:
    """Stop the server and the worker of `facetflow up`; running flows are ended, what they committed is kept."""
    from flows.server import services

    if services.stop():
        click.echo("Stopped. Schedules rest until `facetflow up` runs again.")
    else:
        click.echo("Nothing to stop: `facetflow up` is not running for this user on this machine.")


@click.command()
@CRON
@click.option("--pool", default="facetflow", help="Work pool; created if missing.")
@click.pass_obj
def deploy(project: Path, cron: str | None, pool: str) -> None:
    """Register the deployments of the project on the configured Prefect server: refresh, train, evaluate.

    Deploy again after naming the `pool` of an encoder, moving the project or upgrading facetflow; schedules are kept.
    """
    from flows import deployments

    if (url := configured_api()) is None:
        raise NoServer(
            "No Prefect server is configured: run `facetflow up` for one on this machine, or set PREFECT_API_URL."
        )
    with prefect_api():
        made = deployments.deploy(project, cron=cron, pool=pool)
    of_up = (service := running()) is not None and service.url == shown(url)
    if of_up:
        record_project(project, cron)
    click.echo(f"Deployed {', '.join(made.names)} at {shown(url)}.")
    click.echo(deployments.next_steps(made, None if of_up and pool == deployments.POOL else pool))
