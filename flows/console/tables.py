"""Tables on the terminal, fitted to its width."""

from collections.abc import Iterable

from flows.terminal import visible
from training.evaluation.tables import ScoreTable, fit


def print_tables(tables: Iterable[ScoreTable]) -> None:
    """Print tables to standard output."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for content in (part for table in tables for part in fit(table, console.width)):
        # As text, because a name in brackets is not markup.
        table = Table(title=Text(content.title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.add_column(Text(content.columns[0]), overflow="fold")
        for column in content.columns[1:]:
            table.add_column(Text(column), justify="right", no_wrap=True)
        for row in content.rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        console.print(table)
        if content.note:
            console.print(Text(f"{content.note}\n", style="italic"))
