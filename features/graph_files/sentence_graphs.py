"""The graphs of a few sentences, from any source: files, the store, or a parser.

For explanations, which name what matches; the stages of a build obtain graphs in their own way.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from features.core.errors import ModelError, StoreError
from features.core.types import OnRows, ignore_rows
from features.graphs.graph import AmrGraph
from features.graphs.penman_files import read_blocks
from features.metrics.explanation.pair import GraphPair, explain_graphs
from features.metrics.items import items_of
from features.metrics.label_vectors import LabelVectors, words_of
from features.parsers.settings import AmrSettings, LabelVectorSettings
from features.schemas import SENTENCES
from features.sentences import sentence_id
from features.stages.amr import AMR_STAGE, parse_amr
from features.stages.label_vectors import LABEL_VECTOR_STAGE
from features.store.locations import Location

Graphs = dict[str, AmrGraph]  # Text → graph, for texts that have one
Reasons = dict[str, str]  # Text → why it has none, where its parser says so


def graphs_in_files(texts: Sequence[str], files: Iterable[Path]) -> Graphs:
    """Return the graphs whose `# ::snt` is one of the texts; the first of several."""
    wanted = {sentence_id(text): text for text in texts}
    graphs: Graphs = {}
    for block in (block for file in files for block in read_blocks(file)):
        text = wanted.get(sentence_id(block.metadata.get("snt", "")))
        if text is not None and block.graph is not None:
            graphs.setdefault(text, block.graph)
    return graphs


class StoredGraphs:
    """The graphs of a release, by default the latest, and the vectors of their labels."""

    def __init__(self, root: Location, release: int | None = None) -> None:
        from features.store.store import Store

        self._store = Store.open(root)
        self._versions = self._store.release(release).versions

    def find(self, texts: Sequence[str]) -> Graphs:
        """Return the graphs of those texts that have one; none when the release has no graphs."""
        rows = self._rows(AMR_STAGE.name, "sentence_id", [sentence_id(text) for text in texts])
        return {} if rows is None else _graphs_of(texts, rows)

    def vectors(self, graphs: Iterable[AmrGraph]) -> LabelVectors | None:
        """Return the vectors of the words in the labels of some graphs; None when the release has none."""
        rows = self._rows(LABEL_VECTOR_STAGE.name, "label", words_of(_labels(graphs)))
        return None if rows is None or rows.is_empty() else LabelVectors.from_rows(rows)

    def _rows(self, table: str, key: str, ids: Sequence[str]) -> pl.DataFrame | None:
        if table not in self._versions:
            return None
        wanted = pl.col(key).is_in(pl.Series(ids, dtype=pl.String).implode())
        return self._store.read(table, self._versions[table], where=wanted)


def parsed_graphs(texts: Sequence[str], on_rows: OnRows = ignore_rows) -> tuple[Graphs, Reasons]:
    """Return graphs made by the embedded parser, or why not; a ModelError if it is not on this machine."""
    from features.parsers.amr import load

    parser = load(AmrSettings(backend="embedded"))
    sentences = pl.DataFrame({"sentence_id": map(sentence_id, texts), "text": texts}, schema=SENTENCES)
    made = parse_amr(sentences, parser, on_rows)
    rejected = sentences.join(made.rejects, left_on="sentence_id", right_on="entity_id")
    return _graphs_of(texts, made.rows), dict(rejected.select("text", "message").iter_rows())


def _graphs_of(texts: Iterable[str], rows: pl.DataFrame) -> Graphs:
    graphs = items_of("graphs", rows)
    return {text: graphs[identity] for text in texts if (identity := sentence_id(text)) in graphs}


def label_vectors(graphs: Iterable[AmrGraph], settings: LabelVectorSettings | None = None) -> LabelVectors | None:
    """Compute vectors of the words in the labels of some graphs; None when the model is not on this machine."""
    from features.parsers.label_vectors import load

    try:
        source = load(settings or LabelVectorSettings(), light=True)
    except ModelError:
        return None
    return LabelVectors(*source.look_up(words_of(_labels(graphs))))


def find_graphs(texts: Sequence[str], files: Sequence[Path], store: Location | None) -> tuple[Graphs, str, Reasons]:
    """Return graphs from files if any are given, else from a store, else from a parser; their source, what it lacks.

    The store need not exist. An InputError says which file cannot be read.
    """
    if files:
        return graphs_in_files(texts, files), ", ".join(file.name for file in files), {}
    if store is not None:
        try:
            graphs = StoredGraphs(store).find(texts)
        except StoreError:
            graphs = {}
        if all(text in graphs for text in texts):
            return graphs, "the store", {}
    try:
        graphs, reasons = parsed_graphs(texts)
    except ModelError as error:
        why = str(error).rstrip(".")
        stored = "" if store is None else ", the store has none,"
        return {}, f"no graph file was given{stored} and the parser does not run: {why}", {}
    return graphs, "the embedded parser", reasons


def _labels(graphs: Iterable[AmrGraph]) -> set[str]:
    return {name for graph in graphs for name in (*graph.concepts, *(value for _, _, value in graph.attributes))}


def measured_pairs(
    texts: Sequence[tuple[str, str]],
    files: Sequence[Path] = (),
    store: Location | None = None,
    settings: LabelVectorSettings | None = None,
) -> list[tuple[GraphPair | None, str]]:
    """Return what matches in the graphs of each pair of sentences, None without them, and where they come from."""
    graphs, origin, reasons = find_graphs(list(dict.fromkeys(text for pair in texts for text in pair)), files, store)
    pairs = {n: (graphs[a], graphs[b]) for n, (a, b) in enumerate(texts) if a in graphs and b in graphs}
    explained = explain_graphs(list(pairs.values()), label_vectors(graphs.values(), settings))
    graph_pairs = dict(zip(pairs, explained, strict=True))
    lacking = [next((reasons[text] for text in pair if text in reasons), origin) for pair in texts]
    none = [(None, f"this pair has none ({why}), so nothing is measured") for why in lacking]
    return [(graph_pairs[n], origin) if n in graph_pairs else none[n] for n in range(len(texts))]
