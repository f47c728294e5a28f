"""`facetflow search`: the texts most similar to a given text, optionally in one aspect."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.faults import EmptyText
from flows.console.options import AMONG, ASPECT, DEVICE, ENCODER, JSON, TEXT_COLUMNS, TOP

if TYPE_CHECKING:
    from training.search.texts import SearchedTexts

_SHOWN_LETTERS = 300


@click.command()
@click.argument("text")
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
    same texts is fast.
    """
    from features.sentences import normalise
    from flows.console.searching import Searcher
    from flows.terminal import write_json
    from training.nearest import cosines_of, find_nearest

    query = normalise(text)
    if not query:
        raise EmptyText("The text to search for is empty: give one in quotes.")
    searcher = Searcher(project, encoder, aspect, device)
    searched = searcher.texts(among, columns)
    vectors = searcher.embed(searched.texts)
    similarities = cosines_of(searcher.embed_query(query), vectors)
    nearest = find_nearest(similarities, queries=1, texts=len(searched), k=k)
    results = [
        _found(searched, rank, position, similarity)
        for rank, (position, similarity) in enumerate(
            zip(nearest.positions[0].tolist(), nearest.similarities[0].tolist(), strict=True), start=1
        )
    ]
    if as_json:
        write_json(
            {
                "text": query,
                "encoder": str(searcher.chosen.folder),
                "aspect": aspect,
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
