"""`facetflow align`: what matches in pairs of AMR graphs, as data or as a page of drawings."""

from pathlib import Path

import click

from flows.options import FIRST, SECOND


@click.command()
@FIRST
@SECOND
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help=".jsonl: one pair a line; .html: a page of drawings that opens offline; .svg: one drawing.",
)
@click.option("--start", default=1, show_default=True, type=click.IntRange(min=1), help="The first pair.")
@click.option("--count", type=click.IntRange(min=1), help="Number of pairs; 50 on a page, all as data by default.")
def align(first: Path, second: Path, output: Path, start: int, count: int | None) -> int:
    """Say which nodes and triples of the graphs of FIRST and SECOND match, in each facet.

    Graphs are paired by position. Graphs that are wrong are named on stderr, their pairs are left out, and the exit
    code is 2.
    """
    from features.aligned_files import WRITERS, align_files
    from features.errors import InputError
    from training.jobs import write_text

    if output.suffix not in WRITERS:
        raise InputError(f"{str(output)!r} has no suffix of an alignment: use one of {', '.join(WRITERS)}.")
    write, most = WRITERS[output.suffix]
    aligned = align_files(first, second, start=start, count=count or most)
    write_text(output, write(aligned))
    for sentence in aligned.wrong:
        click.echo(sentence, err=True)
    click.echo(f"Wrote {len(aligned.pairs)} pairs to {output}.", err=True)
    return 2 if aligned.wrong else 0
