"""`facetflow build`: bring the feature store up to date and publish a release."""

from pathlib import Path

import click

from flows.console.options import DASK_ADDRESS, DEEP, JSON


@click.command()
@DASK_ADDRESS
@click.option("--adopt", is_flag=True, help="Take over a store that belongs to another project.")
@DEEP
@JSON
@click.pass_obj
def build(project: Path, dask_address: str | None, *, adopt: bool, deep: bool, as_json: bool) -> int:
    """Read the corpora, parse and measure what is missing, and publish a release.

    Run it again after new rows, a failure, an interruption, a changed setting or a lost file: it does only what is
    missing. The exit code is 2 when some shards failed or the limits of the project forbid a release.
    """
    from dataclasses import asdict
    from functools import partial

    from flows.clusters.worker_start import get_ready
    from flows.server.local_run import run_flow
    from flows.terminal import write_json

    ready = partial(get_ready, dask_address=dask_address)
    record = run_flow("build_features", project, ready, dask_address=dask_address, deep=deep, adopt=adopt)
    if as_json:
        write_json(asdict(record))
    return 0 if record.state == "done" else 2
