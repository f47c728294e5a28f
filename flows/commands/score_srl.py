"""`facetflow score srl`: how good a tagger of semantic roles is on gold frames."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from features.parsers.settings import SrlSettings
from flows.options import DEVICE, FILE, TAGGER, THREADS

if TYPE_CHECKING:
    from features.parsers.srl.scoring import Counts, SrlScore


@click.command()
@click.argument("gold", type=FILE)
@TAGGER
@click.option(
    "--predicates",
    default="tagger",
    show_default=True,
    type=click.Choice(("tagger", "spacy")),
    help="Who finds them in the second score: the tagger itself, or spaCy by part of speech.",
)
@DEVICE
@THREADS
def srl(gold: Path, model: str, predicates: Literal["tagger", "spacy"], device: str, threads: int | None) -> None:
    """Score a tagger on GOLD, frames in CoNLL-2005 columns (.gz too), as srl-eval.pl does.

    Once with the predicates of GOLD, once with predicates that are found. V does not count.
    """
    from features.errors import InputError
    from features.parsers.srl.conll import read_annotated
    from features.parsers.srl.evaluation import score_with, score_with_gold_predicates
    from features.parsers.srl.parser import load

    sentences = list(read_annotated(gold))
    if not any(sentence.frames for sentence in sentences):
        raise InputError(f"The file {str(gold)!r} has no frame to compare with.")
    parser = load(SrlSettings(model=model, predicates=predicates, device=device, threads=threads))
    told = score_with_gold_predicates(parser.tagger, sentences)
    found = score_with(parser.tagger, sentences, parser.find_predicates([sentence.words for sentence in sentences]))
    _print(f"{parser.name} on {gold.name}", told, found)


def _print(title: str, told: "SrlScore", found: "SrlScore") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{title}, × 100", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for name in ("gold", "found", "precision", "recall", "F1"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row("arguments, predicates of the file", *_cells(told.total))
    table.add_row("arguments, predicates found", *_cells(found.total))
    table.add_row("predicates", *_cells(found.predicates), end_section=True)
    for role, counts in sorted(told.roles.items(), key=lambda item: (-item[1].gold, item[0])):
        table.add_row(role, *_cells(counts))
    Console().print(table)


def _cells(counts: "Counts") -> tuple[str, ...]:
    shares = (counts.precision, counts.recall, counts.f1)
    return (f"{counts.gold:,}", f"{counts.predicted:,}", *(f"{100 * share:.2f}" for share in shares))
