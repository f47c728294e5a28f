"""`facetflow align`: what matches in pairs of AMR graphs, as data or as a page of drawings."""

from pathlib import Path

import click

from features.core.wording import counted
from flows.console.one_shot import name_wrong, nothing_half_written, require_one_standard, say_written
from flows.console.options import BY_POSITION, FIRST, SECOND, output_options


@click.command()
@FIRST
@SECOND
@output_options(
    ".jsonl: one pair a line; .html: a page of drawings that opens offline; .svg: one drawing; - is standard output.",
    *("jsonl", "html", "svg"),
)
@click.option("--start", default=1, show_default=True, type=click.IntRange(min=1), help="The first pair.")
@click.option("--count", type=click.IntRange(min=1), help="Number of pairs; by default 50 on a page, all as data.")
@BY_POSITION
def align(
    first: Path, second: Path, output: Path, form: str | None, start: int, count: int | None, *, by_position: bool
) -> int:
    """Show which nodes and triples of the graphs of FIRST and SECOND match, in each facet; - is standard input.

    Graphs are paired in file order; files with different ids (`# ::id`) or numbers of graphs are refused. An invalid
    or missing graph leaves its pair empty; it is named on stderr, and the exit code is 2.
    """
    from features.core.outputs import check_output, format_of, write_text
    from features.graph_files.aligned import FORMATS, WRITERS, align_files

    require_one_standard(first, second)
    write, most = WRITERS[format_of(output, FORMATS, form)]
    check_output(output, first, second)  # both checked before the work starts
    with nothing_half_written():
        aligned = align_files(first, second, start=start, count=count or most, by_position=by_position)
        write_text(output, [write(aligned)])
    name_wrong(aligned.wrong)
    empty = sum(pair.graphs is None for pair in aligned.pairs)
    say_written(f"{counted(len(aligned.pairs), 'pair')}{f', {empty:,} of them empty,' if empty else ''}", output)
    return 2 if aligned.wrong else 0
