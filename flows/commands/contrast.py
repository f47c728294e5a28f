"""`facetflow contrast`: a corpus of contrast pairs, made from sentences by edits."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import click

from features.contrasts.edits import EDITS
from features.contrasts.tree import Tree
from features.core.draws import share_of
from features.core.faults import TooFewTexts, UnknownTexts
from features.core.outputs import TABLE_FORMATS
from features.core.wording import counted
from flows.console.one_shot import check_table, nothing_half_written, say_written
from flows.console.options import INPUT, output_options

_PARSED = 8  # sentences for each pair of an edit that is wanted: one in eight has a number, and as many have a name


@click.command()
@click.argument("file", type=INPUT, required=False)
@output_options(*TABLE_FORMATS)
@click.option("--corpus", "corpora", multiple=True, help="Take sentences of this corpus only; may be repeated.")
@click.option(
    "--edit", "edits", multiple=True, type=click.Choice(list(EDITS)), help="Make this edit only; may be repeated."
)
@click.option("--each", default=5000, type=click.IntRange(min=1), help="Sentences for each edit, at most.")
@click.pass_obj
def contrast(
    project: Path,
    *,
    file: Path | None,
    output: Path,
    form: str | None,
    corpora: tuple[str, ...],
    edits: tuple[str, ...],
    each: int,
) -> None:
    """Edit sentences, so that encoders learn what they overlook: a corpus for the project file.

    Edits exchange two arguments (swap), change the voice, let another be acted upon (patient, which also gets the
    former two), set or lift a negation, or replace a quantifier, a number or a name. Sentences are those of FILE (a
    table, or one a line), or of the newest release's training pairs. Other voices and exchanged arguments are kept only
    if the embedded parser's graphs show the difference. The output has the columns sentence_a, sentence_b, edit.
    """
    import polars as pl

    from features.contrasts.drawing import confirmed, draw_contrasts, triples
    from features.core.files import write_table
    from features.graph_files.sentence_graphs import parsed_graphs
    from features.parsers.dependencies import load
    from features.parsers.settings import DependencySettings
    from features.parsers.texts import number_sentences, parse_lines, read_sentences
    from features.stages.dependencies import parse_dependencies
    from flows.watching.file_progress import FileProgress

    if file is not None and corpora:
        raise click.UsageError("--corpus names corpora of the project; leave it out, or FILE")
    check_table(output, form, *([] if file is None else [file]))
    with nothing_half_written():
        texts = _release_sentences(project, corpora) if file is None else read_sentences(file)["text"]
        chosen = sorted(set(texts) - {""}, key=share_of)[: _PARSED * each]
        parser = load(DependencySettings())

        def parse(texts: Collection[str]) -> list[Tree]:
            with FileProgress("sentences") as progress:
                parsed = parse_lines(
                    number_sentences(("", text) for text in texts),
                    lambda rows: parse_dependencies(rows, parser),
                    on_rows=progress,
                )
            return [Tree.of(row["text"], row) for row in parsed.filter(pl.col("code").is_null()).iter_rows(named=True)]

        wanted = set(edits or EDITS)
        trees = parse(chosen)
        pairs = drawn = list(draw_contrasts(trees, each, wanted & {"patient"}))
        if drawn and (roles := wanted & {"voice", "swap"}):
            drawn += draw_contrasts(parse({pair.sentence_b for pair in drawn}.difference(chosen)), each, roles)
        drawn += draw_contrasts(trees, each, wanted - {"patient"})
        if in_triples := list(dict.fromkeys(text for triple in triples(drawn) for text in triple)):
            with FileProgress("graphs") as progress:
                pairs = confirmed(drawn, parsed_graphs(in_triples, progress)[0])
        if not drawn:
            raise TooFewTexts("No sentence can be edited: give English sentences with a verb, a number or a name.")
        if not pairs:
            raise TooFewTexts("The graphs show none of the edits: give more sentences.")
        write_table(pl.DataFrame(pairs, orient="row", schema=["sentence_a", "sentence_b", "edit"]), output, form)
    counts = ", ".join(f"{count:,} {edit}" for edit, count in Counter(pair.edit for pair in pairs).most_common())
    hidden = f"; left out, not shown by the graphs: {len(drawn) - len(pairs):,}" if pairs != drawn else ""
    say_written(f"{counted(len(pairs), 'pair')} of {counted(len(trees), 'sentence')} ({counts}{hidden})", output)


def _release_sentences(project: Path, corpora: Collection[str]) -> Collection[str]:
    """Return the sentences of the training pairs in the newest release."""
    import polars as pl

    from flows.console.here import Here
    from training.data.releases import OpenRelease

    here = Here.read(project)
    if here.store is None:
        raise UnknownTexts("There is no project here: give a file with sentences.")
    release = OpenRelease(here.store, None)
    pairs = release.read("pairs", ("corpus", "split", "sentence_a", "sentence_b")).filter(split="train")
    if pairs.is_empty():  # as of texts with labels
        raise release.lacks("no training pairs: give a file with sentences")
    if unknown := set(corpora) - set(pairs["corpus"]):
        names = ", ".join(sorted(set(pairs["corpus"]))) or "none"
        raise UnknownTexts(f"{release.name} has no training pairs of {min(unknown)!r}, only of: {names}.")
    wanted = pairs.filter(pl.col("corpus").is_in(list(corpora))) if corpora else pairs
    return release.texts_of(wanted["sentence_a"], wanted["sentence_b"])["text"].to_list()
