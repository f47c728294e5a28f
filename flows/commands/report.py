"""`facetflow report`: the scores of an encoder as a table, and its report as a file."""

from pathlib import Path
from typing import Any

import click

from flows.console.options import encoder_option, export_option, write_export


@click.command()
@encoder_option(" the one trained last")
@export_option("Write the numbers of the tables, unrounded, to one table: .csv, .tsv, .jsonl or .parquet.")
@click.option("--json", "as_json", is_flag=True, help="Write the scores as JSON instead of tables.")
@click.pass_obj
def report(project: Path, /, *, encoder: str | None, export: Path | None, as_json: bool) -> None:
    """Show the scores of an evaluated encoder and rewrite its report, one HTML file that opens offline."""
    from flows.console.here import keep
    from flows.project import load
    from training.evaluation.run import METRICS_FILE, write_report
    from training.evaluation.suites import score_tables
    from training.evaluation.tables import as_frame
    from training.runs import latest_encoder, runs_named
    from training.search.choosing import named_encoder
    from training.writing import read_json

    runs = load(project).runs if encoder is None or project.exists() else None
    if runs is not None and (encoder is None or runs_named(runs, encoder)):
        folder = latest_encoder(runs, encoder)
    else:
        folder = named_encoder(runs, str(encoder))
    keep(folder)
    path = write_report(folder.parent, folder)
    if export is not None:
        write_export(as_frame(score_tables(read_json(folder.parent / METRICS_FILE))), export, "numbers")
    if as_json:
        click.echo((folder.parent / METRICS_FILE).read_text(encoding="utf-8"), nl=False)
        return
    if export is not None:
        return
    print_scores(read_json(folder.parent / METRICS_FILE))
    click.echo(f"Report: {path}")


def print_scores(scores: Any) -> None:
    """Print the tables of an evaluation (`metrics.json`), no wider than the terminal."""
    from flows.console.tables import print_tables
    from training.evaluation.suites import score_tables

    print_tables(score_tables(scores))
