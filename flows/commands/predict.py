"""`facetflow predict`: label each pair of a table with the classifier of an encoder."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.outputs import STANDARD, TABLE_FORMATS, shown, write_text
from features.core.wording import counted
from flows.console.one_shot import (
    check_page,
    check_table,
    name_wrong,
    nothing_half_written,
    say_written,
    warn_of_languages,
)
from flows.console.options import DEVICE, INPUT, JSON, OUTPUT, encoder_option, output_options
from flows.terminal import say, warn, write_json

if TYPE_CHECKING:
    import polars as pl

    from features.corpora.pair_tables import PairCells
    from training.predicting import GivenThreshold, Predictions


def _probability(_context: click.Context, _parameter: click.Parameter, value: str | None) -> "GivenThreshold":
    if value is None or value == "dev":
        return value  # type: ignore[return-value]
    with suppress(ValueError):
        if 0 <= (number := float(value)) <= 1:
            return number
    raise click.BadParameter(f"{value!r} is neither a probability, from 0 to 1, nor dev.")


@click.command()
@click.argument("pairs", type=INPUT)
@output_options(*TABLE_FORMATS)
@click.option(
    "--columns",
    nargs=2,
    metavar="A B",
    help="Columns of the two sentences, or positions from 0 without a header line; by default as in a corpus of the "
    "project, sentence_a and sentence_b, or as in a known dataset.",
)
@encoder_option(" the current encoder that has a classifier, or the newest")
@click.option(
    "--threshold",
    metavar="NUMBER|dev",
    callback=_probability,
    help="Probability from which a pair gets the positive of two labels; dev: the best for F1 on the training's dev "
    "pairs. By default the most probable label wins.",
)
@click.option(
    "--explain",
    "page",
    type=OUTPUT,
    help="Write a page that opens offline: words shaded by the weights of their spans, with frames (kind pas).",
)
@DEVICE
@JSON
@click.pass_obj
def predict(
    project: Path,
    *,
    pairs: Path,
    output: Path,
    form: str | None,
    columns: tuple[str, str] | None,
    encoder: str | None,
    threshold: "GivenThreshold",
    page: Path | None,
    device: str,
    as_json: bool,
) -> int:
    """Predict the label of each of PAIRS, a table of sentence pairs (- is standard input).

    The output has a row for each row of PAIRS: line, sentence_a, sentence_b, label, and the probability of each label
    (p_…). A wrong row keeps its place without a label (exit code 2).
    """
    from features.core.files import write_table
    from features.corpora.pair_tables import read_pair_rows
    from flows.console.here import Here
    from flows.watching.file_progress import FileProgress
    from training.encoders.loading import load_encoder, load_reader
    from training.predicting import PairPredictor, choose_predictor
    from training.prediction_page import MOST, render_predictions

    if as_json and output == STANDARD:
        raise click.UsageError("-o - and --json would both write to standard output; give the table a file")
    check_table(output, form, pairs)
    if page == STANDARD:
        raise click.UsageError("--explain writes a page into a file, not to standard output; give it a name")
    if page is not None:
        check_page(page, pairs, output, as_json=as_json)
    here = Here.read(project)
    with nothing_half_written():
        folder = choose_predictor(here.runs, encoder, among=here.encoders, explained=page is not None)
        here.use(folder, encoder)
        rows = read_pair_rows(pairs, columns or (), here.corpora, warn)
        load = load_reader if page is None else load_encoder
        predictor = PairPredictor(folder, load(folder, device=device), here.runs)
        if page is not None:
            predictor.require_spans()
        asked = [(row.text_a or "", row.text_b or "") for row in rows if not row.problem]
        warn_of_languages(text for pair in asked for text in pair)
        with FileProgress("sentences") as progress:
            predictions = predictor.predict(asked, progress, threshold=threshold)
        shown_pairs = [] if page is None else predictor.explain(predictions.each(asked)[:MOST])
        write_table(_table(rows, predictions), output, form)
        if page is not None:
            caveats = [*([predictions.threshold.sentence] if predictions.threshold else []), *predictions.caveats]
            html = render_predictions(
                shown_pairs, len(asked), str(folder), predictor.sees, caveats=caveats, project=here.name
            )
            write_text(page, [html])
    wrong = [row for row in rows if row.problem]
    name_wrong([f"{shown(pairs, 'standard input')}, line {row.line}: {row.problem}." for row in wrong])
    lacking = f", {len(wrong):,} of them without a label," if wrong else ""
    say_written(f"{counted(len(rows), 'pair')}{lacking}", output)
    if page is not None:
        say_written(f"{counted(len(shown_pairs), 'explained pair')}", page)
    counts = ", ".join(f"{count:,} × {label}" for label, count in _counts(predictions).items())
    say(f"Labels from the encoder {folder}: {counts}{_speed(predictions)}.")
    _tell_more(predictions, len(asked))
    if as_json:
        write_json({"output": str(output), "encoder": str(folder), "pairs": len(rows)} | _described(predictions, wrong))
    return 2 if wrong else 0


def _counts(predictions: "Predictions") -> dict[str, int]:
    predicted = predictions.predicted
    return {label: predicted.count(label) for label in predictions.labels}


def _described(predictions: "Predictions", wrong: "Sequence[PairCells]") -> dict[str, object]:
    rate, parsing = predictions.pairs_per_second, predictions.share_of_parsing
    return {
        "labels": _counts(predictions),
        "threshold": predictions.threshold and asdict(predictions.threshold),
        "wrong": [{"line": row.line, "message": row.problem} for row in wrong],
        "calibrated_by": predictions.calibrated_by,
        "doubt": predictions.doubt or None,
        "truncated": predictions.truncated,
        "changed_by_swapping": predictions.changed,
        "sentences_reused": predictions.reused,
        "pairs_per_second": None if rate is None else round(rate, 2),
        "share_of_parsing": None if parsing is None else round(parsing, 3),
    }


def _speed(predictions: "Predictions") -> str:
    if predictions.reused:
        sentences = counted(predictions.sentences, "sentence")
        return f"; {predictions.reused:,} of {sentences} embedded by an earlier command"
    speed = "" if predictions.pairs_per_second is None else f"; {predictions.pairs_per_second:,.1f} pairs a second"
    share = predictions.share_of_parsing
    return speed if share is None else f"{speed}, {100 * share:.0f} % of the time spent parsing"


def _tell_more(predictions: "Predictions", pairs: int) -> None:
    if predictions.threshold is not None:
        say(predictions.threshold.sentence)
    for caveat in predictions.caveats:
        warn(caveat)
    if predictions.changed:
        say(
            "The classifier depends on which sentence comes first: with the sentences swapped, "
            f"{predictions.changed:,} of {counted(pairs, 'pair')} would have another label."
        )
    if not pairs:
        warn("No row has two sentences, so there are no labels.")


def _table(rows: "list[PairCells]", predictions: "Predictions") -> "pl.DataFrame":
    import polars as pl

    predicted = iter(zip(predictions.predicted, predictions.probabilities.round(6).tolist(), strict=True))
    nothing = None, [None] * len(predictions.labels)
    table: list[tuple[Any, ...]] = []
    for row in rows:
        label, probabilities = nothing if row.problem else next(predicted)
        table.append((row.line, row.text_a, row.text_b, label, *probabilities))
    schema: dict[str, Any] = {"line": pl.Int64} | dict.fromkeys(("sentence_a", "sentence_b", "label"), pl.String)
    schema |= {f"p_{label}": pl.Float64 for label in predictions.labels}
    return pl.DataFrame(table, schema, orient="row")
