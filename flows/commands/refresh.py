"""`facetflow refresh`: build, train, evaluate and promote what is due."""

from pathlib import Path

import click

from flows.console.options import DEEP, JSON


@click.command()
@click.option("--dask-address", metavar="ADDRESS", help="Scheduler of an existing Dask cluster (tls://host:8786).")
@DEEP
@JSON
@click.pass_obj
def refresh(project: Path, dask_address: str | None, *, deep: bool, as_json: bool) -> int:
    """Build, train the encoders whose input or settings changed, evaluate them, and promote those whose scores hold.

    Run it again after anything: it goes on from what is finished. Where a server has the deployments of the project
    (`up`, `deploy`), trainings and evaluations run there, and this command only begins them. The exit code is 2 when
    the build published nothing, or a training or an evaluation failed.
    """
    from dataclasses import asdict

    from features.core.locks import check_lockable
    from flows.clusters.worker_start import get_ready
    from flows.project import load
    from flows.server.local_run import run_flow
    from flows.terminal import write_json

    def check() -> None:
        settings = load(project)
        check_lockable(settings.store)
        get_ready(settings, dask_address)

    done = run_flow("refresh", check, project_file=project, dask_address=dask_address, deep=deep)
    if as_json:
        write_json(asdict(done))
    return 0 if done.build.state == "done" and not done.failures else 2
