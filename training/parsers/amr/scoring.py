"""Scores of a parser: micro F1 of Smatch and its parts against gold graphs, by the project's own exact metrics.

Two further metrics cover what such parsers are worst at, concepts that no word spells: they compare how often each
occurs in a graph, wherever it is attached.

    frames_91        relations that AMR represents as frames: have-org-role-91, rate-entity-91, ...
    wrapper_frames   other frames that belong to a word that does not name them: the *teach-01* of "professor"
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from features.graph_files.scored import score_pairs
from features.graphs.graph import AmrGraph, decode
from features.metrics.bootstrap import Bootstrap
from features.metrics.corpus_scores import CorpusScore, choose_metrics
from features.metrics.metric import f1
from features.metrics.own import OwnMetric
from features.parsers.embedded.nodes import split_sense


def score_graphs(
    parsed: Sequence[str], gold: Sequence[str], metrics: Sequence[str] = (), further: Sequence[OwnMetric] = ()
) -> dict[str, CorpusScore]:
    """Score graphs (PENMAN) against gold graphs, pair by pair, without wiki links, which no parser here predicts.

    Without names of metrics, by all that have precision and recall; and by further ones.
    """
    left, right = ([decode(penman) for penman in side] for side in (gold, parsed))
    chosen = choose_metrics(metrics) | {metric.name: metric for metric in further}
    scores = score_pairs(left, right, chosen, Bootstrap(resamples=0), drop_wiki=True)
    return {score.metric: score for score in scores}


def unspelt(wrappers: Collection[str]) -> list[OwnMetric]:
    """Return the two further metrics, given all concepts of words that do not name them."""
    return [
        counting("frames_91", lambda concept: split_sense(concept)[1] == "91"),
        counting("wrapper_frames", lambda concept: concept in wrappers and split_sense(concept)[1] not in {"", "91"}),
    ]


def counting(name: str, counts: Callable[[str], bool]) -> OwnMetric:
    """Return the metric of how often the concepts that count occur in each graph, whatever their relations."""

    def compare(gold: AmrGraph, parsed: AmrGraph) -> tuple[int, int, int]:
        left, right = (Counter(filter(counts, graph.concepts)) for graph in (gold, parsed))
        return (left & right).total(), left.total(), right.total()

    return OwnMetric(name, "How often some concepts occur.", "graphs", compare, number=f1)
