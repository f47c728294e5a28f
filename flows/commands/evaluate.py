"""`facetflow evaluate`: evaluate encoders."""

from collections.abc import Sequence
from pathlib import Path

import click

from flows.console.options import JSON


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--suite", "suites", multiple=True, help="Suite to score with, such as ratings; may be repeated.")
@click.option("--split", help="The split whose positive pairs are compared; by default the dev split of the training.")
@click.option("--promote", is_flag=True, help="Make the best seed the current run if its scores hold ([promotion]).")
@JSON
@click.pass_obj
def evaluate(
    project: Path,
    /,
    *,
    names: tuple[str, ...],
    suites: tuple[str, ...],
    split: str | None,
    promote: bool,
    as_json: bool,
) -> None:
    """Score encoders with suites: facets against metrics on the pairs of a release, human ratings ([[evaluation]]).

    NAME is an encoder of the project (all finished seeds of its newest finished training are evaluated) or the id of
    one run, such as syntax/00002-9a1c33/seed-0; by default every trained encoder. With --suite, the scores of the
    chosen suites are written next to those of the complete evaluation, which stay as they are. If one fails, the others
    are still scored: the exit code is 2 when some failed, 1 when all did.
    """
    from features.core.errors import PartlyDoneError
    from flows.commands.report import print_scores
    from flows.project import Project, load
    from flows.server.local_run import run_flow
    from flows.terminal import write_json
    from flows.trainings.finished_runs import runs_to_evaluate, suites_to_score
    from flows.trainings.training_process import saying_what_is_left
    from training.evaluation.run import REPORT_FILE, metrics_file
    from training.runs import run_id
    from training.writing import read_json

    if promote and suites:
        raise click.UsageError("--promote needs all scores; leave --suite out")

    def check(settings: Project) -> None:
        for run in runs_to_evaluate(settings, names):
            suites_to_score(settings, run, suites)

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
                print_scores(scores)
                click.echo(f"Wrote {file}" + (f" and {report}" if report else ""))
        if as_json:
            write_json(results)

    try:
        with saying_what_is_left():
            parameters = {"name": list(names), "split": split, "suites": list(suites), "promote": promote}
            folders = run_flow("evaluate_encoder", project, check, **parameters)
    except PartlyDoneError as error:
        tell(error.done)
        raise
    tell(folders)
