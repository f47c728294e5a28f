"""`facetflow evaluate`: evaluate an encoder."""

from pathlib import Path

import click


@click.command()
@click.option("--name", help="Name of the training run; the newest by default.")
@click.option("--split", help="The split whose positive pairs are compared; the dev split of its training by default.")
@click.option("--promote", is_flag=True, help="Make it the current encoder if its scores hold ([promotion]).")
@click.pass_obj
def evaluate(project: Path, name: str | None, split: str | None, *, promote: bool) -> None:
    """Compare facets with metrics on the pairs of a release, and the encoder with human ratings ([[evaluation]])."""
    from flows.commands.report import print_scores
    from flows.local_run import run_flow
    from flows.project import load
    from training.evaluation.run import METRICS_FILE, REPORT_FILE
    from training.jobs import latest_encoder, read_json

    def check() -> None:
        settings = load(project)
        if name is None:
            latest_encoder(settings.runs)

    folder = run_flow("evaluate_encoder", check, project_file=project, name=name, split=split, promote=promote)
    print_scores(read_json(folder / METRICS_FILE))
    click.echo(f"Wrote {folder / METRICS_FILE} and {folder / REPORT_FILE}")
