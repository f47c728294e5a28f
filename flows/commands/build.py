"""`facetflow build`: bring the feature store up to date and publish a release."""

from pathlib import Path

import click


@click.command()
@click.option("--dask-address", metavar="ADDRESS", help="Scheduler of an existing Dask cluster (tcp://host:8786).")
@click.pass_obj
def build(project: Path, dask_address: str | None) -> int:
    """Read the corpora, parse and measure what is missing, and publish a release.

    Run it again after new rows, a failure, an interruption or a changed setting: it does what is missing. The exit code
    is 2 when some shards failed or the limits of the project forbid a release.
    """
    from flows.local_run import run_flow
    from flows.project import load
    from flows.worker_start import get_ready

    record = run_flow(
        "build_features",
        lambda: get_ready(load(project), dask_address),
        project_file=project,
        dask_address=dask_address,
    )
    return 0 if record.state == "done" else 2
