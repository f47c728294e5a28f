"""`facetflow explain` and `explore`: what two sentences have in common, in a terminal, and with more in a browser."""

import os
import webbrowser
from pathlib import Path
from threading import Thread
from typing import Any

import click

from features.core.outputs import STANDARD, shown, write_text
from features.core.wording import counted
from flows.console.one_shot import check_page, name_wrong, say_written
from flows.console.options import FILE, INPUT, encoder_option, in_utf8, page_option
from flows.terminal import Verbosity, say, verbosity, warn, write_json


@click.command()
@click.argument("sentences", nargs=-1, callback=in_utf8)
@encoder_option(
    ", of the project's with facets, the only current one (runs/NAME/current), else the newest, else the one in the "
    "package"
)
@click.option(
    "--pairs",
    "table",
    type=INPUT,
    help="A table of pairs (- is standard input), with columns as in a corpus of the project, sentence_a and "
    "sentence_b, or as in a known dataset.",
)
@click.option(
    "--graphs",
    multiple=True,
    type=FILE,
    help="PENMAN file with the graphs, found by ::snt; may be repeated. By default the store, else a parser.",
)
@click.option("--no-graphs", is_flag=True, help="Show only what the encoder predicts: faster.")
@click.option(
    "--words",
    "shared",
    metavar="FACET",
    help="Show how words share a facet's similarity, or with `sentence` that of the whole.",
)
@page_option(", with the graphs drawn")
@click.option(
    "--json", "as_json", is_flag=True, help="Write JSON, one line a pair; with --graphs, including what matches."
)
@click.pass_obj
def explain(
    project: Path,
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

    Scores are measured on their graphs; beside them is what an encoder with facets predicts without graphs. A wrong row
    of --pairs keeps its place without an explanation (exit code 2).
    """
    from features.corpora.pair_tables import PairCells, read_pair_rows
    from flows.console.explaining import Explainer
    from flows.console.explanation_table import print_explanations
    from flows.console.here import Here

    if no_graphs and graphs:
        raise click.UsageError("--no-graphs and --graphs contradict each other; leave one of them out")
    check_page(html, *([table] if table else []), *graphs, as_json=as_json)
    here = Here.read(project)
    if len(sentences) != (2 if table is None else 0):
        example = 'facetflow explain "two cats look" "a cat looks"'
        raise click.UsageError(f"give two sentences in quotes, as in: {example}; or a table with --pairs")
    advice = "call the two sentence_a and sentence_b"
    rows = [PairCells(1, *sentences)] if table is None else read_pair_rows(table, (), here.corpora, warn, advice)
    pairs = [(row.text_a or "", row.text_b or "") for row in rows if not row.problem]
    explainer = Explainer(here, encoder)
    if explainer.folder is None and (no_graphs or shared is not None):
        raise click.UsageError(
            f"{'--no-graphs' if no_graphs else '--words'} needs an encoder with facets, and none is here: `facetflow "
            "models pull` gets one, or name one with --encoder"
        )
    if shared is not None and html is not None and not as_json:
        warn("Note: a page does not show how the words share a similarity; --json writes it, too.")
    if explainer.layout is not None and explainer.layout.lacks:
        warn(f"Note: {explainer.layout.lacks}.")
    explained = explainer.explain(pairs, graphs, measure=not no_graphs, facet=shared)
    explanations, facts = [each.explanation for each in explained], explainer.facts
    compared = {n: each.graphs for n, each in enumerate(explained) if each.graphs is not None}
    if html is not None:
        from training.evaluation.facets.explanations import render_explanations

        origin = next((explained[n].origin for n in compared), explained[0].origin if explained else "")
        write_text(html, [render_explanations(explanations, compared, facts, origin, project=here.name)])
        say_written(counted(len(explanations), "explained pair"), html)
    if as_json:
        each_explained = iter(explained)
        for row in rows:
            line: dict[str, Any] = {} if table is None else {"line": row.line}
            if row.problem:
                line |= {"sentence_a": row.text_a, "sentence_b": row.text_b, "problem": row.problem}
            else:
                line |= next(each_explained).as_json(facts, graphs=bool(graphs))
            write_json(line, indent=None)
    elif html is None and explained:
        print_explanations(explained, facts, unfold=verbosity() >= Verbosity.VERBOSE)
    wrong = [row for row in rows if row.problem]
    name_wrong([f"{shown(table or STANDARD, 'standard input')}, line {row.line}: {row.problem}." for row in wrong])
    return 2 if wrong or (explainer.folder is None and len(compared) < len(explanations)) else 0


@click.command()
@encoder_option(" as for `explain`")
@click.option("--texts", metavar="FILE|FOLDER|CORPUS", help="Texts to search where the page names none.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the server.  [default: any free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address, and open nothing.")
@click.pass_obj
def explore(project: Path, *, encoder: str | None, texts: str | None, port: int | None, no_browser: bool) -> None:
    """Open pages that explain pairs and search texts, and show the project's tables and trainings.

    Only the browser that opens the printed address is served. Without a project the pages use the encoder in the
    package. Ctrl-C ends it.
    """
    from flows.console.explaining import Explainer
    from flows.console.here import Here
    from flows.explorer.server import Explorer
    from flows.explorer.session import Session

    here = Here.read(project)
    session = Session(here, Explainer(here, encoder), texts or "")
    explorer = Explorer(session, port or 0)
    click.echo(explorer.address)
    say("Open this address in a browser of this machine; Ctrl-C ends the explorer.")
    session.load()
    if not no_browser:
        # A browser in a terminal ends before `open` returns, and would wait for the server meanwhile.
        Thread(target=webbrowser.open, args=(explorer.address,), daemon=True).start()
    try:
        explorer.run()
    except (KeyboardInterrupt, SystemExit) as ended:
        say("The explorer has ended.")
        # The end of the interpreter would wait for a model that is computing in its thread.
        os._exit(int(ended.code or 0) if isinstance(ended, SystemExit) else 0)
