"""`facetflow neighbours`: the most similar texts for each text of a file."""

from pathlib import Path

import click

from features.core.faults import TooFewTexts
from flows.console.options import ASPECT, DEVICE, ENCODER, INPUT, TABLES, TEXT_COLUMNS, TOP, output_options


@click.command()
@click.argument("file", type=INPUT)
@output_options("Table to write (.tsv, .csv, .jsonl, .parquet), one row per neighbour. - is standard output.", *TABLES)
@click.option("--among", help="Another file, or a labelled corpus of the project, to search; by default FILE itself.")
@ASPECT
@ENCODER
@TEXT_COLUMNS
@TOP
@DEVICE
@click.pass_obj
def neighbours(
    project: Path,
    /,
    *,
    file: Path,
    output: Path,
    form: str | None,
    among: str | None,
    aspect: str | None,
    encoder: str | None,
    columns: tuple[str, ...],
    k: int,
    device: str,
) -> int:
    """Find the most similar texts for each text of FILE, in FILE or elsewhere, optionally in one aspect.

    FILE is a table or has one text a line. Within FILE, no text is its own neighbour. Columns of the output: id, text,
    rank, neighbour_id, neighbour, similarity; an id comes from the column `id`, else it is the number of the line or
    row; it is empty for texts of a corpus.
    """
    import polars as pl

    from features.core.files import write_table
    from features.core.outputs import STANDARD, TABLES, check_output, format_of
    from features.core.wording import counted
    from flows.console.one_shot import nothing_half_written, say_written
    from flows.console.searching import Searcher
    from training.nearest import cosines_of, find_nearest, unit

    format_of(output, TABLES, form)
    check_output(output, file, *([Path(among)] if among else []))  # both checked before the work starts
    if file == STANDARD and among == str(STANDARD):
        raise click.UsageError("only one of FILE and --among can be '-': standard input is read once")
    with nothing_half_written():
        searcher = Searcher(project, encoder, aspect, device)
        asked = searcher.texts(str(file), columns)
        searched = asked if among is None else searcher.texts(among, columns)
        if len(searched) == 1 and among is None:
            raise TooFewTexts(f"{asked.origin} has only one text, so it has no neighbour; give more, or --among.")
        queries = unit(searcher.vectors(asked).vectors())
        texts = queries if among is None else unit(searcher.vectors(searched).vectors())
        nearest = find_nearest(
            cosines_of(queries, texts), queries=len(asked), texts=len(searched), k=k, themselves=among is None
        )
        each = nearest.positions.shape[1]
        rows = [row for row in range(len(asked)) for _ in range(each)]
        positions = nearest.positions.reshape(-1).tolist()
        ids = searched.ids or tuple("" for _ in searched.texts)
        table = pl.DataFrame(
            {
                "id": [asked.ids[row] for row in rows],
                "text": [asked.texts[row] for row in rows],
                "rank": list(range(1, each + 1)) * len(asked),
                "neighbour_id": [ids[position] for position in positions],
                "neighbour": [searched.texts[position] for position in positions],
                "similarity": nearest.similarities.reshape(-1),
            }
        )
        write_table(table, output, form)
    say_written(f"{counted(table.height, 'neighbour')} of {counted(len(asked), 'text')}", output)
    return 2 if asked.wrong or searched.wrong else 0
