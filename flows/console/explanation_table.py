"""An explanation for a terminal of 80 columns: measured next to predicted, unreliable facets in grey."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from features.core.pages import render
from features.metrics.registry import BUILT_IN
from flows.console.explaining import Explained
from flows.console.standard_output import StandardOutput
from flows.terminal import visible
from training.attribution import Attribution
from training.encoders.s3bert.explain import EncoderFacts, Explanation
from training.encoders.s3bert.facet_reading import DISAGREES, FacetReading

_UNKNOWN = "–"
_POOR = 0.2
"""Facets whose Spearman correlation on dev pairs is lower are folded into one line."""
_WIDEST = 1_000
_STYLES = {"highest": "green", "lowest": "red", "": ""}
_OF_ENCODER = ("predicted", "similarity", "standing", "ρ (from)")
_STRONGEST = 6


def print_explanations(
    explained: Sequence[Explained], facts: EncoderFacts | None, console: Console | None = None, *, unfold: bool = False
) -> None:
    """Write explanations to standard output, and below them once what their columns mean.

    Where graphs come from is told once if that is the same for all. With `unfold`, facets that rank dev pairs poorly
    have a row too.
    """
    console = console or StandardOutput()
    origins = {each.origin for each in explained}
    for each in explained:
        _print_pair(each.explanation, console, unfold=unfold)
        if each.shares is not None:
            _print_shares(each.shares, console)
        if len(origins) > 1:
            console.print(Text.assemble(("graphs   ", "dim"), visible(each.origin)))
            console.print()
    shares = any(each.shares is not None for each in explained)
    values = {"predicted": facts is not None, "shares": shares, "disagrees": DISAGREES}
    console.print(Text(render("flows.console/legend.txt", **values).rstrip("\n"), style="dim"))
    if facts is not None:  # else beside each metric, where there is room
        rows = (facet for each in explained for facet in _split(each.explanation, unfold=unfold)[0])
        shown = dict.fromkeys(facet.name for facet in rows)
        compared = [f"{name:<15} {BUILT_IN[name].compares}" for name in shown if name in BUILT_IN]
        if compared:  # else all facets are folded, or of metrics of the project's own
            console.print(Text("\n".join(["what the metrics compare", *compared]), style="dim"))
    about = "none, so nothing is predicted: train one of kind s3bert, or name one" if facts is None else facts.sentence
    console.print(Text.assemble(("encoder  ", "dim"), visible(about)))
    if len(origins) == 1:
        console.print(Text.assemble(("graphs   ", "dim"), *map(visible, origins)))


def _print_pair(explanation: Explanation, console: Console, *, unfold: bool) -> None:
    console.print(Text.assemble(("a  ", "dim"), visible(explanation.sentence_a)))
    console.print(Text.assemble(("b  ", "dim"), visible(explanation.sentence_b)))
    console.print()
    if explanation.words is not None and not explanation.equal:
        console.print(Text(visible(explanation.words), style="bold"))
    console.print(Text(visible(explanation.headline)))
    for note in explanation.notes:
        console.print(Text(visible(note), style="yellow"))
    console.print()
    shown, folded = _split(explanation, unfold=unfold)
    table = _table(explanation, shown)
    needed = console.measure(table, options=console.options.update(max_width=_WIDEST)).maximum
    table.width = needed if needed > console.width else None  # a narrow terminal wraps lines, rich would cut numbers
    console.print(table, crop=False)
    if folded:
        names = ", ".join(f"{facet.name} {facet.measured_text}".removesuffix(f" {_UNKNOWN}") for facet in folded)
        console.print(Text(visible(f"ρ below {_POOR}, folded (--verbose): {names}"), style="dim"))
    console.print()


def _print_shares(shares: Attribution, console: Console) -> None:
    console.print(Text(visible(f"{shares.facet} {shares.similarity:.2f}, by words (100 is all of it)"), style="bold"))
    whole = shares.similarity or 1.0
    for side, words, each in (("a", shares.words_a, shares.of_a), ("b", shares.words_b, shares.of_b)):
        cells = "  ".join(f"{visible(word)} {100 * share / whole:.0f}" for word, share in zip(words, each, strict=True))
        console.print(Text.assemble((f"{side}  ", "dim"), cells))
    pairs = (f"{visible(a)}–{visible(b)} {100 * share / whole:.1f}" for a, b, share in shares.strongest(_STRONGEST))
    console.print(Text.assemble(("a–b  ", "dim"), "  ".join(pairs)))
    console.print()


def _split(explanation: Explanation, *, unfold: bool) -> tuple[list[FacetReading], list[FacetReading]]:
    """Return the facets that have a row, and those that are folded into one line."""
    poor = [f for f in explanation.facets if not unfold and f.spearman is not None and f.spearman < _POOR]
    return [facet for facet in explanation.facets if facet not in poor], poor


def _table(explanation: Explanation, shown: Sequence[FacetReading]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    table.add_column("facet", no_wrap=True)
    alone = explanation.similarity is None
    for title in ("measured", *(() if alone else _OF_ENCODER)):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=9 * alone)
    if alone:
        table.add_column("compares", no_wrap=True)
    for facet in shown:
        correlation = _UNKNOWN if facet.spearman is None else f"{facet.spearman:.2f}"
        if facet.interval is not None:
            correlation += f" ({facet.interval[0]:.2f})"
        standing = _UNKNOWN if facet.standing is None else f"{100 * facet.standing:.0f} %"
        of_encoder = (_number(facet.prediction), _number(facet.similarity), standing, correlation)
        doubt = "?" if facet.is_doubtful else "≠" if facet.disagrees else ""
        note = f"{'blind' if facet.blind else facet.mark} {doubt}".strip()
        style, faint = _STYLES[facet.mark], "dim" if facet.is_doubtful else ""
        table.add_row(
            Text(visible(facet.name), style or faint),
            Text(facet.measured_text, style),
            *(Text(cell, faint or style) for cell in (() if alone else of_encoder)),
            Text(note, style or faint),
            *([Text(BUILT_IN[facet.name].compares if facet.name in BUILT_IN else "", "dim")] if alone else []),
        )
    table.add_section()
    if explanation.residual is not None:
        table.add_row("residual", "", "", f"{explanation.residual:.2f}", "", "", "")
    if explanation.similarity is not None:
        table.add_row("sentence", "", "", f"{explanation.similarity:.2f}", "", "", "", style="bold")
    return table


def _number(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.2f}"
