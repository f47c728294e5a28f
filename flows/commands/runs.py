"""`facetflow runs`: the training runs with their releases and results."""

from pathlib import Path

import click

from flows.console.options import JSON


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@JSON
@click.pass_obj
def runs(project: Path, /, *, names: tuple[str, ...], as_json: bool) -> None:
    """List the trainings of the encoders NAME, by default of all: release, seed, state, and scores if evaluated.

    Unfinished and failed trainings are listed too, with what is known about them.
    """
    from flows.console.run_list import list_runs, run_messages, runs_table
    from flows.console.tables import print_tables
    from flows.project import load
    from flows.terminal import write_json

    settings = load(project)
    listed = list_runs(settings, names)
    if as_json:
        write_json(listed)
        return
    if not listed:
        click.echo(f"No training yet in {settings.runs}: run `facetflow train`.")
        return
    print_tables([runs_table(settings, listed)])
    for message in run_messages(listed):
        click.echo(message)
