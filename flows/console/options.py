"""Arguments that several commands take."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from features.core.faults import FileMissing
from flows.terminal import Verbosity, set_verbosity

if TYPE_CHECKING:
    import polars as pl

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class _File(click.Path):
    """A file that is there; a missing one is the same fault as in a project file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        path: Any = super().convert(value, param, ctx)  # a Path, by path_type
        if not (path.exists() or (self.allow_dash and value == "-")):
            raise FileMissing(f"{str(path)!r} does not exist: check the path.")
        return path


FILE = _File(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
"""A folder to write."""

INPUT = _File(dir_okay=False, allow_dash=True, path_type=Path)
"""An input file, or `-` for standard input."""

OUTPUT = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
"""A file to write, or `-` for standard output where a command allows that."""

BY_POSITION = click.option("--by-position", is_flag=True, help="Pair graphs by position and ignore their ids.")
TAGGER = click.option("--model", default="embedded", help="Name, folder or .tar.gz of an srl_bert tagger.")


def in_utf8(_context: click.Context, _argument: click.Parameter, given: Any) -> Any:
    """Refuse a text, or one of several, that the shell gave in another encoding."""
    if (text := "".join(given)).encode(errors="ignore").decode() != text:
        raise click.BadParameter(f"{text!r} is not UTF-8")
    return given


def _device(_context: click.Context, _option: click.Parameter, name: str) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name):
        raise click.BadParameter(f"{name!r} is none of auto, cpu, cuda and cuda:N")
    return name


DEVICE = click.option(
    "--device",
    default="auto",
    callback=_device,
    help="cpu, cuda or cuda:N; auto uses a GPU if there is one.",
)
THREADS = click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads; the library decides by default.")
ASPECT = click.option("--aspect", help="Compare texts in this respect, by the encoder or the route trained for it.")
ENCODER = click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    help="An encoder, run, folder or pulled model; by default that of the aspect, else the only current one, else the "
    "one finished last, else the one in the package.",
)
TEXT_COLUMNS = click.option(
    "--text",
    "columns",
    metavar="COLUMN",
    multiple=True,
    help="Column with the text; several are joined with a colon.  [default: text]",
)
METRIC_FILES = click.option(
    "--metric-file", "files", multiple=True, type=FILE, help="Python file with your own metrics; may be repeated."
)
DASK_ADDRESS = click.option(
    "--dask-address", metavar="ADDRESS", help="Scheduler of an existing Dask cluster (tls://host:8786)."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Write the result as JSON.")
DEEP = click.option("--deep", is_flag=True, help="Check every byte of the store, not just sizes and times.")


PROJECT_FILE = Path("facetflow.toml")
"""The project file used when no other is named."""


def output_options(*names: str, about: str = "", required: bool = True) -> Callable[[Decorated], Decorated]:
    """Return the options of a file to write: -o, and --format, whose first name is the default for standard output."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(names),
        help=f"Format, if the suffix does not determine it.  [default for -: {names[0]}]",
    )
    about = about or "File to write; its suffix sets the format. - is standard output."
    output = click.option("-o", "--output", required=required, type=OUTPUT, help=about)
    return lambda command: output(form(command))


def encoder_option(usual: str) -> Callable[[Decorated], Decorated]:
    """Return the option that names an encoder; `usual` says which one is taken without it."""
    about = f"An encoder, run or folder; by default{usual}."
    return click.option("--encoder", metavar="NAME|FOLDER", help=about)


def export_option(about: str) -> Callable[[Decorated], Decorated]:
    """Return the option of a table to write beside what is shown."""
    return click.option("--export", type=OUTPUT, help=about)


def write_export(rows: "pl.DataFrame", file: Path, what: str) -> None:
    """Write the table of `--export`, as CSV without what a spreadsheet would run, and say so."""
    from features.core.files import table_format, without_formulas, write_table
    from features.core.wording import counted
    from flows.console.one_shot import say_written

    write_table(without_formulas(rows) if table_format(file) == "csv" else rows, file)
    say_written(counted(rows.height, what), file)


def predicates_option(purpose: str = "") -> Callable[[Decorated], Decorated]:
    """Return the option for how a tagger of semantic roles finds predicates."""
    from features.parsers.settings import PredicatesBy

    return click.option(
        "--predicates",
        default="tagger",
        type=click.Choice(get_args(PredicatesBy)),
        help=f"How predicates are found{purpose}: by the tagger, or by spaCy's parts of speech.",
    )


def page_option(about: str) -> Callable[[Decorated], Decorated]:
    """Return the option of a page to write instead of tables; `about` is what is on it."""
    return click.option("--html", type=OUTPUT, help=f"Write a page that opens offline{about}.")


def _choose_project(context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        value = value.expanduser()  # the shell does not expand --project=~/mine
        context.obj = value / PROJECT_FILE if value.is_dir() else value


def _choose_verbosity(level: Verbosity, _context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 (click's)
    if value:
        set_verbosity(level)


COMMON = (
    click.Option(
        ["--project"],
        type=click.Path(path_type=Path),
        callback=_choose_project,
        expose_value=False,
        is_eager=True,
        help="The project file or its folder.  [default: facetflow.toml]",
    ),
    click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        callback=partial(_choose_verbosity, Verbosity.QUIET),
        expose_value=False,
        help="Print only results, warnings and errors.",
    ),
    click.Option(
        ["-v", "--verbose"],
        is_flag=True,
        callback=partial(_choose_verbosity, Verbosity.VERBOSE),
        expose_value=False,
        help="Print more about what is happening.",
    ),
)
"""Options that may stand before or after the name of any command."""
