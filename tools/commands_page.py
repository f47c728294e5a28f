"""Write docs/commands.md, the help of every command, from the commands themselves: python tools/commands_page.py."""

import copy
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from flows.command_line import PROGRAM, cli
from flows.options import COMMON

TARGET = Path(__file__).parents[1] / "docs" / "commands.md"
WIDTH = 88
HEAD = """\
# Commands

What `--help` says; this page is made by `python tools/commands_page.py`. Every command also takes `--project`,
`--quiet` and `--verbose`, before or behind its name. In a terminal that knows them, Tab completes commands and options
(see the README).
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(_section(path, context) for path, context in _walk(cli, PROGRAM, None))])


def _walk(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, click.Context]]:
    """Yield the name and context of a command and of all below it, in the order in which help lists them."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, **command.context_settings)
    yield context.command_path, context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None  # noqa: S101 - the group has listed it
            yield from _walk(found, below, context)


def _section(path: str, context: click.Context) -> str:
    command = copy.copy(context.command)
    if context.parent is not None:
        command.params = [parameter for parameter in command.params if parameter not in COMMON]
    return f"## {path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(page(), end="")
    else:
        TARGET.write_text(page(), encoding="utf-8")
