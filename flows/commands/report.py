"""`facetflow report`: the scores of an encoder as a table, and its report as a file."""

from pathlib import Path
from typing import Any

import click

from flows.options import NAME


@click.command()
@click.option(
    "--model",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of an encoder; by default the one trained last in the project's runs.",
)
@NAME
@click.option("--json", "as_json", is_flag=True, help="Write the scores as JSON instead of tables.")
@click.pass_obj
def report(project: Path, /, *, model: Path | None, name: str | None, as_json: bool) -> None:
    """Show the scores of an evaluated encoder and rewrite its report, one HTML file that opens offline."""
    from flows.project import load
    from training.evaluation.run import METRICS_FILE, write_report
    from training.runs import latest_encoder
    from training.writing import read_json

    if model is not None and name is not None:
        raise click.UsageError("--model and --name contradict each other; leave one of them out")
    encoder = model if model is not None else latest_encoder(load(project).runs, name)
    path = write_report(encoder.parent, encoder)
    if as_json:
        click.echo((encoder.parent / METRICS_FILE).read_text(encoding="utf-8"), nl=False)
        return
    print_scores(read_json(encoder.parent / METRICS_FILE))
    click.echo(f"Report: {path}")


def print_scores(scores: Any) -> None:
    """Print the tables of an evaluation (`metrics.json`), no wider than the terminal."""
    from flows.tables import print_tables
    from training.evaluation.suites import score_tables

    print_tables(score_tables(scores))
