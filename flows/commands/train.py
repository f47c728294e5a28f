"""`facetflow train` and `evaluate`: train encoders on a release of the store, and score them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.errors import PartlyDoneError
from features.core.types import SPLITS
from flows.console.options import JSON
from flows.terminal import write_json
from training.writing import read_json

if TYPE_CHECKING:
    from flows.project import Project


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--release", type=click.IntRange(min=1), help="Release to train on; by default the newest.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    help="Trainings of each: with the seed of its settings and the seeds that follow.",
)
@JSON
@click.pass_obj
def train(project: Path, *, names: tuple[str, ...], release: int | None, seeds: int, as_json: bool) -> None:
    """Train the encoders NAME of the project, by default all of them.

    A run is runs/NAME/RELEASE-DIGEST/seed-N; the digest covers the settings and the ratings that `choose_by` names, so
    a finished encoder is never replaced. After an interruption the same command continues. The exit code is 2 when some
    trainings failed, 1 when all did.
    """
    from features.store.store import Store

    def check(settings: "Project") -> None:
        for name in names:
            settings.encoder(name)
        Store.open(settings.store).release(release)

    def tell(encoders: Sequence[Any]) -> None:
        if as_json:
            write_json([encoder.as_json() for encoder in encoders])
            return
        for encoder in encoders:
            done = "Already trained with the same settings and data:" if encoder.was_done else "Trained"
            click.echo(f"{done} {encoder.folder}")

    _run("train_encoder", project, check, tell, release=release, names=list(names), seeds=seeds)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--suite", "suites", multiple=True, help="Suite to score with, such as ratings; may be repeated.")
@click.option(
    "--split",
    type=click.Choice(SPLITS),
    help="Split to score on; by default the dev split of the training.",
)
@click.option("--promote", is_flag=True, help="Make the best seed the current run if its scores hold ([promotion]).")
@JSON
@click.pass_obj
def evaluate(
    project: Path,
    *,
    names: tuple[str, ...],
    suites: tuple[str, ...],
    split: str | None,
    promote: bool,
    as_json: bool,
) -> None:
    """Score encoders by every suite that applies to their kind and to the data of the release or of [[evaluation]].

    NAME is an encoder of the project (all finished seeds of its newest finished training, with the settings of the
    project file if there is one) or a run, such as syntax/00002-9a1c33/seed-0; by default every trained encoder.
    --suite writes its scores next to those of the complete evaluation. The exit code is 2 when some evaluations failed,
    1 when all did.
    """
    from flows.console.tables import print_tables
    from flows.project import load
    from flows.trainings.finished_runs import check_suites, runs_to_evaluate
    from training.evaluation.run import REPORT_FILE, metrics_file
    from training.evaluation.suites import score_tables
    from training.runs import run_id

    if promote and suites:
        raise click.UsageError("--promote needs all scores; leave --suite out")

    def check(settings: "Project") -> None:
        for run in runs_to_evaluate(settings, names):
            check_suites(settings, run, suites)

    def tell(folders: Sequence[Path]) -> None:
        runs = load(project).runs
        results = []
        for folder in folders:
            run, file = run_id(runs, folder), metrics_file(folder, suites)
            report = folder / REPORT_FILE if file == metrics_file(folder) else None
            scores = read_json(file)
            results.append({"run": run, "metrics": str(file), "report": report and str(report), "scores": scores})
            if not as_json:
                if len(folders) > 1:
                    click.echo(f"{run}\n")
                print_tables(score_tables(scores))
                click.echo(f"Wrote {file}" + (f" and {report}" if report else ""))
        if as_json:
            write_json(results)

    parameters = {"name": list(names), "split": split, "suites": list(suites), "promote": promote}
    _run("evaluate_encoder", project, check, tell, **parameters)


def _run(
    flow: str,
    project: Path,
    check: "Callable[[Project], None]",
    tell: Callable[[Sequence[Any]], None],
    **parameters: Any,
) -> None:
    """Run a flow and tell what it made, also where only a part could be made."""
    from flows.server.local_run import run_flow

    try:
        made = run_flow(flow, project, check, **parameters)
    except PartlyDoneError as error:
        tell(error.done)
        raise
    tell(made)
