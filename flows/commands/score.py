"""`facetflow score`: score parsed graphs against gold ones."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from features.core.wording import counted
from flows.commands.score_srl import srl
from flows.console.one_shot import name_wrong, nothing_half_written, require_one_standard
from flows.console.options import BY_POSITION, INPUT, JSON, METRIC_FILES, TABLES, output_options
from flows.terminal import write_json

if TYPE_CHECKING:
    from features.metrics.corpus_scores import CorpusScore, Estimate


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
@click.option("--metrics", default="", help="Some metrics, separated by commas: smatch,srl; all that count by default.")
@METRIC_FILES
@click.option("--drop-wiki", is_flag=True, help="Ignore :wiki on both sides.")
@BY_POSITION
@click.option(
    "--resamples",
    default=1000,
    show_default=True,
    type=click.IntRange(min=0),
    help="Bootstrap samples for the intervals; 0 for no intervals.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the bootstrap.")
@output_options(
    "Also write the scores as a table: .tsv, .csv, .jsonl or .parquet; - prints it instead of the usual one.",
    *TABLES,
    required=False,
)
@JSON
def amr(
    gold: Path,
    parsed: Path,
    metrics: str,
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
    """Score the graphs of PARSED against those of GOLD: precision, recall and F1 of all triples together.

    Graphs are paired by `# ::id` if all have one, else by position; - is standard input. Smatch is exact, so scores are
    the same on every run. An invalid or missing parsed graph counts as empty; it is named on stderr, and the exit code
    is 2.
    """
    from features.core.files import write_table
    from features.core.outputs import STANDARD, TABLES, check_output, format_of
    from features.graph_files.scored import score_files
    from features.metrics.bootstrap import Bootstrap
    from features.metrics.corpus_scores import as_table
    from features.metrics.own import load_files, read_metric_file

    require_one_standard(gold, parsed)
    if output is not None:
        if as_json and output == STANDARD:
            raise click.UsageError("standard output takes --json or -o -, not both")
        form = format_of(output, TABLES, form)
        check_output(output, gold, parsed, *files)  # both checked before the work starts
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    with nothing_half_written():
        scored = score_files(
            gold,
            parsed,
            names,
            Bootstrap(resamples, seed),
            drop_wiki=drop_wiki,
            by_position=by_position,
            own=load_files(read_metric_file(file) for file in files),
        )
        if output is not None:
            write_table(as_table(scored.scores), output, form)
    if as_json:
        write_json({"scores": [asdict(score) for score in scored.scores], "wrong": scored.wrong})
    elif output != STANDARD:
        _print(scored.scores)
    name_wrong(scored.wrong)
    return 2 if scored.wrong else 0


score.add_command(srl)


def _print(scores: "list[CorpusScore]") -> None:
    from flows.console.tables import print_tables
    from training.evaluation.tables import ScoreTable

    columns = ("metric", "precision", "recall", "F1", "95 % interval", "macro F1", "proven")
    rows = tuple(
        (
            line.metric,
            *(f"{100 * value:.2f}" for value in (line.precision.value, line.recall.value, line.f1.value)),
            _interval(line.f1),
            f"{100 * line.macro_f1.value:.2f}",
            _proven(line.proven),
        )
        for line in scores
    )
    print_tables([ScoreTable(f"{counted(scores[0].pairs, 'pair')} of graphs, × 100", columns, rows)])
    for line in scores:
        click.echo(line.signature)


def _interval(estimate: "Estimate") -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{100 * estimate.low:.1f} – {100 * estimate.high:.1f}"


def _proven(share: float | None) -> str:
    """Round down: 100 % is every pair."""
    return "" if share is None else f"{math.floor(10_000 * share) / 100:g} %"
