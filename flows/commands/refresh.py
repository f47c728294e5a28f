"""`facetflow refresh`: build, train, evaluate and promote what is due."""

from pathlib import Path

import click

from flows.console.options import DASK_ADDRESS, DEEP, JSON


@click.command()
@DASK_ADDRESS
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
    from functools import partial

    from flows.clusters.worker_start import get_ready
    from flows.server.local_run import run_flow
    from flows.terminal import write_json

    ready = partial(get_ready, dask_address=dask_address)
    done = run_flow("refresh", project, ready, dask_address=dask_address, deep=deep)
    if as_json:
        write_json(asdict(done))
    return 0 if done.build.state == "done" and not done.failures else 2
