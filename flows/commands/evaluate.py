"""`facetflow evaluate`: evaluate an encoder."""

from pathlib import Path

import click

from flows.options import JSON


@click.command()
@click.option("--name", help="Name of the training run; the newest by default.")
@click.option("--split", help="The split whose positive pairs are compared; the dev split of its training by default.")
@click.option("--promote", is_flag=True, help="Make it the current encoder if its scores hold ([promotion]).")
@JSON
@click.pass_obj
def evaluate(project: Path, /, *, name: str | None, split: str | None, promote: bool, as_json: bool) -> None:
    """Compare facets with metrics on the pairs of a release, and the encoder with human ratings ([[evaluation]])."""
    from flows.commands.report import print_scores
    from flows.local_run import run_flow
    from flows.project import load
    from flows.terminal import write_json
    from flows.training_process import saying_what_is_left
    from training.evaluation.run import METRICS_FILE, REPORT_FILE
    from training.runs import find_encoder, latest_encoder
    from training.writing import read_json

    def check() -> None:
        runs = load(project).runs
        _ = latest_encoder(runs) if name is None else find_encoder(runs, name)

    with saying_what_is_left():
        folder = run_flow("evaluate_encoder", check, project_file=project, name=name, split=split, promote=promote)
    scores = read_json(folder / METRICS_FILE)
    if as_json:
        write_json({"metrics": str(folder / METRICS_FILE), "report": str(folder / REPORT_FILE), "scores": scores})
        return
    print_scores(scores)
    click.echo(f"Wrote {folder / METRICS_FILE} and {folder / REPORT_FILE}")
