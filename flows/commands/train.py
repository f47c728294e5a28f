"""`facetflow train`: train encoders on a release of the store."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from flows.console.options import JSON


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--release", type=click.IntRange(min=1), help="Number of the release to train on; by default the newest.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of trainings of each: with the seed of its settings and the seeds that follow.",
)
@JSON
@click.pass_obj
def train(project: Path, /, *, names: tuple[str, ...], release: int | None, seeds: int, as_json: bool) -> None:
    """Train the encoders called NAME under [[encoders]] of the project, by default all of them.

    A run is runs/NAME/RELEASE-DIGEST/seed-N; the digest covers the settings and the ratings that `choose_by` names. An
    interrupted training continues from its checkpoint when the same command is run again. A finished encoder is never
    replaced: the same training is not repeated, and other settings, other ratings or another release make another run.
    If one fails, the others are still trained: the exit code is 2 when some failed, 1 when all did.
    """
    from features.core.errors import PartlyDoneError
    from features.store.store import Store
    from flows.project import Project
    from flows.server.local_run import run_flow
    from flows.terminal import write_json
    from flows.trainings.training_process import saying_what_is_left

    def check(settings: Project) -> None:
        for name in names:
            settings.encoder(name)
        Store.open(settings.store).release(release)

    def tell(encoders: Sequence[Any]) -> None:
        if as_json:
            write_json([_described(encoder) for encoder in encoders])
            return
        for encoder in encoders:
            if encoder.was_done:
                click.echo(f"Already trained with the same settings and data: {encoder.folder}")
            else:
                click.echo(f"Trained {encoder.folder}")

    try:
        with saying_what_is_left():
            encoders = run_flow("train_encoder", project, check, release=release, names=list(names), seeds=seeds)
    except PartlyDoneError as error:
        tell(error.done)
        raise
    tell(encoders)


def _described(encoder: Any) -> dict[str, Any]:
    from training.runs import PER_SECOND, TRAINING_FILE
    from training.writing import read_json

    course = read_json(encoder.folder / TRAINING_FILE)
    reported = {"steps", "best_step", "dev", "seconds"}
    return {
        "name": encoder.name,
        "run": encoder.run,
        "encoder": str(encoder.folder),
        "release": encoder.release,
        "seed": encoder.seed,
        "was_done": encoder.was_done,
        **{key: course[key] for key in course if key in reported or key.endswith(PER_SECOND)},
    }
