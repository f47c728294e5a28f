"""`facetflow search`: the texts most similar to a given text, optionally in one aspect."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.faults import EmptyText
from flows.console.options import AMONG, ASPECT, DEVICE, ENCODER, JSON, TEXT_COLUMNS, TOP

if TYPE_CHECKING:
    from training.search.texts import SearchedTexts

_SHOWN_LETTERS = 300


def _weights(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for facet in given:
        name, _, weight = facet.partition("=")
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise click.BadParameter(f"{facet!r} has no number after the =") from None
        if not math.isfinite(weights[name]):
            raise click.BadParameter(f"{facet!r} has no finite number after the =")
    return weights


FACETS = click.option(
    "--facet",
    "weights",
    metavar="NAME[=WEIGHT]",
    multiple=True,
    callback=_weights,
    help="Compare by this facet of the encoder, with a weight; may be repeated. Below 0, texts that differ come first.",
)


@click.command()
@click.argument("text")
@FACETS
@ASPECT
@ENCODER
@AMONG
@TEXT_COLUMNS
@TOP
@DEVICE
@JSON
@click.pass_obj
def search(
    project: Path,
    /,
    *,
    text: str,
    weights: dict[str, float],
    aspect: str | None,
    encoder: str | None,
    among: str | None,
    columns: tuple[str, ...],
    k: int,
    device: str,
    as_json: bool,
) -> None:
    """Find the texts most similar to TEXT, optionally in one aspect.

    Searches the texts of the project's newest release, those with labels if there are any, or those of --among. The
    search is exact; the vectors of the searched texts are kept in the project's runs, so that the next search of the
    same texts is fast. A file that `facetflow encode` wrote is searched by the vectors in it.
    """
    from features.sentences import normalise
    from flows.console.searching import Searcher
    from flows.terminal import write_json
    from training.encoders.s3bert.facets import FacetLayout
    from training.search.blocks import best_texts, weighted_scores

    query = normalise(text)
    if not query:
        raise EmptyText("The text to search for is empty: give one in quotes.")
    searcher = Searcher(project, encoder, aspect, device)
    searched = searcher.texts(among, columns)
    vectors, asked = searcher.vectors(searched), searcher.embed_query(query)
    if weights:
        scores = weighted_scores(asked, vectors, FacetLayout.load(searcher.chosen.folder), weights)
    else:
        scores = vectors.cosines(asked)
    best = best_texts(scores, k).items()
    results = [_found(searched, rank, at, similarity) for rank, (at, similarity) in enumerate(best, start=1)]
    if as_json:
        write_json(
            {
                "text": query,
                "encoder": str(searcher.chosen.folder),
                "aspect": aspect,
                "weights": weights,
                "among": {"texts": len(searched), "from": searched.origin},
                "found": results,
            }
        )
        return
    searcher.say_what(searched)
    for row in results:
        text = row["text"] if len(row["text"]) <= _SHOWN_LETTERS else f"{row['text'][:_SHOWN_LETTERS].rstrip()}…"
        click.echo(f"{row['rank']:>3}  {row['similarity']:.3f}  {text}")
        if about := _about(row):
            click.echo(f"            {about}")


def _found(searched: "SearchedTexts", rank: int, position: int, similarity: float) -> dict[str, Any]:
    row: dict[str, Any] = {"rank": rank, "similarity": round(similarity, 6), "text": searched.texts[position]}
    if searched.ids:
        row["id"] = searched.ids[position]
    if searched.labels:
        row["labels"] = searched.labels[position]
    return row


def _about(row: dict[str, Any]) -> str:
    if "id" in row:
        return f"id: {row['id']}"
    return "; ".join(f"{aspect}: {', '.join(labels)}" for aspect, labels in row.get("labels", {}).items())
