"""`facetflow train`: train an encoder on a release of the store."""

from pathlib import Path

import click


@click.command()
@click.option(
    "--release", type=click.IntRange(min=1), help="Number of the release to learn from; the newest by default."
)
@click.option("--name", help="Name of the run and its folder.")
@click.pass_obj
def train(project: Path, release: int | None, name: str | None) -> None:
    """Train an encoder as [training] of the project says; an interrupted training goes on from its checkpoint."""
    from features.store.store import Store
    from flows.local_run import run_flow
    from flows.project import load

    def check() -> None:
        store = Store.open(load(project).store)
        _ = store.latest_release() if release is None else store.release(release)

    encoder = run_flow("train_encoder", check, project_file=project, release=release, name=name)
    click.echo(f"Trained {encoder}")
