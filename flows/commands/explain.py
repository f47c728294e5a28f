"""`facetflow explain`: in which facets two sentences agree and differ."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from features.metrics.explanation.pair import GraphPair
    from training.explain import Explanation

_LEGEND = """\
similarity  of the facet (cosine)
metric      the value that the facet predicts for its AMR metric
standing    share of dev pairs that agree less in the facet"""


@click.command()
@click.argument("sentences", nargs=-1)
@click.option(
    "--model",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of an encoder; by default the one that was trained last in the project's runs.",
)
@click.option(
    "--pairs",
    "table",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A table (TSV, CSV, JSONL, Parquet) with the columns sentence_a and sentence_b, instead of two sentences.",
)
@click.option(
    "--graphs",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PENMAN file with the graphs, found by ::snt; may be repeated. Without it the store is asked, then a parser.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page that opens offline, with graphs drawn.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one line a pair; with --graphs, what matches too.")
@click.pass_obj
def explain(
    project: Path,
    /,
    *,
    sentences: tuple[str, ...],
    model: Path | None,
    table: Path | None,
    graphs: tuple[Path, ...],
    html: Path | None,
    as_json: bool,
) -> None:
    """Say how similar two SENTENCES are, and in which facets they agree and differ."""
    import json
    from dataclasses import asdict

    from flows.project import load
    from training.explain import explain as explain_pairs
    from training.jobs import latest_encoder, write_text

    pairs = _pairs(sentences, table)
    folder = model if model is not None else latest_encoder(load(project).runs)
    explanations = explain_pairs(folder, pairs)
    found, origin = _explain_graphs(project, explanations, graphs) if graphs or html is not None else ({}, "")
    if html is not None:
        from training.explanation_page import render_explanations

        write_text(html, render_explanations(explanations, found, folder.parent.name, origin))
        click.echo(f"Wrote {html} ({origin}).", err=True)
    for position, explanation in enumerate(explanations):
        if as_json:
            pair = {"graphs": asdict(found[position])} if position in found else {}
            click.echo(json.dumps(asdict(explanation) | pair, ensure_ascii=False, allow_nan=False))
        elif html is None:
            _print(explanation)


def _explain_graphs(
    project: Path, explanations: "Sequence[Explanation]", files: Sequence[Path]
) -> "tuple[dict[int, GraphPair], str]":
    """Return position → what matches in the graphs of a pair, and where these are from."""
    from features.metrics.explanation.pair import explain_graphs
    from features.sentence_graphs import find_graphs, label_vectors, pairs_with_graphs
    from flows.project import load

    texts = [(explanation.sentence_a, explanation.sentence_b) for explanation in explanations]
    settings = load(project) if project.exists() else None
    distinct = list(dict.fromkeys(text for pair in texts for text in pair))
    found, origin = find_graphs(distinct, files, settings.store if settings is not None else None)
    pairs = pairs_with_graphs(texts, found)
    vectors = label_vectors(found.values(), settings.label_vectors if settings is not None else None)
    return dict(zip(pairs, explain_graphs(list(pairs.values()), vectors), strict=True)), origin


def _pairs(sentences: Sequence[str], table: Path | None) -> list[tuple[str, str]]:
    if table is not None and not sentences:
        from features.files import read_table

        return list(read_table(table, ("sentence_a", "sentence_b")).iter_rows())
    if table is None and len(sentences) == 2:
        return [(sentences[0], sentences[1])]
    raise click.UsageError('give two sentences in quotes, as in: facetflow explain "two cats look" "a cat looks"')


def _print(explanation: "Explanation") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text.assemble(("a  ", "dim"), explanation.sentence_a))
    console.print(Text.assemble(("b  ", "dim"), explanation.sentence_b))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("facet", no_wrap=True)
    for title in ("similarity", "metric", "standing"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    styles = {"highest": "green", "lowest": "red", "": ""}
    for facet in explanation.facets:
        standing = "–" if facet.standing is None else f"{100 * facet.standing:.0f} %"
        table.add_row(
            facet.name,
            f"{facet.similarity:.2f}",
            f"{facet.prediction:.2f}",
            standing,
            facet.mark,
            style=styles[facet.mark],
        )
    table.add_section()
    if explanation.residual is not None:
        table.add_row("residual", f"{explanation.residual:.2f}", "", "", "")
    table.add_row("sentence", f"{explanation.similarity:.2f}", "", "", "", style="bold")
    console.print(table)
    console.print(Text(_LEGEND, style="dim"))
