"""`facetflow explain`: what two sentences have in common, measured and, where there is an encoder, predicted."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.faults import CannotExplain
from features.core.wording import counted
from flows.console.one_shot import check_page, name_wrong, say_written
from flows.console.options import page_option
from flows.terminal import Verbosity, verbosity, warn, write_json

if TYPE_CHECKING:
    from features.corpora.pair_tables import PairCells
    from features.metrics.explanation.pair import GraphPair
    from flows.console.here import Here
    from training.attribution import Attribution
    from training.encoders.s3bert.explain import Explanation


@click.command()
@click.argument("sentences", nargs=-1)
@click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    help="An encoder of the project or one of its runs, or a folder; by default, of the project's encoders with "
    "facets, the current one (runs/NAME/current) if there is exactly one, else the newest; where there is none, the "
    "encoder that comes with facetflow.",
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
    "--words",
    "shared",
    metavar="FACET",
    help="Show how the words of both sentences share a facet's similarity, or with `sentence` that of the whole.",
)
@page_option(", with the graphs drawn")
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
    shared: str | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Show what two SENTENCES have in common, and in which facets they agree and differ.

    Scores are measured on their graphs, in any folder and without training. Where there is an encoder with facets, what
    it predicts without the graphs is shown next to them. A row of --pairs that is wrong or lacks a sentence keeps its
    place without an explanation; it is named on stderr, and the exit code is 2.
    """
    from dataclasses import asdict

    from features.core.outputs import STANDARD, shown, write_text
    from flows.console.explanation_table import print_explanations
    from flows.console.here import Here
    from training.encoders.s3bert.explain import encoder_facts, with_graphs, without_encoder

    if no_graphs and graphs:
        raise click.UsageError("--no-graphs and --graphs contradict each other; leave one of them out")
    check_page(html, *([table] if table else []), *graphs, as_json=as_json)
    here = Here.read(project)
    rows = _rows(sentences, table, here)
    pairs = [(row.text_a or "", row.text_b or "") for row in rows if not row.problem]
    folder = _encoder_in_use(here, encoder)
    if folder is None and no_graphs:
        raise click.UsageError(
            "--no-graphs shows the encoder alone, but no encoder with facets is here: name one with --encoder, or "
            "leave the option out"
        )
    if folder is None and shared is not None:
        raise click.UsageError("--words needs an encoder with facets, and none is here: name one with --encoder")
    explanations, shares = (without_encoder(pairs), []) if folder is None else _predict(folder, pairs, shared)
    compared, origin = ({}, "not asked for") if no_graphs else _explain_graphs(here, explanations, graphs)
    explanations = [with_graphs(e, compared[n]) if n in compared else e for n, e in enumerate(explanations)]
    facts = None if folder is None else encoder_facts(folder)
    if html is not None:
        from training.evaluation.facets.explanations import render_explanations

        write_text(html, [render_explanations(explanations, compared, facts, origin, project=here.name)])
        say_written(counted(len(explanations), "explained pair"), html)
    lacking = f"this pair has none ({origin}), so nothing is measured"
    origins = [origin if n in compared or no_graphs else lacking for n in range(len(explanations))]
    if as_json:
        explained = iter(enumerate(explanations))
        for row in rows:
            line: dict[str, Any] = {} if table is None else {"line": row.line}
            if row.problem:
                line |= {"sentence_a": row.text_a, "sentence_b": row.text_b, "problem": row.problem}
            else:
                position, explanation = next(explained)
                about = None if facts is None else asdict(facts)
                line |= asdict(explanation) | {"equal": explanation.equal, "encoder": about}
                line |= {"graphs_from": origins[position]}
                line |= {"graphs": asdict(compared[position])} if position in compared and graphs else {}
                line |= {"shares": shares[position].as_json()} if shares else {}
            write_json(line, indent=None)
    elif html is None:
        print_explanations(explanations, facts, origins, shares=shares, unfold=verbosity() >= Verbosity.VERBOSE)
    wrong = [row for row in rows if row.problem]
    name_wrong([f"{shown(table or STANDARD, 'standard input')}, line {row.line}: {row.problem}." for row in wrong])
    return 2 if wrong or (folder is None and len(compared) < len(explanations)) else 0


def _predict(
    folder: Path, pairs: Sequence[tuple[str, str]], shared: str | None
) -> "tuple[list[Explanation], list[Attribution]]":
    """Return what an encoder says of pairs, and how their words share a similarity, if that was asked for."""
    from training.attribution import attribute
    from training.encoders.loading import load_encoder
    from training.encoders.s3bert.explain import explain_with
    from training.encoders.s3bert.facets import FacetLayout

    layout, model = FacetLayout.load(folder), load_encoder(folder)
    if layout.lacks:
        warn(f"Note: {layout.lacks}.")
    shares = [] if shared is None else [attribute(model, layout, a, b, shared) for a, b in pairs]
    return explain_with(model, layout, pairs), shares


def _encoder_in_use(here: "Here", name: str | None) -> Path | None:
    """Return a named encoder, else the one in use of the project's encoders with facets, else the bundled one."""
    from features.models import bundled_encoder
    from training.encoders.s3bert.facets import FILE_NAME
    from training.evaluation.promotion import encoder_in_use_with
    from training.search.choosing import named_encoder

    runs, names = here.runs, here.encoders
    if name is not None:
        folder = named_encoder(runs, name, among=names)
    elif runs is None or (used := encoder_in_use_with(runs, lambda at: (at / FILE_NAME).is_file(), names)) is None:
        return bundled_encoder()
    else:
        folder = used
    here.use(folder, name)
    if not (folder / FILE_NAME).is_file():
        raise CannotExplain(
            f"The encoder {str(folder)!r} has no facets ({FILE_NAME}): name one of kind s3bert with --encoder, or "
            "train one. Encoders of kind pas are explained by `facetflow predict --explain`."
        )
    return folder


def _explain_graphs(
    here: "Here", explanations: "Sequence[Explanation]", files: Sequence[Path]
) -> "tuple[dict[int, GraphPair], str]":
    """Return position → what matches in the graphs of a pair, and where the graphs come from."""
    from features.graph_files.sentence_graphs import find_graphs, label_vectors, pairs_with_graphs
    from features.metrics.explanation.pair import explain_graphs
    from features.stages.label_vectors import LABEL_VECTOR_STAGE

    texts = [(explanation.sentence_a, explanation.sentence_b) for explanation in explanations]
    distinct = list(dict.fromkeys(text for pair in texts for text in pair))
    graphs, origin = find_graphs(distinct, files, here.store)
    pairs = pairs_with_graphs(texts, graphs)
    settings = None if here.project is None else here.project.section(LABEL_VECTOR_STAGE)
    vectors = label_vectors(graphs.values(), settings)
    return dict(zip(pairs, explain_graphs(list(pairs.values()), vectors), strict=True)), origin


def _rows(sentences: Sequence[str], table: Path | None, here: "Here") -> "list[PairCells]":
    from features.corpora.pair_tables import PairCells, read_pair_rows

    if table is not None and not sentences:
        return read_pair_rows(table, (), here.corpora, warn, "call the two sentence_a and sentence_b")
    if table is None and len(sentences) == 2:
        return [PairCells(1, *sentences)]
    raise click.UsageError(
        'give two sentences in quotes, as in: facetflow explain "two cats look" "a cat looks"; or a table with --pairs'
    )
