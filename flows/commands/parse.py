"""`facetflow parse`: from sentences in a text file to graphs, trees or semantic roles, without a project or a store."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl
from click.core import ParameterSource

from features.core.leftovers import scratch
from features.core.outputs import check_output, format_of
from features.core.wording import counted
from features.parsers.parsed_files import FORMATS, Kind, write_parsed
from features.parsers.settings import AmrSettings, DependencySettings, SrlSettings
from flows.console.one_shot import name_wrong, nothing_half_written, say_written, warn_of_languages
from flows.console.options import DEVICE, FILE, INPUT, TAGGER, THREADS, output_options, predicates_option

if TYPE_CHECKING:
    from features.schemas import StageOutput

_INPUT = click.argument("sentences", type=INPUT)
_SENTENCES_AT_ONCE = 512
"""Sentences sorted by length and counted in the progress together: enough that batches have similar lengths."""


@click.group()
def parse() -> None:
    """Parse SENTENCES: a text file with one sentence a line, or - for standard input.

    An entry of the output has the number of its line, or its `::id` (.amr, .penman) or the column `id` next to `text`
    (.tsv, .csv, .jsonl, .parquet). Empty lines keep their place; so does a sentence that cannot be parsed (exit code
    2).
    """


@parse.command()
@_INPUT
@output_options(*FORMATS["amr"])
@click.option(
    "--graphs",
    multiple=True,
    type=FILE,
    help="Look sentences up by ::snt in this PENMAN file (.gz too), without parsing; may be repeated.",
)
@click.option(
    "--model",
    default="embedded",
    help="`embedded`, the folder of a parser trained like it, or an amrlib parser.",
)
@click.option("--tokenizer", help="Folder of an amrlib parser's tokenizer, if not stored with it.")
@click.option("--batch-size", default=32, type=click.IntRange(min=1), help="Sentences parsed at once.")
@click.option("--beams", default=4, type=click.IntRange(min=1), help="Beams of an amrlib parser.")
@DEVICE
@THREADS
def amr(sentences: Path, output: Path, form: str | None, graphs: tuple[Path, ...], **settings: Any) -> int:
    """Parse into AMR graphs.

    The output is PENMAN (.amr, .penman, .txt) or a table (.tsv, .csv, .jsonl, .parquet).
    """
    from features.parsers.amr import is_embedded, load
    from features.parsers.bank import build_bank
    from features.stages.amr import parse_amr

    source = click.get_current_context().get_parameter_source
    embedded = is_embedded(settings["model"])
    unread = settings if graphs else ("tokenizer", "beams") if embedded else ()
    if given := [name for name in unread if source(name) is ParameterSource.COMMANDLINE]:
        why = "--graphs looks graphs up and parses nothing" if graphs else "only an amrlib parser, by --model, reads it"
        raise click.UsageError(f"--{given[0].replace('_', '-')} has no effect: {why}; leave it out")
    with scratch("graphs") as folder:

        def parser() -> object:
            if graphs:
                build_bank(graphs, folder / "graphs.arrow")
                return load(AmrSettings(bank=folder / "graphs.arrow"))
            return load(AmrSettings(backend="embedded" if embedded else "amrlib", **settings))

        at_once = _SENTENCES_AT_ONCE if graphs or embedded else 4 * settings["batch_size"]
        return _run("amr", sentences, output, form, parse_amr, parser, at_once, graphs)


@parse.command()
@_INPUT
@output_options(*FORMATS["dependencies"])
@click.option("--model", default="en_core_web_md", help="Name or folder of a spaCy pipeline.")
@THREADS
def dependencies(sentences: Path, output: Path, form: str | None, **settings: Any) -> int:
    """Parse into dependency trees.

    The output is .conllu, or a table with one row per token.
    """
    from features.parsers.dependencies import load
    from features.stages.dependencies import parse_dependencies

    parser = partial(load, DependencySettings(**settings))
    return _run("dependencies", sentences, output, form, parse_dependencies, parser)


@parse.command()
@_INPUT
@output_options(*FORMATS["srl"])
@TAGGER
@predicates_option()
@DEVICE
@THREADS
def srl(sentences: Path, output: Path, form: str | None, **settings: Any) -> int:
    """Parse into semantic roles.

    The output is .conll, .jsonl or .parquet (one row per sentence), .tsv or .csv (one per span).
    """
    from features.parsers.srl.parser import load
    from features.stages.srl import parse_srl

    return _run("srl", sentences, output, form, parse_srl, partial(load, SrlSettings(**settings)))


def _run(
    kind: Kind,
    sentences: Path,
    output: Path,
    form: str | None,
    stage: "Callable[[pl.DataFrame, Any], StageOutput]",
    load: Callable[[], object],
    at_once: int = _SENTENCES_AT_ONCE,
    graphs: Sequence[Path] = (),
) -> int:
    from features.parsers.texts import parse_lines, read_sentences
    from flows.watching.file_progress import FileProgress

    format_of(output, FORMATS[kind], form)
    check_output(output, sentences, *graphs)  # both checked before the work starts
    with nothing_half_written():
        lines = read_sentences(sentences)
        warn_of_languages(lines["text"])
        with FileProgress("sentences") as progress:
            parser = load()
            parsed = parse_lines(lines, lambda rows: stage(rows, parser), at_once=at_once, on_rows=progress)
        write_parsed(kind, parsed, output, form)
    empty = pl.col("text") == ""
    rejects = parsed.filter(pl.col("code").is_not_null() & ~empty).select("line", "id", "code", "message")
    name_wrong([
        f"line {line}{'' if identity == str(line) else f' (id {identity!r})'}: {code}: {message}"
        for line, identity, code, message in rejects.iter_rows()
    ])  # fmt: skip
    n_empty = parsed.filter(empty).height
    kept = [f"{rejects.height:,} rejected"] if rejects.height else []
    kept += [f"{n_empty:,} empty"] if n_empty else []
    n_parsed = parsed.height - rejects.height - n_empty
    note = f", {' and '.join(kept)} (each keeps its place)" if kept else ""
    say_written(f"{n_parsed:,} of {counted(parsed.height - n_empty, 'sentence')}{note}", output)
    return 2 if rejects.height else 0
