"""`facetflow deploy`: register a project on the Prefect server that is configured."""

from pathlib import Path

import click

from features.core.faults import NoServer
from flows.console.options import CRON, POOL


@click.command()
@CRON
@POOL
@click.pass_obj
def deploy(project: Path, cron: str | None, pool: str) -> None:
    """Register the deployments of the project on the configured Prefect server: refresh, train, evaluate.

    A refresh builds and begins what is due: trainings, then evaluations, in the work pool that the encoder names
    (`pool`). An encoder whose scores hold becomes the current one.
    Deploy again after moving the project or upgrading facetflow; existing schedules are kept.
    """
    from flows import deployments
    from flows.server.own_server import prefect_api
    from flows.server.passwords import shown
    from flows.server.prefect_address import configured_api

    url = configured_api()
    if url is None:
        raise NoServer(
            "No Prefect server is configured: run `facetflow up` for one on this machine, or set PREFECT_API_URL."
        )
    with prefect_api():
        made = deployments.deploy(project, cron=cron, pool=pool)
    click.echo(f"Deployed {', '.join(made.names)} at {shown(url)}.")
    click.echo(deployments.next_steps(made, pool))
