"""`facetflow score`: score parsed graphs against gold ones, and a tagger of semantic roles against gold frames."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.faults import FileEmpty
from features.core.outputs import STANDARD, TABLE_FORMATS
from features.core.wording import counted
from features.parsers.settings import SrlSettings
from flows.console.one_shot import check_table, name_wrong, nothing_half_written, require_one_standard
from flows.console.options import (
    BY_POSITION,
    DEVICE,
    INPUT,
    JSON,
    METRIC_FILES,
    TAGGER,
    THREADS,
    output_options,
    predicates_option,
)
from flows.console.tables import print_tables
from flows.terminal import write_json
from training.evaluation.tables import ScoreTable, ends

if TYPE_CHECKING:
    from features.metrics.corpus_scores import CorpusScore
    from features.parsers.srl.scoring import Counts, SrlScore


class GraphsByDefault(click.Group):
    """A group whose default command is `amr`: `score GOLD.amr PARSED.amr`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `amr` before arguments that do not start with a command."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [str(amr.name), *args]
        return super().parse_args(ctx, args)


@click.group(cls=GraphsByDefault)
def score() -> None:
    """Score parser output against gold data; `score GOLD.amr PARSED.amr` is `score amr GOLD.amr PARSED.amr`."""


@score.command()
@click.argument("gold", type=INPUT)
@click.argument("parsed", type=INPUT)
@click.option("--metrics", help="Metrics, separated by commas: smatch,srl; by default all that count.")
@METRIC_FILES
@click.option("--drop-wiki", is_flag=True, help="Ignore :wiki on both sides.")
@BY_POSITION
@click.option(
    "--resamples",
    default=1000,
    type=click.IntRange(0, 1_000_000),
    help="Bootstrap samples for the intervals; 0 for no intervals.",
)
@click.option("--seed", default=0, type=click.IntRange(min=0), help="Seed of the bootstrap.")
@output_options(
    *TABLE_FORMATS, about="Write the scores as a table, too; - prints it instead of the usual one.", required=False
)
@JSON
def amr(
    gold: Path,
    parsed: Path,
    metrics: str | None,
    files: tuple[Path, ...],
    resamples: int,
    seed: int,
    output: Path | None,
    form: str | None,
    *,
    drop_wiki: bool,
    by_position: bool,
    as_json: bool,
) -> int:
    """Score the graphs of PARSED against those of GOLD.

    Precision, recall and F1 are of all triples together; Smatch is exact. Graphs are paired by `# ::id` if all have
    one, else by position; - is standard input. A wrong or missing parsed graph counts as empty (exit code 2).
    """
    from features.core.files import write_table
    from features.graph_files.scored import score_files
    from features.metrics.bootstrap import Bootstrap
    from features.metrics.corpus_scores import as_table
    from features.metrics.own import OwnMetrics

    require_one_standard(gold, parsed)
    if output is None and form is not None:
        raise click.UsageError("--format is that of -o: give -o - for standard output, or leave it out")
    if output is not None:
        if as_json and output == STANDARD:
            raise click.UsageError("standard output takes --json or -o -, not both")
        check_table(output, form, gold, parsed, *files)
    names = [name.strip() for name in (metrics or "").split(",") if name.strip()]
    with nothing_half_written():
        scored = score_files(
            gold,
            parsed,
            names,
            Bootstrap(resamples, seed),
            drop_wiki=drop_wiki,
            by_position=by_position,
            own=OwnMetrics.read(files).load(),
        )
        if output is not None:
            write_table(as_table(scored.scores), output, form)
    if as_json:
        write_json({"scores": [asdict(score) for score in scored.scores], "wrong": scored.wrong})
    elif output != STANDARD:
        _print_metrics(scored.scores)
    name_wrong(scored.wrong)
    return 2 if scored.wrong else 0


def _print_metrics(scores: "list[CorpusScore]") -> None:
    columns = ("metric", "precision", "recall", "F1", "95 % interval", "macro F1", "proven")
    rows = tuple(
        (
            line.metric,
            *(f"{100 * value:.2f}" for value in (line.precision.value, line.recall.value, line.f1.value)),
            ends(asdict(line.f1)),
            f"{100 * line.macro_f1.value:.2f}",
            # Rounded down: 100 % is every pair.
            "" if line.proven is None else f"{math.floor(10_000 * line.proven) / 100:g} %",
        )
        for line in scores
    )
    print_tables([ScoreTable(f"{counted(scores[0].pairs, 'pair')} of graphs, × 100", columns, rows)])
    for line in scores:
        click.echo(line.signature)


@score.command()
@click.argument("gold", type=INPUT)
@TAGGER
@predicates_option(" for the second score")
@DEVICE
@THREADS
@JSON
def srl(gold: Path, *, as_json: bool, **settings: Any) -> int:
    """Score a tagger on GOLD, as srl-eval.pl does.

    GOLD has frames in CoNLL-2005 columns (.gz too; - is standard input). The tagger is scored with its predicates, and
    with predicates that are found. V does not count. Sentences of GOLD that a parser rejected are left out, and frames
    of one that is too long for the tagger count as missed; the exit code is then 2.
    """
    from features.core.files import short_name, source_name
    from features.parsers.srl.frames import read_annotated
    from features.parsers.srl.parser import load
    from features.parsers.srl.scoring import score_with

    read = list(read_annotated(gold))
    sentences = [sentence for sentence in read if sentence.reject is None]
    if not any(sentence.frames for sentence in sentences):
        raise FileEmpty(f"{source_name(gold)} has no frame to compare with: give one with gold frames.")
    with nothing_half_written():
        parser = load(SrlSettings(**settings))
        gold_predicates = score_with(parser.tagger, sentences)
        own = score_with(parser.tagger, sentences, parser.find_predicates([sentence.words for sentence in sentences]))
    if as_json:
        write_json(
            {"parser": parser.name, "gold_predicates": _as_json(gold_predicates), "own_predicates": _as_json(own)}
        )
    else:
        _print_roles(f"{parser.name} on {short_name(gold)}", gold_predicates, own)
    wrong = [f"sentence {s.sentence_id!r} is left out: {s.reject}" for s in read if s.reject is not None]
    wrong += [
        f"sentence {s.sentence_id!r} is longer than the tagger reads: its gold frames count as missed"
        for s in sentences
        if parser.tagger.n_pieces(s.words) > parser.tagger.longest
    ]
    name_wrong(wrong)
    return 2 if wrong else 0


def _as_json(score: "SrlScore") -> dict[str, Any]:
    """Return a score with its counts and shares for all arguments, the predicates and each role."""
    return {
        "arguments": _shares(score.total),
        "predicates": _shares(score.predicates),
        "roles": {role: _shares(counts) for role, counts in sorted(score.roles.items())},
    }


def _shares(counts: "Counts") -> dict[str, float]:
    return {name: getattr(counts, name) for name in ("gold", "predicted", "correct", "precision", "recall", "f1")}


def _print_roles(title: str, gold_predicates: "SrlScore", own: "SrlScore") -> None:
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
