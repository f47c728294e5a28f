"""Arguments that several commands take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from flows.terminal import Verbosity, set_verbosity

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

INPUT = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
"""A file that is read, or `-` for standard input."""

OUTPUT = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
"""A file that is written, or `-` for standard output."""

FIRST = click.argument("first", type=INPUT)
SECOND = click.argument("second", type=INPUT)
BY_POSITION = click.option("--by-position", is_flag=True, help="Pair graphs by position, whatever their ids are.")
TAGGER = click.option(
    "--model", default="embedded", show_default=True, help="Name, folder or .tar.gz of an srl_bert tagger."
)
DEVICE = click.option(
    "--device",
    default="auto",
    show_default=True,
    help="cpu, cuda or cuda:N; auto takes a GPU where there is one.",
)
THREADS = click.option(
    "--threads", type=click.IntRange(min=1), help="CPU threads; by default as many as the library takes."
)
NAME = click.option("--name", help="An encoder of the project, or the id of one of its runs, instead of --model.")
ASPECT = click.option(
    "--aspect",
    help="In which respect texts are to be alike: chooses the encoder that was trained for it, or its route.",
)
ENCODER = click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    help="An encoder of the project or one of its runs, a folder, or a pulled model; by default that of the aspect, or "
    "the current one.",
)
AMONG = click.option(
    "--among",
    metavar="FILE|CORPUS",
    help="A file (a table, or a line each), or a corpus of the project with labels; by default all texts with labels "
    "of the newest release.",
)
TEXT_COLUMNS = click.option(
    "--text",
    "columns",
    metavar="COLUMN",
    multiple=True,
    help="Column of a table that has the text; repeated, several are joined by a colon.  [default: text]",
)
TOP = click.option("-k", "k", default=10, show_default=True, type=click.IntRange(min=1), help="How many texts to find.")
CRON = click.option(
    "--cron",
    metavar="EXPRESSION",
    help='When to build, such as "0 3 * * *" for every night at 3:00 UTC; without it schedules stay as they are.',
)
POOL = click.option("--pool", default="facetflow", show_default=True, help="Work pool, made when missing.")
JSON = click.option(
    "--json", "as_json", is_flag=True, help="Write the result as JSON to standard output, and nothing else there."
)

DEEP = click.option(
    "--deep", is_flag=True, help="Look for damage in every byte of the store, not just in sizes and times."
)


PROJECT_FILE = Path("facetflow.toml")
"""The project file where no other is named."""


def format_option(*names: str) -> Callable[[Decorated], Decorated]:
    """Return the option that chooses the format of the output by name; the first is that of standard output."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(names),
        help=f"Format, where the suffix does not say it.  [default for -: {names[0]}]",
    )


def _choose_project(context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        value = value.expanduser()  # a shell does not, in --project=~/mine
        context.obj = value / PROJECT_FILE if value.is_dir() else value


def _be_quiet(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 (click's)
    if value:
        set_verbosity(Verbosity.QUIET)


def _be_verbose(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 (click's)
    if value:
        set_verbosity(Verbosity.VERBOSE)


COMMON = (
    click.Option(
        ["--project"],
        type=click.Path(path_type=Path),
        callback=_choose_project,
        expose_value=False,
        is_eager=True,
        help="The project file, or its folder.  [default: facetflow.toml]",
    ),
    click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        callback=_be_quiet,
        expose_value=False,
        help="Say nothing but results, warnings and errors.",
    ),
    click.Option(
        ["-v", "--verbose"],
        is_flag=True,
        callback=_be_verbose,
        expose_value=False,
        help="Say more about what is going on.",
    ),
)
"""Options that stand before or behind the name of any command."""


def with_common_options(command: click.Command) -> click.Command:
    """Give a command, and those below it, the options that every command takes; return it."""
    if COMMON[0] not in command.params:
        command.params.extend(COMMON)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            with_common_options(below)
    return command
