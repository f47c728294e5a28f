"""Tables on the terminal, fitted to its width; those that a program reads are as wide as they need to be."""

import os
from collections.abc import Iterable

from flows.terminal import visible
from training.evaluation.tables import ScoreTable, fit


def print_tables(tables: Iterable[ScoreTable]) -> None:
    """Print tables to standard output."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from flows.console.standard_output import StandardOutput

    console = StandardOutput()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 1000
    for content in (part for table in tables for part in fit(table, console.width)):
        # As text, because a name in brackets is not markup.
        console.print(Text(visible(content.title), "table.title"))  # as the table's own, it would wrap at its width
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.add_column(Text(visible(content.columns[0])), overflow="fold")
        for column in content.columns[1:]:
            table.add_column(Text(visible(column)), justify="right", no_wrap=True)
        for row in content.rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        console.print(table)
        if content.note:
            console.print(Text(visible(f"{content.note}\n"), style="italic"))
