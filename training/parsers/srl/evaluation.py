"""How good a tagger is on a gold file, with gold predicates and with its own."""

import time
from collections.abc import Sequence
from typing import Any

from features.parsers.srl.conll import AnnotatedSentence
from features.parsers.srl.scoring import Counts, SrlScore
from features.parsers.srl.tagger import SrlTagger


def score_with_gold_predicates(tagger: SrlTagger, sentences: Sequence[AnnotatedSentence]) -> SrlScore:
    """Return the score of a tagger that is told where the predicates are."""
    words = [sentence.words for sentence in sentences]
    found = tagger.tag(words, [[frame.predicate for frame in sentence.frames] for sentence in sentences])
    score = SrlScore()
    for sentence, frames in zip(sentences, found, strict=True):
        score.add(sentence.frames, frames)
    return score


def score_with_own_predicates(tagger: SrlTagger, sentences: Sequence[AnnotatedSentence]) -> SrlScore:
    """Return the score of a tagger that finds the predicates itself."""
    words = [sentence.words for sentence in sentences]
    score = SrlScore()
    for sentence, frames in zip(sentences, tagger.tag(words, tagger.find_predicates(words)), strict=True):
        score.add(sentence.frames, frames)
    return score


def evaluate(tagger: SrlTagger, sentences: Sequence[AnnotatedSentence]) -> dict[str, Any]:
    """Return the scores that a model card reports.

    Args:
        tagger: the tagger.
        sentences: gold.

    Returns:
        `gold_predicates`: of the arguments; `own_predicates` and `predicates`: of arguments and predicates where the
        tagger finds them itself; `sentences_per_second` for that, words to frames.
    """
    scores = {"gold_predicates": _rounded(score_with_gold_predicates(tagger, sentences).total)}
    if tagger.finds_predicates:
        started = time.perf_counter()
        own = score_with_own_predicates(tagger, sentences)
        seconds = time.perf_counter() - started
        scores |= {"own_predicates": _rounded(own.total), "predicates": _rounded(own.predicates)}
        return {**scores, "sentences_per_second": round(len(sentences) / seconds, 1)}
    return dict(scores)


def _rounded(counts: Counts) -> dict[str, float]:
    return {
        "precision": round(counts.precision, 4),
        "recall": round(counts.recall, 4),
        "f1": round(counts.f1, 4),
    }
