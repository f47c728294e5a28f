"""`facetflow report`: the scores of an encoder as a table, and its report as a file."""

from pathlib import Path

import click


@click.command()
@click.option(
    "--model",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of an encoder; by default the one that was trained last in the project's runs.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the scores as JSON instead of tables.")
@click.pass_obj
def report(project: Path, /, *, model: Path | None, as_json: bool) -> None:
    """Show the scores of an evaluated encoder and write its report again, as one HTML file that opens offline."""
    from flows.project import load
    from training.evaluation.run import METRICS_FILE, write_report
    from training.evaluation.tables import score_tables
    from training.jobs import latest_encoder, read_json

    encoder = model if model is not None else latest_encoder(load(project).runs)
    path = write_report(encoder.parent, encoder)
    if as_json:
        click.echo((encoder.parent / METRICS_FILE).read_text(encoding="utf-8"), nl=False)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for scores in score_tables(read_json(encoder.parent / METRICS_FILE)):
        table = Table(
            title=scores.title, title_justify="left", caption=scores.note, caption_justify="left", box=box.SIMPLE_HEAD
        )
        for number, column in enumerate(scores.columns):
            table.add_column(column, justify="right" if number else "left", no_wrap=True)
        for row in scores.rows:
            table.add_row(*row)
        console.print(table)
    click.echo(f"Report: {path}")
