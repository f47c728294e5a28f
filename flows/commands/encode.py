"""`facetflow encode` and `facets`: the embeddings of a file of texts, and facets for vectors that exist already."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl

from features.core.faults import ColumnMissing, FileEmpty, VectorsWrong
from features.core.files import read_table, write_table
from features.core.outputs import TABLE_FORMATS, check_output, format_of
from features.core.wording import counted
from features.corpora.headers import shown_names
from features.models import BUNDLED_MAP, digest
from flows.console.one_shot import name_wrong, nothing_half_written, say_written
from flows.console.options import ASPECT, DEVICE, ENCODER, FILE, OUTPUT, TEXT_COLUMNS, encoder_option, output_options
from flows.terminal import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from training.encoded_files import Precision


@click.command()
@click.argument("file", type=FILE)
@click.option("-o", "--output", required=True, type=OUTPUT, help="File to write, .parquet or .arrow.")
@click.option("--facets", is_flag=True, help="Write each facet, and the residual, as a column.")
@click.option(
    "--precision",
    default="float32",
    type=click.Choice(["float32", "float16", "int8", "binary"]),
    help="Format of the numbers; int8 and binary as sentence-transformers quantises.",
)
@click.option("--processes", default=1, type=click.IntRange(min=1), help="Processes that encode, one per GPU.")
@ASPECT
@ENCODER
@TEXT_COLUMNS
@DEVICE
@click.pass_obj
def encode(
    project: Path,
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
    """Encode the texts of FILE, a table or one text a line, into a Parquet or Arrow file.

    Each row of FILE gives a row: id, text, vector. Memory does not grow with the file; the same command goes on after a
    kill. `facetflow search --among` reads the output, and maps an Arrow file into memory.
    """
    from flows.console.searching import Searcher
    from flows.watching.file_progress import FileProgress
    from training.encoded_files import encode_file, require_output
    from training.encoders.input_length import tell_cut_off
    from training.encoders.loading import load_encoder

    require_output(output, file)
    searcher = Searcher(project, encoder, aspect, device, facets=facets)
    with nothing_half_written("run the same command to go on"), FileProgress("texts") as progress:
        encoded = encode_file(
            load_encoder(searcher.chosen.folder, device=device),
            searcher.chosen.folder,
            file,
            output,
            columns=columns,
            task=searcher.chosen.task,
            layout=searcher.layout,
            precision=precision,
            processes=processes,
            on_rows=progress,
        )
    name_wrong(encoded.wrong)
    if encoded.cut:
        warn(f"Note: {tell_cut_off(encoded.cut)}.")
    without = encoded.empty + len(encoded.wrong)
    left = f" ({without:,} without a text, and without a vector)" if without else ""
    say_written(f"{counted(encoded.rows, 'row')}{left} by {searcher.chosen.name}", output)
    return 2 if encoded.wrong else 0


@click.command()
@click.argument("file", type=FILE)
@output_options("parquet", "jsonl")
@click.option("--vector", "column", default="vector", metavar="COLUMN", help="Column with the vectors.")
@encoder_option(" the project's with facets, else s3bert-minilm-map")
@DEVICE
@click.pass_obj
def facets(
    project: Path, *, file: Path, output: Path, form: str | None, column: str, encoder: str | None, device: str
) -> None:
    """Give facets to vectors of the start model, without encoding anything again.

    FILE is a table (.parquet, .jsonl) with a column of embeddings by the encoder's start model. The encoder must be a
    map of them (kind s3bert, layers_tuned = 0), as s3bert-minilm-map is for all-MiniLM-L6-v2. In the output that column
    holds the given vectors, then the facets, whose dimensions the encoder's facets.json names.
    """
    from flows.console.here import Here
    from training.encoders.loading import load_encoder
    from training.encoders.s3bert.facets import FILE_NAME, FacetLayout, facets_of
    from training.search.choosing import named_or_in_use

    form = format_of(output, {name: TABLE_FORMATS[name] for name in ("parquet", "jsonl")}, form)
    check_output(output, file)
    with nothing_half_written():
        table = read_table(file)
        vectors = _vectors(table, file, column)
        here = Here.read(project)
        folder, name = named_or_in_use(here.runs, encoder, here.encoders, FILE_NAME, BUNDLED_MAP)
        here.use(folder, encoder)
        layout = FacetLayout.load(folder)
        metadata = _check_origin(file, folder)
        made = facets_of(folder, load_encoder(folder, device=device), layout, vectors)
        present = pl.col(column).is_not_null()
        at = table.select(pl.when(present).then(present.cum_sum() - 1)).to_series()
        write_table(table.with_columns(pl.Series(column, made).gather(at)), output, form, metadata)
    say_written(f"{counted(len(layout.facets), 'facet')} of {counted(len(made), 'vector')} by {name}", output)


def _check_origin(file: Path, encoder: Path) -> dict[str, str] | None:
    """Check that vectors that `encode` wrote are whole embeddings by the start model; return metadata of the encoder's.

    The metadata of other vectors, of which nobody says what they are, are None.
    """
    from training.runs import encoder_title, training_of
    from training.search.blocks import METADATA, EncodedFile

    encoded = EncodedFile.open(file)
    if encoded is None:
        return None
    training = training_of(encoder)
    if encoded.made["encoder"] != training.get("backbone_digest"):
        start = training.get("settings", {}).get("backbone")
        why = f"was trained from {start!r}: encode its texts by that one"
        if start is None:
            why = "does not say from which model it was trained: copy it with its training.json"
        raise VectorsWrong(f"{str(file)!r} holds vectors of {encoded.maker}, but {encoder_title(encoder)!r} {why}.")
    if (precision := encoded.made["precision"]) in {"int8", "binary"}:
        raise VectorsWrong(f"{str(file)!r} holds {precision} codes of vectors: encode its texts again as float16.")
    made = {"encoder": digest(encoder), "name": encoder_title(encoder), "precision": "float32"}
    return {METADATA.decode(): json.dumps({**encoded.made, **made})}


def _vectors(table: pl.DataFrame, file: Path, column: str) -> "NDArray[np.float32]":
    """Return the vectors of a table, (n, d), of rows that have one."""
    import numpy as np

    if column not in table.columns:
        raise ColumnMissing(
            f"{str(file)!r} has the columns {shown_names(table.columns)}; name the one with the vectors by --vector."
        )
    try:
        rows = table[column].cast(pl.List(pl.Float32))
    except pl.exceptions.PolarsError as error:
        raise VectorsWrong(
            f"The column {column!r} of {str(file)!r} has no lists of numbers: name another one."
        ) from error
    if rows.null_count() == len(rows):
        raise FileEmpty(f"{str(file)!r} has no vector; give a file with at least one.")
    lengths = rows.list.len()
    finite = rows.list.eval(pl.element().is_finite().fill_null(value=False)).list.all()
    right = finite & (lengths == (lengths.drop_nulls().mode().max() or 0))
    wrong = (~right).arg_true()
    if len(wrong):
        more = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        raise VectorsWrong(
            f"The vectors in the column {column!r} of {str(file)!r} must all have the same length and finite numbers, "
            f"not as in row {wrong[0] + 1:,}{more}: leave such rows out."
        )
    present = rows.drop_nulls()
    return np.asarray(present.explode().to_numpy(), dtype=np.float32).reshape(len(present), -1)
