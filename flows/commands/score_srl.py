"""`facetflow score srl`: score a tagger of semantic roles against gold frames."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.faults import FileEmpty
from features.parsers.settings import PredicatesBy, SrlSettings
from flows.console.one_shot import name_wrong, nothing_half_written
from flows.console.options import DEVICE, INPUT, JSON, TAGGER, THREADS, predicates_option
from flows.terminal import write_json

if TYPE_CHECKING:
    from features.parsers.srl.scoring import Counts, SrlScore


@click.command()
@click.argument("gold", type=INPUT)
@TAGGER
@predicates_option(" for the second score")
@DEVICE
@THREADS
@JSON
def srl(gold: Path, model: str, predicates: PredicatesBy, device: str, threads: int | None, *, as_json: bool) -> int:
    """Score a tagger on GOLD, frames in CoNLL-2005 columns (.gz too; - is standard input), as srl-eval.pl does.

    The tagger is scored once with the predicates of GOLD and once with predicates that are found. V does not count. A
    sentence of GOLD that a parser rejected is left out; it is named on stderr, and the exit code is 2.
    """
    from features.core.files import short_name, source_name
    from features.parsers.srl.frames import read_annotated
    from features.parsers.srl.parser import load
    from features.parsers.srl.scoring import score_with

    read = list(read_annotated(gold))
    sentences = [sentence for sentence in read if sentence.reject is None]
    if not any(sentence.frames for sentence in sentences):
        raise FileEmpty(f"The file {source_name(gold)} has no frame to compare with.")
    with nothing_half_written():
        parser = load(SrlSettings(model=model, predicates=predicates, device=device, threads=threads))
        gold_predicates = score_with(parser.tagger, sentences)
        own = score_with(parser.tagger, sentences, parser.find_predicates([sentence.words for sentence in sentences]))
    if as_json:
        write_json({"parser": parser.name, "gold_predicates": _json(gold_predicates), "own_predicates": _json(own)})
    else:
        _print(f"{parser.name} on {short_name(gold)}", gold_predicates, own)
    left_out = [f"sentence {s.sentence_id!r} is left out: {s.reject}" for s in read if s.reject is not None]
    name_wrong(left_out)
    return 2 if left_out else 0


def _json(score: "SrlScore") -> dict[str, Any]:
    """Return a score with its counts and shares for all arguments, the predicates and each role."""
    return {
        "arguments": _shares(score.total),
        "predicates": _shares(score.predicates),
        "roles": {role: _shares(counts) for role, counts in sorted(score.roles.items())},
    }


def _shares(counts: "Counts") -> dict[str, float]:
    return {name: getattr(counts, name) for name in ("gold", "predicted", "correct", "precision", "recall", "f1")}


def _print(title: str, gold_predicates: "SrlScore", own: "SrlScore") -> None:
    from flows.console.tables import print_tables
    from training.evaluation.tables import ScoreTable

    roles = sorted(gold_predicates.roles.items(), key=lambda item: (-item[1].gold, item[0]))
    rows = {
        "arguments, predicates of the file": gold_predicates.total,
        "arguments, predicates found": own.total,
        "predicates": own.predicates,
        **dict(roles),
    }
    columns = ("", "gold", "found", "precision", "recall", "F1")
    table = ScoreTable(f"{title}, × 100", columns, tuple((name, *_cells(counts)) for name, counts in rows.items()))
    print_tables([table])


def _cells(counts: "Counts") -> tuple[str, ...]:
    shares = (counts.precision, counts.recall, counts.f1)
    return (f"{counts.gold:,}", f"{counts.predicted:,}", *(f"{100 * share:.2f}" for share in shares))
