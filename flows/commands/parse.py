"""`facetflow parse`: sentences of a text file to graphs, trees or semantic roles, without a project or a store."""

import tempfile
from pathlib import Path
from typing import Literal

import click
import polars as pl

from features.parsers.settings import AmrSettings, DependencySettings, SrlSettings
from features.stages import StageOutput
from flows.options import DEVICE, FILE, TAGGER, THREADS

_INPUT = click.argument("sentences", type=FILE)
_OUTPUT = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; its suffix is the format.",
)


@click.group()
def parse() -> None:
    """Parse SENTENCES, a text file with a sentence a line.

    Sentences that cannot be parsed are named on stderr, and the exit code is 2.
    """


@parse.command()
@_INPUT
@_OUTPUT
@click.option(
    "--graphs",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Look the sentences up by ::snt in this PENMAN file (.gz too) instead of parsing; may be repeated.",
)
@click.option(
    "--model",
    default="embedded",
    show_default=True,
    help="`embedded` for the parser that comes with facetflow, the folder of one trained like it, or an amrlib parser.",
)
@click.option("--tokenizer", help="Folder of the parser's tokenizer, where it does not lie with the model.")
@click.option(
    "--batch-size", default=32, show_default=True, type=click.IntRange(min=1), help="Sentences that are parsed at once."
)
@click.option("--beams", default=4, show_default=True, type=click.IntRange(min=1), help="Width of the beam search.")
@DEVICE
@THREADS
def amr(
    sentences: Path,
    output: Path,
    graphs: tuple[Path, ...],
    model: str,
    tokenizer: str | None,
    batch_size: int,
    beams: int,
    device: str,
    threads: int | None,
) -> int:
    """Parse into AMR: .amr, .penman or .txt (PENMAN), or a table (.tsv, .csv, .jsonl, .parquet)."""
    from features.parsers import texts
    from features.parsers.amr import load
    from features.parsers.bank import build_bank
    from features.parsers.embedded.amr_parser import is_embedded
    from features.parsers.stages import parse_amr

    texts.check_amr_output(output)
    rows = texts.read_sentences(sentences)
    with tempfile.TemporaryDirectory(prefix="facetflow-") as folder:
        if graphs:
            bank = Path(folder) / "graphs.arrow"
            build_bank(graphs, bank)
            settings = AmrSettings(bank=bank)
        else:
            settings = AmrSettings(
                backend="embedded" if is_embedded(model) else "amrlib",
                model=model,
                tokenizer=tokenizer,
                batch_size=batch_size,
                beams=beams,
                device=device,
                threads=threads,
            )
        result = parse_amr(rows.select("sentence_id", "text"), load(settings))
    texts.write_amr(result.rows, rows.select("sentence_id", "text"), output)
    return _report(rows, result, output)


@parse.command()
@_INPUT
@_OUTPUT
@click.option("--model", default="en_core_web_md", show_default=True, help="Name or folder of a spaCy pipeline.")
@THREADS
def dependencies(sentences: Path, output: Path, model: str, threads: int | None) -> int:
    """Parse into dependency trees: .conllu, or a table with a row for each token."""
    from features.parsers import texts
    from features.parsers.dependencies import load
    from features.parsers.stages import parse_dependencies

    texts.check_dependency_output(output)
    rows = texts.read_sentences(sentences)
    result = parse_dependencies(
        rows.select("sentence_id", "text"), load(DependencySettings(model=model, threads=threads))
    )
    texts.write_dependencies(result.rows, rows.select("sentence_id", "text"), output)
    return _report(rows, result, output)


@parse.command()
@_INPUT
@_OUTPUT
@TAGGER
@click.option(
    "--predicates",
    default="tagger",
    show_default=True,
    type=click.Choice(("tagger", "spacy")),
    help="Who finds them: the tagger itself, or spaCy by part of speech.",
)
@DEVICE
@THREADS
def srl(
    sentences: Path,
    output: Path,
    model: str,
    predicates: Literal["tagger", "spacy"],
    device: str,
    threads: int | None,
) -> int:
    """Parse into semantic roles: .conll; .jsonl or .parquet (a row for each sentence), .tsv or .csv (for each span)."""
    from features.parsers import texts
    from features.parsers.srl.parser import load
    from features.parsers.stages import parse_srl

    texts.check_srl_output(output)
    rows = texts.read_sentences(sentences)
    settings = SrlSettings(model=model, predicates=predicates, device=device, threads=threads)
    result = parse_srl(rows.select("sentence_id", "text"), load(settings))
    texts.write_srl(result.rows, rows.select("sentence_id", "text"), output)
    return _report(rows, result, output)


def _report(rows: pl.DataFrame, result: StageOutput, output: Path) -> int:
    """Name the lines that were rejected, and return the exit code."""
    lines = dict(zip(rows["sentence_id"], rows["line"], strict=True))
    for identity, code, message in result.rejects.iter_rows():
        click.echo(f"line {lines[identity]}: {code}: {message}", err=True)
    click.echo(f"Wrote {result.rows.height} of {rows.height} sentences to {output}.", err=True)
    return 2 if result.rejects.height else 0
