"""`facetflow search` and `neighbours`: the texts most similar to a given one, or to each text of a file."""

from pathlib import Path

import click

from features.core.faults import EmptyText, TooFewTexts
from features.core.outputs import STANDARD, TABLE_FORMATS
from features.core.wording import clipped, counted
from flows.console.one_shot import check_table, nothing_half_written, say_written
from flows.console.options import ASPECT, DEVICE, ENCODER, INPUT, JSON, TEXT_COLUMNS, in_utf8, output_options
from flows.terminal import say, write_json


def _weights(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for facet in given:
        name, _, weight = facet.partition("=")
        if name in weights:
            raise click.BadParameter(f"{facet!r} gives {name!r} a second weight")
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise click.BadParameter(f"{facet!r} has no number after the =") from None
        if not abs(weights[name]) < 1e15:  # which NaN is not; a sum of larger ones may be infinite
            raise click.BadParameter(f"{facet!r} has no number between -1e15 and 1e15 after the =")
    return weights


_TOP = click.option("-k", default=10, type=click.IntRange(min=1), help="Number of texts to find.")


@click.command()
@click.argument("text", callback=in_utf8)
@click.option(
    "--facet",
    "weights",
    metavar="NAME[=WEIGHT]",
    multiple=True,
    callback=_weights,
    help="Compare by this facet, with a weight; may be repeated. Below 0, texts that differ come first. The default "
    "encoder then is one with facets.",
)
@ASPECT
@ENCODER
@click.option(
    "--among",
    metavar="FILE|FOLDER|CORPUS",
    help="A file (a table, or one text a line), a folder of these, or a corpus of the project; by default the newest "
    "release's texts with labels or, if none has one, all sentences of its pairs.",
)
@TEXT_COLUMNS
@_TOP
@DEVICE
@JSON
@click.pass_obj
def search(
    project: Path,
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

    The search is exact; the project's runs keep the vectors for the next one. A file that `facetflow encode` wrote, or
    `facets` from one, is searched by the vectors in it.
    """
    from features.sentences import normalise
    from flows.console.searching import Searcher, rows_of
    from training.runs import run_id
    from training.search.blocks import VectorBlocks, best_texts, weighted_scores

    query = normalise(text)
    if not query:
        raise EmptyText("The text to search for is empty: give one in quotes.")
    searcher = Searcher(project, encoder, aspect, device, facets=bool(weights))
    searched = searcher.texts(among, columns)
    vector = searcher.embed_query(query)
    layout = searcher.layout
    if layout is not None:  # wrong weights are refused before texts are encoded
        weighted_scores(vector, VectorBlocks.of(vector), layout, weights)
    vectors = searcher.vectors(searched)
    scores = vectors.cosines(vector) if layout is None else weighted_scores(vector, vectors, layout, weights)
    results = rows_of(searched, best_texts(scores, k))
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
    run, runs = searcher.chosen.folder.parent, searcher.here.runs
    name = run_id(runs, run) if runs is not None and run.is_relative_to(runs) else searcher.chosen.name
    respect = "" if aspect is None else f" in {aspect}"
    say(f"By the encoder {name}{respect}, among {counted(len(searched), 'text')} of {searched.origin}:")
    for row in results:
        click.echo(f"{row['rank']:>3}  {row['similarity']:.3f}  {clipped(row['text'])}")
        labels = "; ".join(f"{name}: {', '.join(each)}" for name, each in row.get("labels", {}).items())
        if about := f"id: {row['id']}" if "id" in row else labels:
            click.echo(f"            {about}")


@click.command()
@click.argument("file", type=INPUT)
@output_options(*TABLE_FORMATS)
@click.option("--among", metavar="FILE|FOLDER|CORPUS", help="What is searched instead of FILE itself.")
@ASPECT
@ENCODER
@TEXT_COLUMNS
@_TOP
@DEVICE
@click.pass_obj
def neighbours(
    project: Path,
    *,
    file: Path,
    output: Path,
    form: str | None,
    among: str | None,
    aspect: str | None,
    encoder: str | None,
    columns: tuple[str, ...],
    k: int,
    device: str,
) -> int:
    """Find the most similar texts for each text of FILE, in FILE or elsewhere, optionally in one aspect.

    FILE is a table or has one text a line. Within FILE, no text is its own neighbour. The output has the columns id,
    text, rank, neighbour_id, neighbour, similarity; an id is that of the column `id`, else the number of the line or
    row, and empty for texts of a corpus.
    """
    import polars as pl

    from features.core.files import write_table
    from flows.console.searching import Searcher
    from training.nearest import cosines_of, find_nearest, unit

    check_table(output, form, file, *([Path(among)] if among else []))
    if file == STANDARD and among == str(STANDARD):
        raise click.UsageError("only one of FILE and --among can be '-': standard input is read once")
    with nothing_half_written():
        searcher = Searcher(project, encoder, aspect, device)
        queries = searcher.texts(str(file), columns)
        searched = queries if among is None else searcher.texts(among, columns)
        if len(searched) == 1 and among is None:
            raise TooFewTexts(f"{queries.origin} has only one text, so it has no neighbour; give more, or --among.")
        query_vectors = unit(searcher.vectors(queries).vectors())
        vectors = query_vectors if among is None else unit(searcher.vectors(searched).vectors())
        cosines = cosines_of(query_vectors, vectors)
        nearest = find_nearest(cosines, queries=len(queries), texts=len(searched), k=k, themselves=among is None)
        each = nearest.positions.shape[1]
        rows = [row for row in range(len(queries)) for _ in range(each)]
        positions = nearest.positions.reshape(-1).tolist()
        ids = searched.ids or tuple("" for _ in searched.texts)
        table = pl.DataFrame(
            {
                "id": [queries.ids[row] for row in rows],
                "text": [queries.texts[row] for row in rows],
                "rank": list(range(1, each + 1)) * len(queries),
                "neighbour_id": [ids[position] for position in positions],
                "neighbour": [searched.texts[position] for position in positions],
                "similarity": nearest.similarities.reshape(-1).clip(-1, 1),  # rounding may leave it
            }
        )
        write_table(table, output, form)
    say_written(
        f"{counted(table.height, 'neighbour')} of {counted(len(queries), 'text')} by {searcher.chosen.name}", output
    )
    return 2 if queries.wrong or searched.wrong else 0
