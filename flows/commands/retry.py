"""`facetflow retry`: rerun the failed shards."""

from pathlib import Path

import click

from flows.console.options import DASK_ADDRESS, JSON


@click.command()
@click.option("--failed", is_flag=True, required=True, help="Rerun the failed shards and those that waited for them.")
@DASK_ADDRESS
@JSON
@click.pass_obj
def retry(project: Path, dask_address: str | None, *, failed: bool, as_json: bool) -> int:
    """Rerun the failed shards of all stages, without reading the corpora, and publish a release."""
    from dataclasses import asdict

    from flows.building.store_access import open_store
    from flows.clusters.worker_start import get_ready
    from flows.project import Project
    from flows.server.local_run import run_flow
    from flows.terminal import write_json

    def check(settings: Project) -> None:
        open_store(settings, only_failed=True)
        get_ready(settings, dask_address)

    record = run_flow("build_features", project, check, dask_address=dask_address, only_failed=failed)
    if as_json:
        write_json(asdict(record))
    return 0 if record.state == "done" else 2
