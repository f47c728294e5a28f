"""`facetflow build`, `retry`, `refresh`, and `plan`, which shows what a refresh would do."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.console.options import DASK_ADDRESS, DEEP, JSON
from flows.terminal import warn, write_json

if TYPE_CHECKING:
    from flows.project import Project


@click.command()
@DASK_ADDRESS
@click.option("--adopt", is_flag=True, help="Take over a store that belongs to another project.")
@DEEP
@JSON
@click.pass_obj
def build(project: Path, dask_address: str | None, *, adopt: bool, deep: bool, as_json: bool) -> int:
    """Read the corpora, parse and measure what is missing, and publish a release.

    Run it again after anything. The exit code is 2 when shards failed or the project's limits forbid a release.
    """
    record = _run("build_features", project, dask_address, as_json=as_json, deep=deep, adopt=adopt)
    return 0 if record.state == "done" else 2


@click.command()
@click.option("--failed", is_flag=True, required=True, help="Rerun the failed shards and those that waited for them.")
@DASK_ADDRESS
@JSON
@click.pass_obj
def retry(project: Path, dask_address: str | None, *, failed: bool, as_json: bool) -> int:
    """Rerun the failed shards of all stages, without reading the corpora, and publish a release."""
    record = _run("build_features", project, dask_address, as_json=as_json, only_failed=failed)
    return 0 if record.state == "done" else 2


@click.command()
@DASK_ADDRESS
@DEEP
@JSON
@click.pass_obj
def refresh(project: Path, dask_address: str | None, *, deep: bool, as_json: bool) -> int:
    """Build, train the encoders whose input or settings changed, evaluate them, and promote those whose scores hold.

    Run it again after anything. Where a server has the deployments of the project (`up`, `deploy`), it only begins
    trainings and evaluations there. The exit code is 2 when nothing was published, or a training or an evaluation
    failed.
    """
    done = _run("refresh", project, dask_address, as_json=as_json, deep=deep)
    return 0 if (done.build is None or done.build.state == "done") and not done.failures else 2


def _run(flow: str, project: Path, dask_address: str | None, *, as_json: bool, **parameters: Any) -> Any:
    from flows.building.store_access import only_writer, open_store
    from flows.clusters.worker_start import get_ready
    from flows.server.local_run import run_flow

    def check(settings: "Project") -> None:
        if flow == "refresh" and not settings.corpora:
            return
        get_ready(settings, dask_address)
        only_failed, adopt = (parameters.get(name, False) for name in ("only_failed", "adopt"))
        with only_writer(open_store(settings, only_failed=only_failed, adopt=adopt)):
            pass  # it is refused before the server is there

    done = run_flow(flow, project, check, dask_address=dask_address, **parameters)
    if as_json:
        write_json(asdict(done))
    return done


@click.command()
@click.option("--explain", is_flag=True, help="Show why the shards of each stage have to be made.")
@DEEP
@JSON
@click.pass_obj
def plan(project: Path, *, explain: bool, deep: bool, as_json: bool) -> None:
    """Show what a refresh would do: shards of each stage, the release, trainings and evaluations.

    Nothing is written. The exit code is 0 also when nothing would be published.
    """
    from flows.building.ingest_corpora import in_words, warnings
    from flows.building.planning import look_ahead
    from flows.project import load

    settings = load(project)
    outlook = look_ahead(settings, deep=deep)
    for sentence in (*warnings(outlook.ingest, drops=settings.leakage.mode == "drop"), *outlook.pointless):
        warn(sentence)
    if as_json:
        write_json(outlook.as_json())
        return
    for sentence in in_words(settings, outlook.ingest, outlook.labels) if settings.corpora else ():
        click.echo(sentence)
    for damage in outlook.damaged:
        click.echo(f"damaged: {damage}")
    if settings.corpora and not outlook.plan.stages:
        click.echo("There is nothing to parse or measure: no encoder reads a stage, and none has `enabled = true`.")
    for line in outlook.plan.explain():
        click.echo(line if explain else line.partition(" to do:")[0] + (" to do" if " to do:" in line else ""))
    for sentence in (*outlook.obstacles, *outlook.following()):
        click.echo(sentence)
