"""`facetflow align`: what matches in pairs of AMR graphs, as data or as a page of drawings."""

from pathlib import Path

import click

_GRAPHS = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("first", type=_GRAPHS)
@click.argument("second", type=_GRAPHS)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help=".jsonl: one pair a line; .html: a page of drawings that opens offline.",
)
@click.option("--count", type=click.IntRange(min=1), help="Only so many pairs; 50 on a page, all as data by default.")
def align(first: Path, second: Path, output: Path, count: int | None) -> int:
    """Say which nodes and triples of the graphs of FIRST and SECOND match, in each facet.

    Graphs are paired by position. Graphs that are wrong are named on stderr, their pairs are left out, and the exit
    code is 2.
    """
    from features.aligned_files import ON_A_PAGE, align_files, render_page, write_lines
    from features.errors import InputError
    from training.jobs import write_text

    if output.suffix not in {".jsonl", ".html"}:
        raise InputError(f"{str(output)!r} has no suffix of an alignment: use .jsonl or .html.")
    on_a_page = output.suffix == ".html"
    aligned = align_files(first, second, count or (ON_A_PAGE if on_a_page else None))
    if on_a_page:
        write_text(output, render_page(aligned))
    else:
        write_text(output, write_lines(aligned))
    for sentence in aligned.wrong:
        click.echo(sentence, err=True)
    click.echo(f"Wrote {len(aligned.pairs)} pairs to {output}.", err=True)
    return 2 if aligned.wrong else 0
