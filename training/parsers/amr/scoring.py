"""Scores of a parser: micro F1 of Smatch and its parts against gold graphs, by the project's own exact metrics.

Two further scores cover what such parsers are worst at, concepts that no word spells: they compare how often each
occurs in a graph, wherever it is attached.

    frames_91        relations that AMR represents as frames: have-org-role-91, rate-entity-91, ...
    wrapper_frames   other frames that belong to a word that does not name them: the *teach-01* of "professor"
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from features.graph_files.scored import score_pairs
from features.graphs.graph import decode
from features.metrics.bootstrap import Bootstrap
from features.metrics.corpus_scores import choose_metrics, share
from features.metrics.metric import f1
from features.parsers.embedded.nodes import split_sense
from features.parsers.embedded.parser import EmbeddedParser


@dataclass(frozen=True, slots=True)
class MicroScore:
    """One metric over a file: matched / parsed, matched / gold, and F1 of both, in [0, 1]."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class ParserScore:
    """Accuracy and speed of a parser on a file."""

    sentences: int  # number of sentences in the file
    seconds: float  # for parsing them, from text to PENMAN
    metrics: dict[str, MicroScore]  # scores by name of the metric, then `frames_91` and `wrapper_frames`


def score_graphs(parsed: Sequence[str], gold: Sequence[str], metrics: Sequence[str] = ()) -> dict[str, MicroScore]:
    """Score graphs (PENMAN) against gold graphs, pair by pair, without wiki links, which no parser here predicts.

    Without names of metrics, by all that have precision and recall.
    """
    left, right = ([decode(penman) for penman in side] for side in (gold, parsed))
    scores = score_pairs(left, right, choose_metrics(metrics), Bootstrap(resamples=0), drop_wiki=True)
    return {one.metric: MicroScore(one.precision.value, one.recall.value, one.f1.value) for one in scores}


def score_parser(parser: EmbeddedParser, texts: Sequence[str], gold: Sequence[str]) -> ParserScore:
    """Parse sentences and score the graphs against those of `gold`."""
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
    return ParserScore(len(texts), seconds, {**score_graphs(parsed, gold), **further})


def score_concepts(parsed: Sequence[str], gold: Sequence[str], counted: Callable[[str], bool]) -> MicroScore:
    """Score how often the concepts that count occur in each graph (PENMAN), whatever their relations."""
    counts = np.zeros((1, 3))
    for pair in zip(gold, parsed, strict=True):
        left, right = (Counter(filter(counted, decode(penman).concepts)) for penman in pair)
        counts += (left & right).total(), left.total(), right.total()
    return MicroScore(*(float(part[0]) for part in (share(counts, 2), share(counts, 1), f1(counts))))
