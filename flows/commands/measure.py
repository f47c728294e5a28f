"""`facetflow measure`: two files of AMR graphs to a table of scores, without a project or a store."""

from pathlib import Path

import click

from flows.options import FILE, FIRST, SECOND


@click.command()
@FIRST
@SECOND
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Table to write; its suffix is the format: .tsv, .csv, .jsonl or .parquet.",
)
@click.option("--model", default="all-MiniLM-L6-v2", show_default=True, help="Sentence encoder of the label vectors.")
@click.option(
    "--glove",
    type=FILE,
    help="Word vectors (text) instead of a model.",
)
@click.option(
    "--metric-file", "files", multiple=True, type=FILE, help="Python file with metrics of your own; may be repeated."
)
def measure(first: Path, second: Path, output: Path, model: str, glove: Path | None, files: tuple[Path, ...]) -> int:
    """Measure the graphs of FIRST with those of SECOND, two PENMAN files with as many graphs each.

    One row a pair, one column for each of the fifteen metrics, and for those of your own, which may read graphs or
    sentences (`# ::snt`). Graphs that are wrong are named on stderr, their pairs have empty scores, and the exit code
    is 2.
    """
    from features.files import table_format, write_table
    from features.measured_files import measure_files
    from features.metrics.own_files import load_files, read_metric_file
    from features.parsers.settings import LabelVectorSettings

    table_format(output)  # before the work, not after it
    settings = LabelVectorSettings(backend="glove", file=glove) if glove else LabelVectorSettings(model=model)
    own = load_files(read_metric_file(file) for file in files)
    measured = measure_files(first, second, settings, own)
    write_table(measured.scores, output)
    for sentence in measured.wrong:
        click.echo(sentence, err=True)
    complete = measured.scores["smatch"].count()
    click.echo(f"Wrote {measured.scores.height} pairs to {output}, {complete} of them measured.", err=True)
    return 2 if measured.wrong else 0
