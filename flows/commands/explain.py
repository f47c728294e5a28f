"""`facetflow explain`: in which facets two sentences agree and differ."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
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
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one line a pair.")
@click.pass_obj
def explain(
    project: Path, /, *, sentences: tuple[str, ...], model: Path | None, table: Path | None, as_json: bool
) -> None:
    """Say how similar two SENTENCES are, and in which facets they agree and differ."""
    import json
    from dataclasses import asdict

    from flows.project import load
    from training.explain import explain as explain_pairs
    from training.jobs import latest_encoder

    pairs = _pairs(sentences, table)
    folder = model if model is not None else latest_encoder(load(project).runs)
    for explanation in explain_pairs(folder, pairs):
        if as_json:
            click.echo(json.dumps(asdict(explanation), ensure_ascii=False, allow_nan=False))
        else:
            _print(explanation)


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
