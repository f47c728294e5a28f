"""Evaluation of a tagger on a gold file, with gold predicates and with those that it finds."""

import time
from collections.abc import Sequence
from typing import Any

from features.parsers.srl.conll import AnnotatedSentence
from features.parsers.srl.scoring import Counts, SrlScore
from features.parsers.srl.tagger import SrlTagger


def score_with_gold_predicates(tagger: SrlTagger, sentences: Sequence[AnnotatedSentence]) -> SrlScore:
    """Return the score of a tagger given the gold predicates."""
    return score_with(tagger, sentences, [[frame.predicate for frame in sentence.frames] for sentence in sentences])


def score_with(
    tagger: SrlTagger, sentences: Sequence[AnnotatedSentence], predicates: Sequence[Sequence[int]]
) -> SrlScore:
    """Return the score of a tagger for given predicates.

    Args:
        tagger: the tagger.
        sentences: gold sentences.
        predicates: positions in each sentence.
    """
    score = SrlScore()
    found = tagger.tag([sentence.words for sentence in sentences], predicates)
    for sentence, frames in zip(sentences, found, strict=True):
        score.add(sentence.frames, frames)
    return score


def evaluate(tagger: SrlTagger, sentences: Sequence[AnnotatedSentence]) -> dict[str, Any]:
    """Return the scores that a model card reports.

    Args:
        tagger: the tagger.
        sentences: gold sentences.

    Returns:
        `gold_predicates`: scores of the arguments; `own_predicates` and `predicates`: scores of arguments and
        predicates when the tagger finds the predicates itself, with `sentences_per_second` of CPU time for that, from
        words to frames.
    """
    scores: dict[str, Any] = {"gold_predicates": _rounded(score_with_gold_predicates(tagger, sentences).total)}
    if tagger.finds_predicates:
        started = time.process_time()
        own = score_with(tagger, sentences, tagger.find_predicates([sentence.words for sentence in sentences]))
        seconds = time.process_time() - started
        scores |= {"own_predicates": _rounded(own.total), "predicates": _rounded(own.predicates)}
        scores["sentences_per_second"] = round(len(sentences) / seconds, 1)
    return scores


def _rounded(counts: Counts) -> dict[str, float]:
    return {name: round(getattr(counts, name), 4) for name in ("precision", "recall", "f1")}
