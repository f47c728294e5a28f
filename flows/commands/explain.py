"""`facetflow explain`: in which facets two sentences agree and differ."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.counting import counted
from flows.console.one_shot import check_page, say_written, warn_of_languages
from flows.terminal import Verbosity, verbosity, warn, write_json

if TYPE_CHECKING:
    from features.metrics.explanation.pair import GraphPair
    from training.encoders.s3bert.encoder_facts import EncoderFacts
    from training.encoders.s3bert.explain import Explanation


@click.command()
@click.argument("sentences", nargs=-1)
@click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    help="An encoder of the project or one of its runs, or a folder; by default, of the project's encoders with "
    "facets, the current one (runs/NAME/current) if there is exactly one, else the newest.",
)
@click.option(
    "--pairs",
    "table",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="A table (TSV, CSV, JSONL, Parquet) instead of two sentences; - is standard input. Its columns are those of a "
    "corpus of the project, sentence_a and sentence_b, or those of a known dataset.",
)
@click.option(
    "--graphs",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PENMAN file with the graphs, found by ::snt; may be repeated. Without it, graphs come from the store, else "
    "from a parser.",
)
@click.option("--no-graphs", is_flag=True, help="Skip the metrics: faster, and only the encoder's view is shown.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page with drawings of the graphs that opens offline; - is standard output.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Write JSON, one line a pair; with --graphs, including what matches."
)
@click.pass_obj
def explain(
    project: Path,
    /,
    *,
    sentences: tuple[str, ...],
    encoder: str | None,
    table: Path | None,
    graphs: tuple[Path, ...],
    no_graphs: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Show how similar two SENTENCES are, and in which facets they agree and differ.

    Scores measured on their graphs are shown next to what the encoder predicts without them.
    """
    from dataclasses import asdict

    from features.outputs import write_text
    from flows.console.explanation_table import print_explanations
    from flows.project import load
    from training.encoders.s3bert.encoder_facts import encoder_facts
    from training.encoders.s3bert.explain import explain as explain_pairs
    from training.encoders.s3bert.explain import with_graphs
    from training.encoders.s3bert.facets import FacetLayout

    if no_graphs and graphs:
        raise click.UsageError("--no-graphs and --graphs contradict each other; leave one of them out")
    check_page(html, *([table] if table else []), *graphs, as_json=as_json)
    pairs = _pairs(sentences, table, project)
    warn_of_languages(text for pair in pairs for text in pair)
    folder = _encoder_in_use(project, encoder)
    if lacks := FacetLayout.load(folder).lacks:
        warn(f"Note: {lacks}.")
    explanations = explain_pairs(folder, pairs)
    found, origin = ({}, "not asked for") if no_graphs else _explain_graphs(project, explanations, graphs)
    explanations = [with_graphs(e, found[n]) if n in found else e for n, e in enumerate(explanations)]
    facts = encoder_facts(folder)
    if html is not None:
        from training.evaluation.facets.explanation_page import render_explanations

        owner = load(project).name if project.exists() else ""
        write_text(html, [render_explanations(explanations, found, facts, origin, project=owner)])
        say_written(counted(len(explanations), "explained pair"), html)
    origins = [_graphs_of(found.get(n), origin, no_graphs=no_graphs) for n in range(len(explanations))]
    if as_json:
        for position, explanation in enumerate(explanations):
            pair = found.get(position)
            line = _as_json(explanation, facts, origins[position])
            write_json(line | ({"graphs": asdict(pair)} if pair is not None and graphs else {}), indent=None)
    elif html is None:
        print_explanations(explanations, facts, origins, unfold=verbosity() >= Verbosity.VERBOSE)


def _encoder_in_use(project: Path, name: str | None) -> Path:
    """Return a named encoder, or the one in use of the project's encoders with facets."""
    from features.errors import ModelError
    from flows.console.gone_runs import warn_of_gone
    from flows.console.kept_runs import keep
    from flows.project import load
    from training.encoders.s3bert.facets import FILE_NAME
    from training.evaluation.promotion import encoder_in_use, encoder_in_use_with
    from training.search.choosing import named_encoder

    settings = load(project) if name is None or project.exists() else None
    runs = None if settings is None else settings.runs
    names = [] if settings is None else [each.name for each in settings.encoders]
    if name is not None or runs is None:
        folder = named_encoder(runs, str(name), among=names)
    else:
        with_facets = encoder_in_use_with(runs, lambda found: (found / FILE_NAME).is_file(), names)
        folder = with_facets or encoder_in_use(runs, among=names)
    keep(folder)
    warn_of_gone(runs, name, folder, names)
    if not (folder / FILE_NAME).is_file():
        raise ModelError(
            f"The encoder {str(folder)!r} has no facets ({FILE_NAME}): name one of kind s3bert with --encoder, or "
            "train one. Encoders of kind pas are explained by `facetflow predict --explain`."
        )
    return folder


def _as_json(explanation: "Explanation", encoder: "EncoderFacts", graphs: str) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(explanation) | {"equal": explanation.equal, "encoder": asdict(encoder), "graphs_from": graphs}


def _graphs_of(pair: "GraphPair | None", origin: str, *, no_graphs: bool) -> str:
    """Return where the graphs of a pair come from, or why it has none."""
    if pair is not None or no_graphs:
        return origin
    return f"this pair has none ({origin}), so nothing is measured"


def _explain_graphs(
    project: Path, explanations: "Sequence[Explanation]", files: Sequence[Path]
) -> "tuple[dict[int, GraphPair], str]":
    """Return position → what matches in the graphs of a pair, and where the graphs come from."""
    from features.graph_files.sentence_graphs import find_graphs, label_vectors, pairs_with_graphs
    from features.metrics.explanation.pair import explain_graphs
    from flows.project import load

    texts = [(explanation.sentence_a, explanation.sentence_b) for explanation in explanations]
    settings = load(project) if project.exists() else None
    distinct = list(dict.fromkeys(text for pair in texts for text in pair))
    found, origin = find_graphs(distinct, files, settings.store if settings is not None else None)
    pairs = pairs_with_graphs(texts, found)
    vectors = label_vectors(found.values(), settings.label_vectors if settings is not None else None)
    return dict(zip(pairs, explain_graphs(list(pairs.values()), vectors), strict=True)), origin


def _pairs(sentences: Sequence[str], table: Path | None, project: Path) -> list[tuple[str, str]]:
    if table is not None and not sentences:
        from features.corpora.pair_tables import read_pair_table
        from flows.project import load

        return read_pair_table(table, load(project).corpora if project.exists() else (), warn)
    if table is None and len(sentences) == 2:
        return [(sentences[0], sentences[1])]
    raise click.UsageError(
        'give two sentences in quotes, as in: facetflow explain "two cats look" "a cat looks"; or a table with --pairs'
    )
