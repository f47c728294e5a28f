"""Graphs and label vectors of a release, for explanations: the same numbers as its metrics."""

from dataclasses import asdict

import pytest
from sentences import refused

from features.core.faults import NoRelease
from features.graph_files.sentence_graphs import StoredGraphs, find_graphs
from features.metrics.explanation.pair import explain_graphs
from features.metrics.registry import METRIC_NAMES
from training.data.measured_pairs import MeasuredPairs
from training.evaluation.facets.explanations import choose_pairs, read_drawn, vacuous_in
from training.jobs import Source
from training.writing import write_json

pytestmark = pytest.mark.slow


def test_stored_graphs_explain_the_stored_metrics(built):
    data = MeasuredPairs.from_store(built.folder / "store").select(kinds=("positive",))
    stored = StoredGraphs(built.folder / "store", release=1)
    graphs = stored.find(data.texts)
    assert set(graphs) == set(data.texts)
    pairs = [(graphs[data.texts[a]], graphs[data.texts[b]]) for a, b in zip(data.first, data.second, strict=True)][:20]
    explained = explain_graphs(pairs, stored.vectors([graph for pair in pairs for graph in pair]))
    for pair, row in zip(explained, data.metrics(METRIC_NAMES), strict=False):
        assert [facet.score for facet in pair.facets] == pytest.approx(row.tolist(), abs=1e-6)
    assert stored.find(["Unseen."]) == {}
    assert find_graphs(data.texts[:2], [], built.folder / "store") == (
        {text: graphs[text] for text in data.texts[:2]},
        "the store",
        {},
    )
    with refused(NoRelease):
        StoredGraphs(built.folder / "store", release=9)


def test_what_neither_graph_of_a_pair_has_is_found_in_the_release(built):
    source = Source(store=built.folder / "store", release=1)
    pairs = list(zip(*MeasuredPairs.from_store(source.store).select(kinds=("positive",)).sides(), strict=True))[:50]
    graphs = StoredGraphs(source.store).find([text for pair in pairs for text in pair])
    negated = {text for text, graph in graphs.items() if ":polarity" in {role for _, role, _ in graph.attributes}}
    found = vacuous_in([*pairs, ("Unseen.", pairs[0][0])], source)
    assert list(found) == list(dict.fromkeys(pairs))
    assert {pair for pair in pairs if "negations" not in found[pair]} == {pair for pair in pairs if negated & {*pair}}
    assert vacuous_in(pairs, None) == {}


def test_a_report_draws_the_ends_and_the_middle(built, tmp_path):
    source = Source(store=built.folder / "store", release=1)
    data = MeasuredPairs.from_store(built.folder / "store").select()
    drawn = choose_pairs(data, source)
    scores = [pair.pair.facets[0].score for pair in drawn]
    assert scores == sorted(scores, reverse=True)
    assert [pair.which for pair in drawn] == ["Most similar", "In the middle", "Least similar"]
    assert len({(pair.sentence_a, pair.sentence_b) for pair in drawn}) == 3
    write_json(tmp_path / "graphs.json", [asdict(pair) for pair in drawn])
    assert read_drawn(tmp_path / "graphs.json") == drawn
    assert read_drawn(tmp_path / "none.json") == []
    data.export(tmp_path / "pairs.parquet")
    assert choose_pairs(data, Source(pairs=tmp_path / "pairs.parquet")) == []
