"""`facetflow measure` and `align`: pairs of AMR graphs from two files, scored or drawn, without a project."""

from pathlib import Path

import click
from click.core import ParameterSource

from features.core.outputs import TABLE_FORMATS, check_output, format_of, write_text
from features.core.wording import counted
from flows.console.one_shot import check_table, name_wrong, nothing_half_written, require_one_standard, say_written
from flows.console.options import BY_POSITION, FILE, INPUT, METRIC_FILES, output_options

_FIRST = click.argument("first", type=INPUT)
_SECOND = click.argument("second", type=INPUT)


@click.command()
@_FIRST
@_SECOND
@output_options(*TABLE_FORMATS)
@click.option("--model", default="all-MiniLM-L6-v2", help="Sentence encoder for the label vectors.")
@click.option("--glove", type=FILE, help="Word vectors (text) instead of a model.")
@METRIC_FILES
@BY_POSITION
def measure(
    first: Path,
    second: Path,
    output: Path,
    form: str | None,
    model: str,
    glove: Path | None,
    files: tuple[Path, ...],
    *,
    by_position: bool,
) -> int:
    """Measure the graphs of FIRST against those of SECOND, two PENMAN files in the same order; - is standard input.

    The table has a row for each pair and a column for each metric; your own may read graphs or sentences (`# ::snt`).
    Different ids (`# ::id`) or numbers of graphs are refused. A wrong or missing graph leaves its pair empty (exit code
    2).
    """
    from features.core.files import write_table
    from features.graph_files.measured import measure_files
    from features.metrics.own import OwnMetrics
    from features.parsers.settings import LabelVectorSettings
    from flows.watching.file_progress import FileProgress

    require_one_standard(first, second)
    check_table(output, form, first, second, *files, *([glove] if glove else []))
    if glove and click.get_current_context().get_parameter_source("model") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--glove and --model both say where label vectors come from; leave one of them out")
    settings = LabelVectorSettings(backend="glove", file=glove) if glove else LabelVectorSettings(model=model)
    own = OwnMetrics.read(files).load()
    with nothing_half_written():
        with FileProgress("pairs") as progress:
            measured = measure_files(first, second, settings, own, by_position=by_position, on_rows=progress)
        write_table(measured.scores, output, form)
    name_wrong(measured.wrong)
    n_pairs = measured.scores.height
    empty = f", {measured.unmeasured:,} empty" if measured.unmeasured else ""
    lacking = {metric.name: measured.scores[metric.name].null_count() for metric in own}
    without = "".join(f", {count:,} without {name}" for name, count in lacking.items() if count)
    say_written(
        f"{counted(n_pairs, 'pair')}, {n_pairs - measured.unmeasured:,} of them measured{empty}{without},", output
    )
    return 2 if measured.wrong else 0


@click.command()
@_FIRST
@_SECOND
@output_options(
    *("jsonl", "html", "svg"),
    about=".jsonl: one pair a line; .html: a page of drawings; .svg: one drawing; - is standard output.",
)
@click.option("--start", default=1, type=click.IntRange(min=1), help="The first pair.")
@click.option("--count", type=click.IntRange(min=1), help="Number of pairs; by default 50 on a page, all as data.")
@BY_POSITION
def align(
    first: Path, second: Path, output: Path, form: str | None, start: int, count: int | None, *, by_position: bool
) -> int:
    """Show which nodes and triples of the graphs of FIRST and SECOND match, in each facet; - is standard input.

    Different ids (`# ::id`) or numbers of graphs are refused. A wrong or missing graph leaves its pair empty (exit code
    2).
    """
    from features.graph_files.aligned import FORMATS, WRITERS, align_files
    from flows.watching.file_progress import FileProgress

    require_one_standard(first, second)
    form = format_of(output, FORMATS, form)
    if form == "svg" and count not in {None, 1}:
        raise click.UsageError("svg is one drawing: leave --count out, or write .html")
    write, most = WRITERS[form]
    check_output(output, first, second)
    with nothing_half_written():
        with FileProgress("pairs") as progress:
            aligned = align_files(
                first, second, start=start, count=count or most, by_position=by_position, on_rows=progress
            )
        write_text(output, write(aligned))
    name_wrong(aligned.wrong)
    empty = sum(pair.graphs is None for pair in aligned.pairs)
    say_written(f"{counted(len(aligned.pairs), 'pair')}{f', {empty:,} of them empty,' if empty else ''}", output)
    return 2 if aligned.wrong else 0
