"""`facetflow up`: a Prefect server, a worker and the project's deployments on this machine."""

from pathlib import Path

import click

from flows.options import CRON


@click.command()
@CRON
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Of the server, on 127.0.0.1; by default the one that it had before, or any.",
)
@click.option("--systemd", is_flag=True, help="Print a systemd user unit that does this at every start, and stop.")
@click.pass_obj
def up(project: Path, cron: str | None, port: int | None, *, systemd: bool) -> None:
    """Run a Prefect server and a worker on this machine, with the deployments of the project; end with Ctrl-C.

    Where it runs already, the project is added to it. Its database lies in the user's state folder ($XDG_STATE_HOME).
    """
    import os

    from features.errors import RunError
    from flows import deployments, services
    from flows.prefect_address import configured_api, shown
    from flows.project import load
    from flows.server import prefect_api

    load(project)  # before anything is started
    if systemd:
        more = [*(["--cron", cron] if cron is not None else []), *(["--port", str(port)] if port else [])]
        click.echo(services.systemd_unit(project.resolve(), more), nl=False)
        return
    known = services.running()
    url = configured_api()
    if url is not None and (known is None or known.url != url):
        raise RunError(
            f"A Prefect server is configured, {shown(url)}: `facetflow deploy` registers the project there. To run one "
            "of your own beside it, set PREFECT_API_URL to an empty value."
        )
    if known is not None:
        # Also where PREFECT_API_URL is empty: a private server would forget the deployments at once.
        os.environ["PREFECT_API_URL"] = known.url
        with prefect_api():
            made = deployments.deploy(project, cron=cron)
        click.echo(f"Added {', '.join(made.names)} to the server of `facetflow up`: {known.url.removesuffix('/api')}")
        click.echo(deployments.next_steps(made, None))
        return

    def on_ready(url: str) -> None:
        made = deployments.deploy(project, cron=cron)
        click.echo(f"Serving {', '.join(made.names)}: {url.removesuffix('/api')}")
        click.echo(deployments.next_steps(made, None))

    os.environ.pop("PREFECT_API_URL", None)
    try:
        services.keep_running(deployments.POOL, port or 0, on_ready)
    except KeyboardInterrupt:
        click.echo("Stopped. Schedules rest until `facetflow up` runs again.", err=True)
