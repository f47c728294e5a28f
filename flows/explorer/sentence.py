"""The view of one sentence: its graph, its dependency tree and its semantic roles, of a release or parsed."""

import polars as pl

from features.metrics.items import items_of
from features.sentences import normalise, sentence_id
from features.stages.amr import AMR_STAGE
from features.stages.dependencies import DEPENDENCY_STAGE
from features.stages.srl import SRL_STAGE
from features.store.releases import Release
from features.store.store import Store
from flows.explorer.views import Answer, Parameter, Query, View
from training.differences.views import draw_tree
from training.prediction_page import draw_spans
from training.span_weights import ExplainedArgument, ExplainedFrame, ExplainedSentence


class SentenceView(View):
    """One sentence."""

    name = "sentence"
    title = "Sentence"
    gives = "its graph, its dependency tree and its semantic roles, as far as the release has them"
    parameters = (
        Parameter("text", "the sentence"),
        Parameter("release", "number of a release; the newest by default", "integer"),
    )
    listed = False

    def answer(self, query: Query) -> Answer | None:
        """Look up what a release has of the sentence; its graph is parsed where it has none."""
        if not (text := normalise(query.text("text"))):
            return None
        store, releases = self.session.releases()
        numbered = {str(each.number): each for each in releases}
        release = numbered.get(query.choice("release", numbered, next(reversed(numbered), "")))
        tables = (AMR_STAGE.name, DEPENDENCY_STAGE.name, SRL_STAGE.name)
        rows = {table: _row(store, release, table, text) for table in tables}
        graph, origin = self.session.background.result_of(
            ("graph", text, release and release.number),
            lambda _: _graph(rows[AMR_STAGE.name], text),
            "Parsing the sentence",
            patience=query.patience,
        )
        return Answer(
            {
                "release": release,
                "graph": graph,
                "origin": origin,
                "tree": None if (tree := rows[DEPENDENCY_STAGE.name]) is None else _tree(tree),
                "roles": None if (roles := rows[SRL_STAGE.name]) is None else _roles(roles, text),
            },
            {"text": text, "release": release and release.number}
            | {table: None if row is None else row.to_dicts()[0] for table, row in rows.items()},
        )


def _row(store: Store | None, release: Release | None, table: str, text: str) -> pl.DataFrame | None:
    """Return the row that a release has of a sentence in a table; None without one."""
    if store is None or release is None or table not in release.versions:
        return None
    rows = store.read(table, release.versions[table], where=pl.col("sentence_id") == sentence_id(text))
    return None if rows.is_empty() else rows.head(1)


def _graph(row: pl.DataFrame | None, text: str) -> tuple[str, str]:
    """Return a drawing of the graph, empty without one, and where the graph comes from."""
    from features.graph_files.sentence_graphs import find_graphs
    from features.metrics.explanation.drawing import draw_sides
    from features.metrics.explanation.pair import GraphPair

    graphs, origin, reasons = find_graphs([text], (), None) if row is None else ({}, "the release", {})
    graph = graphs.get(text) if row is None else next(iter(items_of("graphs", row).values()))
    if graph is None:
        return "", reasons.get(text, origin)
    return draw_sides(GraphPair(graph, graph, (), proven=True, facets=()), (text, text))[0], origin


def _tree(row: pl.DataFrame) -> str:
    (tree,) = items_of(DEPENDENCY_STAGE.name, row).values()
    return draw_tree(tree.tokens, tree.heads, tree.relations)


def _roles(row: pl.DataFrame, text: str) -> str:
    (roles,) = items_of(SRL_STAGE.name, row).values()
    frames = []
    for frame in roles.frames:
        spans = [(span.label, tuple(range(span.start, span.end))) for span in frame.spans]
        arguments = tuple(ExplainedArgument(label, words, None) for label, words in spans if label != "V")
        frames.append(ExplainedFrame((frame.predicate,), arguments))
    sentence = ExplainedSentence(tuple(roles.words), (None,) * len(roles.words), tuple(frames))
    return draw_spans(text, sentence) if frames else ""
