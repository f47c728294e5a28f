"""Scores of a parser: micro F1 of Smatch and its parts against gold graphs, by the project's own exact metrics.

Two further scores cover what such parsers are worst at, concepts that no word spells: they compare how often each
occurs in a graph, wherever it is attached.

    frames_91        relations that AMR represents as frames: have-org-role-91, rate-entity-91, ...
    wrapper_frames   other frames that belong to a word that does not name them: the *teach-01* of "professor"
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from features.graphs.batch import GraphBatch
from features.graphs.graph import decode
from features.metrics.label_vectors import LabelVectors
from features.metrics.metric import Comparison, f1
from features.metrics.registry import METRICS
from features.parsers.embedded.nodes import split_sense
from features.parsers.embedded.parser import EmbeddedParser
from features.schemas import LABEL_VECTORS

_WIKI = re.compile(r':wiki\s+("[^"]*"|[^\s()]+)')

COUNTED = tuple(name for name, metric in METRICS.items() if metric.number is f1)
"""The metrics that have precision and recall."""


@dataclass(frozen=True, slots=True)
class MicroScore:
    """One metric over a file.

    Args:
        precision: matched / parsed.
        recall: matched / gold.
        f1: of both.
    """

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class ParserScore:
    """Accuracy and speed of a parser on a file.

    Args:
        sentences: number of sentences in the file.
        seconds: for parsing them, from text to PENMAN.
        metrics: scores by name of the metric, then `frames_91` and `wrapper_frames`.
    """

    sentences: int
    seconds: float
    metrics: dict[str, MicroScore]


def without_wiki(penman: str) -> str:
    """Return a graph without its wiki links, which no parser here predicts."""
    return _WIKI.sub("", penman)


def score_graphs(parsed: Sequence[str], gold: Sequence[str], metrics: Sequence[str] = COUNTED) -> dict[str, MicroScore]:
    """Score graphs against gold graphs, pair by pair, wiki links left out.

    Args:
        parsed: PENMAN.
        gold: as many.
        metrics: names of metrics with precision and recall.
    """
    left = GraphBatch.from_penman([without_wiki(penman) for penman in parsed])
    right = GraphBatch.from_penman([without_wiki(penman) for penman in gold])
    pairs = np.arange(len(left))
    no_vectors = LabelVectors.from_rows(pl.DataFrame(schema=LABEL_VECTORS))  # these metrics use none
    comparison = Comparison(left.followed_by(right), pairs, pairs + len(left), no_vectors)
    scores = {}
    for name in metrics:
        total = METRICS[name].statistics(comparison)[:, :3].sum(0, keepdims=True)
        matched, found, wanted = total[0].tolist()
        scores[name] = MicroScore(matched / max(found, 1), matched / max(wanted, 1), float(f1(total)[0]))
    return scores


def score_parser(
    parser: EmbeddedParser, texts: Sequence[str], gold: Sequence[str], metrics: Sequence[str] = COUNTED
) -> ParserScore:
    """Parse sentences and score the graphs.

    Args:
        parser: the loaded model.
        texts: sentences.
        gold: the graph of each.
        metrics: names of metrics with precision and recall.
    """
    begun = time.perf_counter()
    parsed = parser.parse(texts)
    seconds = time.perf_counter() - begun
    wrappers = {label for wrapper in parser.description.vocabulary.wrappers for label in wrapper}
    further = {
        "frames_91": score_concepts(parsed, gold, lambda concept: split_sense(concept)[1] == "91"),
        "wrapper_frames": score_concepts(
            parsed, gold, lambda concept: concept in wrappers and split_sense(concept)[1] not in {"", "91"}
        ),
    }
    return ParserScore(len(texts), seconds, {**score_graphs(parsed, gold, metrics), **further})


def score_concepts(parsed: Sequence[str], gold: Sequence[str], counted: Callable[[str], bool]) -> MicroScore:
    """Score how often some concepts occur in each graph, whatever their relations.

    Args:
        parsed: PENMAN.
        gold: as many.
        counted: returns whether a concept counts.
    """
    matched = found = wanted = 0
    for ours, theirs in zip(parsed, gold, strict=True):
        left, right = (Counter(filter(counted, decode(penman).concepts)) for penman in (ours, theirs))
        matched += (left & right).total()
        found, wanted = found + left.total(), wanted + right.total()
    return MicroScore(
        matched / max(found, 1), matched / max(wanted, 1), float(f1(np.array([[matched, found, wanted]]))[0])
    )
