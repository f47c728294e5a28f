"""`facetflow train`: train an encoder on a release of the store."""

from pathlib import Path

import click

from flows.options import JSON


@click.command()
@click.option(
    "--release", type=click.IntRange(min=1), help="Number of the release to learn from; the newest by default."
)
@click.option("--name", help="Name of the run and its folder; by default made from release and settings.")
@JSON
@click.pass_obj
def train(project: Path, /, *, release: int | None, name: str | None, as_json: bool) -> None:
    """Train an encoder as [training] of the project says.

    An interrupted training goes on from its checkpoint when the same command is run again. A finished encoder is left
    alone; with other settings, or on another release, it needs another --name.
    """
    from features.store.store import Store
    from flows.local_run import run_flow
    from flows.project import load
    from flows.terminal import write_json
    from flows.training_process import saying_what_is_left
    from training.runs import TRAINING_FILE, run_folder
    from training.writing import read_json

    def check() -> None:
        settings = load(project)
        if name is not None:
            run_folder(settings.runs, name)
        store = Store.open(settings.store)
        _ = store.latest_release() if release is None else store.release(release)

    with saying_what_is_left():
        encoder = run_flow("train_encoder", check, project_file=project, release=release, name=name)
    if as_json:
        course = read_json(encoder.folder / TRAINING_FILE)
        write_json(
            {
                "encoder": str(encoder.folder),
                "run": encoder.folder.parent.name,
                "release": encoder.release,
                "was_done": encoder.was_done,
                **{name: course[name] for name in ("steps", "best_step", "dev", "seconds", "pairs_per_second")},
            }
        )
    elif encoder.was_done:
        click.echo(f"Done already, with the same settings and data: {encoder.folder}")
    else:
        click.echo(f"Trained {encoder.folder}")
