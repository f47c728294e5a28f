"""`facetflow measure`: from two files of AMR graphs to a table of scores, without a project or a store."""

from pathlib import Path

import click

from features.core.wording import counted
from flows.console.one_shot import name_wrong, nothing_half_written, require_one_standard, say_written
from flows.console.options import BY_POSITION, FILE, FIRST, METRIC_FILES, SECOND, TABLES, output_options


@click.command()
@FIRST
@SECOND
@output_options(
    "Table to write; its suffix sets the format: .tsv, .csv, .jsonl or .parquet. - is standard output.", *TABLES
)
@click.option("--model", default="all-MiniLM-L6-v2", show_default=True, help="Sentence encoder for the label vectors.")
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

    The table has one row per pair and one column for each metric, built in or your own. Those may read graphs or
    sentences (`# ::snt`). Files with different ids (`# ::id`) or numbers of graphs are refused. An invalid or
    missing graph leaves the scores of its pair empty; it is named on stderr, and the exit code is 2.
    """
    from features.core.files import write_table
    from features.core.outputs import TABLES, check_output, format_of
    from features.graph_files.measured import measure_files
    from features.metrics.own import load_files, read_metric_file
    from features.parsers.settings import LabelVectorSettings
    from flows.watching.file_progress import FileProgress

    require_one_standard(first, second)
    kind = format_of(output, TABLES, form)
    check_output(output, first, second, *files, *([glove] if glove else []))  # both checked before the work starts
    settings = LabelVectorSettings(backend="glove", file=glove) if glove else LabelVectorSettings(model=model)
    own = load_files(read_metric_file(file) for file in files)
    with nothing_half_written():
        with FileProgress("pairs") as progress:
            measured = measure_files(first, second, settings, own, by_position=by_position, on_rows=progress)
        write_table(measured.scores, output, kind)
    name_wrong(measured.wrong)
    n_pairs = measured.scores.height
    empty = f", {measured.unmeasured:,} empty" if measured.unmeasured else ""
    lacking = {metric.name: measured.scores[metric.name].null_count() for metric in own}
    without = "".join(f", {count:,} without {name}" for name, count in lacking.items() if count)
    say_written(
        f"{counted(n_pairs, 'pair')}, {n_pairs - measured.unmeasured:,} of them measured{empty}{without},", output
    )
    return 2 if measured.wrong else 0
