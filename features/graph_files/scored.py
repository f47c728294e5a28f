"""Evaluation of a parser: parsed graphs scored against gold graphs, from files or decoded.

Without a project or a store: `facetflow score GOLD.amr PARSED.amr` for notebooks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from features.core.errors import RowError
from features.core.faults import GraphUnusable, MetricWrong, NotParallel
from features.core.files import source_name
from features.graph_files.paired import BY_POSITION, faults_of, read_both, require_parallel
from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph
from features.graphs.penman_files import PenmanBlock
from features.metrics.arrays import Statistics
from features.metrics.bootstrap import Bootstrap
from features.metrics.corpus_scores import AnyMetric, CorpusScore, choose_metrics, score_corpus
from features.metrics.metric import Comparison, Metric
from features.metrics.own import OwnMetric

_BATCH = 8192  # pairs measured at once; memory does not grow with the number of pairs


@dataclass(frozen=True, slots=True)
class ScoredFiles:
    """Scores of a file of graphs."""

    scores: list[CorpusScore]  # one for each metric
    # what is wrong with a graph, one sentence each. A wrong parsed graph counts as one without triples; the pair of a
    # wrong gold graph is left out.
    wrong: tuple[str, ...]


def score_files(
    gold: Path,
    parsed: Path,
    metrics: Sequence[str] = (),
    bootstrap: Bootstrap | None = None,
    *,
    drop_wiki: bool = False,
    by_position: bool = False,
    own: Sequence[OwnMetric] = (),
) -> ScoredFiles:
    """Score the graphs of a parser against gold graphs.

    Graphs are paired by their `# ::id` if every graph has one, else by their position in the files; two graphs at one
    position whose ids differ are refused. `metrics` are names; when empty, all that have precision and recall.
    `drop_wiki` leaves `:wiki` out on both sides, for parsers that do not link entities. Of `own` metrics, those that
    read graphs and return (matched, left, right) are used.

    Raises:
        InputError: a file cannot be read, no gold graph can, graphs cannot be paired, or an own metric fails.
        SettingsError: a metric has no precision and recall.
    """
    chosen = choose_metrics(metrics, own)
    expected, parses = sides = read_both(gold, parsed)
    order, pairing = _partners((gold, parsed), sides, by_position=by_position)
    wrong = faults_of((*expected, *parses))
    graphs = [block.graph for block in expected]
    if not any(graphs):
        raise GraphUnusable(f"no graph of {source_name(gold)} can be read: {wrong[0]}")
    context = {"pairing": pairing}
    scores = score_pairs(
        graphs, [parses[index].graph for index in order], chosen, bootstrap, drop_wiki=drop_wiki, context=context
    )
    return ScoredFiles(scores, wrong)


def score_pairs(
    gold: Sequence[AmrGraph | None],
    parsed: Sequence[AmrGraph | None],
    metrics: Mapping[str, AnyMetric],
    bootstrap: Bootstrap | None = None,
    *,
    drop_wiki: bool = False,
    context: Mapping[str, str] | None = None,
) -> list[CorpusScore]:
    """Score parsed graphs against gold graphs, pair by pair, as `score_files` does.

    The pair of a missing gold graph is left out; a missing parsed graph counts as one without triples. The context is
    what else the numbers depend on, for the signatures.
    """
    clean = _without_wiki if drop_wiki else lambda graph: graph
    pairs = [
        (number, clean(wanted), None if parse is None else clean(parse))
        for number, (wanted, parse) in enumerate(zip(gold, parsed, strict=True), start=1)
        if wanted is not None
    ]
    batches = [_statistics(pairs[start : start + _BATCH], metrics) for start in range(0, len(pairs) or 1, _BATCH)]
    statistics = {name: np.concatenate([batch[name] for batch in batches]) for name in metrics}
    context = {**(context or {}), "wiki": "dropped" if drop_wiki else "kept"}
    return score_corpus(metrics, statistics, bootstrap or Bootstrap(), context)


_Pair = tuple[int, AmrGraph, AmrGraph | None]  # number of the gold graph, gold, parsed


def _statistics(pairs: Sequence[_Pair], metrics: Mapping[str, AnyMetric]) -> dict[str, Statistics]:
    # A missing graph is replaced by the gold graph, for its size; then nothing counts as parsed or matched.
    both = [(gold, gold if parsed is None else parsed) for _, gold, parsed in pairs]
    first = np.arange(len(pairs))
    graphs = GraphBatch.of([gold for gold, _ in both] + [parsed for _, parsed in both])
    comparison = Comparison(graphs, first, first + len(pairs))
    numbers = [number for number, _, _ in pairs]
    statistics = {
        name: metric.statistics(comparison) if isinstance(metric, Metric) else _counts(metric, numbers, both)
        for name, metric in metrics.items()
    }
    missing = np.array([parsed is None for _, _, parsed in pairs], bool)
    for values in statistics.values():
        values[missing, 0] = 0
        values[missing, 2:] = 0  # the parsed graph's triples, and the bound on the matched ones
    return statistics


def _counts(metric: OwnMetric, numbers: Sequence[int], pairs: Sequence[tuple[AmrGraph, AmrGraph]]) -> Statistics:
    counts = []
    for number, (gold, parsed) in zip(numbers, pairs, strict=True):
        try:
            row = metric.counts(gold, parsed)
        except RowError as error:
            raise GraphUnusable(f"pair {number}: {error.message}") from error
        if len(row) != 3:
            raise MetricWrong(
                f"pair {number}: metric {metric.name!r} of {metric.file!r} returned {row.tolist()!r}; F1 needs "
                "three counts: matched, left, right"
            )
        counts.append(row)
    return np.stack(counts)


def _without_wiki(graph: AmrGraph) -> AmrGraph:
    return replace(graph, attributes=[attribute for attribute in graph.attributes if attribute[1].lower() != "wiki"])


def _partners(
    files: tuple[Path, Path], sides: Sequence[Sequence[PenmanBlock]], *, by_position: bool
) -> tuple[list[int], str]:
    """Return the position of the parsed graph of each gold graph, and how they were found."""
    paths = [source_name(file) for file in files]
    ids = [[block.metadata.get("id", "") for block in blocks] for blocks in sides]
    complete = all(all(names) for names in ids)
    if by_position or not complete or ids[0] == ids[1]:
        why = "" if by_position else ", and not all have a `# ::id` to find their partners by"
        require_parallel(files, sides, by_position=by_position, why=why)
        return list(range(len(sides[0]))), "id" if complete and ids[0] == ids[1] else "position"
    otherwise = f", or {BY_POSITION}" if len(ids[0]) == len(ids[1]) else ""
    for path, names in zip(paths, ids, strict=True):
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise NotParallel(
                f"id {name!r} occurs {times} times in {path}, so that its partner is not clear; make ids unique"
                f"{otherwise}"
            )
    positions = {name: position for position, name in enumerate(ids[1])}
    for path, other, lost in (
        (paths[1], paths[0], [name for name in ids[0] if name not in positions]),
        (paths[0], paths[1], sorted(positions.keys() - set(ids[0]))),
    ):
        if lost:
            more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            raise NotParallel(
                f"{path} has no graph with the id {lost[0]!r}{more} of {other}; give the same ids on both sides"
                f"{otherwise}"
            )
    return [positions[name] for name in ids[0]], "id"
