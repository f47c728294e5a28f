"""`facetflow encode`: the embeddings of a file of texts."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flows.console.options import ASPECT, DEVICE, ENCODER, FILE, TEXT_COLUMNS

if TYPE_CHECKING:
    from training.encoded_files import Precision

_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=FILE)
@click.option("-o", "--output", required=True, type=_OUTPUT, help="File to write, .parquet or .arrow.")
@click.option("--facets", is_flag=True, help="Write each facet of the encoder, and its residual, as a column.")
@click.option(
    "--precision",
    default="float32",
    show_default=True,
    type=click.Choice(["float32", "float16", "int8", "binary"]),
    help="Format of the numbers; int8 and binary as sentence-transformers quantises.",
)
@click.option(
    "--processes", default=1, show_default=True, type=click.IntRange(min=1), help="Processes that encode, one per GPU."
)
@ASPECT
@ENCODER
@TEXT_COLUMNS
@DEVICE
@click.pass_obj
def encode(
    project: Path,
    /,
    *,
    file: Path,
    output: Path,
    facets: bool,
    precision: "Precision",
    processes: int,
    aspect: str | None,
    encoder: str | None,
    columns: tuple[str, ...],
    device: str,
) -> int:
    """Encode the texts of FILE, a table or one text a line, into a Parquet or Arrow file of any length.

    The output has one row for each row of FILE: id, text, vector. Memory does not grow with the file, and a killed run
    goes on where it was: run the same command again. `facetflow search --among` reads the output; an Arrow file is not
    loaded for that, but mapped into memory.
    """
    from features.core.outputs import check_output, format_of
    from features.core.wording import counted
    from flows.console.one_shot import name_wrong, nothing_half_written, say_written
    from flows.console.searching import Searcher
    from flows.watching.file_progress import FileProgress
    from training.encoded_files import encode_file
    from training.encoders.s3bert.facets import FacetLayout
    from training.search.blocks import ARROW

    format_of(output, {"parquet": (".parquet",), "arrow": ARROW}, by_name=False)
    check_output(output, file)
    searcher = Searcher(project, encoder, aspect, device)
    folder = searcher.chosen.folder
    layout = FacetLayout.load(folder) if facets else None
    with nothing_half_written("run the same command to go on"), FileProgress("texts") as progress:
        encoded = encode_file(
            searcher.model,
            folder,
            file,
            output,
            columns=columns,
            task=searcher.chosen.task,
            layout=layout,
            precision=precision,
            processes=processes,
            on_rows=progress,
        )
    name_wrong(encoded.wrong)
    without = encoded.empty + len(encoded.wrong)
    left = f" ({without:,} without a text, and without a vector)" if without else ""
    say_written(f"{counted(encoded.rows, 'row')}{left}", output)
    return 2 if encoded.wrong else 0
