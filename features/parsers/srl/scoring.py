"""Scores of frames, counted as in the CoNLL-2005 shared task (`srl-eval.pl`).

An argument is correct if its role and all its words are. A continuation (`C-ARG1`) belongs to the preceding argument of
the same role, so both are one argument of two pieces; one that continues nothing is an argument of its own. The
predicate (`V`, with its continuations) does not count. References (`R-ARG0`) are roles like any other.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from features.parsers.srl.frames import PREDICATE, AnnotatedSentence, Frame, Span
from features.parsers.srl.tagger import SrlTagger

_CONTINUES = "C-"

Argument = tuple[str, tuple[tuple[int, int], ...]]  # role, and start and end of its pieces


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of predicted and gold items; counts of several sentences add up."""

    correct: int = 0  # predicted items that are correct
    predicted: int = 0  # predicted items
    gold: int = 0  # gold items

    def __add__(self, other: Self) -> "Counts":
        return Counts(self.correct + other.correct, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def precision(self) -> float:
        """Share of predicted items that are correct, in [0, 1]; 0 if there are none."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of gold items that were predicted, in [0, 1]; 0 if there are none."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in [0, 1]."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0


@dataclass
class SrlScore:
    """Scores of a tagger on a corpus."""

    roles: dict[str, Counts] = field(default_factory=dict)  # counts of each role
    predicates: Counts = Counts()  # counts of the predicates' positions

    @property
    def total(self) -> Counts:
        """Counts of all arguments."""
        return sum(self.roles.values(), Counts())

    def add(self, gold: Sequence[Frame], predicted: Sequence[Frame]) -> None:
        """Count one sentence; frames are compared by their predicates, several of one predicate in order."""
        guesses = {key: arguments(frame.spans) for key, frame in _numbered(predicted)}
        right = {key: arguments(frame.spans) for key, frame in _numbered(gold)}
        both = sum(key in guesses for key in right)
        self.predicates += Counts(both, len(guesses), len(right))
        for key in right.keys() | guesses.keys():
            ours, theirs = guesses.get(key, set()), right.get(key, set())
            for role in {role for role, _ in ours | theirs}:
                one, other = ({argument for argument in side if argument[0] == role} for side in (ours, theirs))
                self.roles[role] = self.roles.get(role, Counts()) + Counts(len(one & other), len(one), len(other))


def arguments(spans: Iterable[Span]) -> set[Argument]:
    """Return the arguments of a frame: spans joined with their continuations, without the predicate.

    >>> arguments([Span("ARG1", 0, 2), Span("V", 2, 3), Span("C-ARG1", 3, 5)])
    {('ARG1', ((0, 2), (3, 5)))}
    """
    joined: list[tuple[str, list[tuple[int, int]]]] = []
    for label, start, end in sorted(spans, key=lambda span: span.start):
        role = label.removeprefix(_CONTINUES)
        earlier = next((pieces for name, pieces in reversed(joined) if name == role), None)
        if label.startswith(_CONTINUES) and earlier is not None:
            earlier.append((start, end))
        else:
            joined.append((role, [(start, end)]))
    return {(role, tuple(pieces)) for role, pieces in joined if role != PREDICATE}


def _numbered(frames: Iterable[Frame]) -> Iterable[tuple[tuple[int, int], Frame]]:
    """Yield each frame with its predicate and the number of preceding frames of that predicate."""
    seen: Counter[int] = Counter()
    for frame in frames:
        yield (frame.predicate, seen[frame.predicate]), frame
        seen[frame.predicate] += 1


def score_with(
    tagger: SrlTagger, sentences: Sequence[AnnotatedSentence], predicates: Sequence[Sequence[int]] | None = None
) -> SrlScore:
    """Return the score of a tagger on gold sentences, given the positions of predicates, by default the gold ones."""
    if predicates is None:
        predicates = [[frame.predicate for frame in sentence.frames] for sentence in sentences]
    score = SrlScore()
    tagged = tagger.tag([sentence.words for sentence in sentences], predicates)
    for sentence, frames in zip(sentences, tagged, strict=True):
        score.add(sentence.frames, frames)
    return score


def evaluate(tagger: SrlTagger, sentences: Sequence[AnnotatedSentence]) -> dict[str, Any]:
    """Return the scores that a model card reports.

    `gold_predicates`: of the arguments, given the gold predicates; `own_predicates` and `predicates`: of arguments and
    predicates when the tagger finds the predicates itself, with `sentences_per_second` of CPU time for that.
    """
    scores: dict[str, Any] = {"gold_predicates": _rounded(score_with(tagger, sentences).total)}
    if tagger.finds_predicates:
        started = time.process_time()
        own = score_with(tagger, sentences, tagger.find_predicates([sentence.words for sentence in sentences]))
        seconds = time.process_time() - started
        scores |= {"own_predicates": _rounded(own.total), "predicates": _rounded(own.predicates)}
        scores["sentences_per_second"] = round(len(sentences) / seconds, 1)
    return scores


def _rounded(counts: Counts) -> dict[str, float]:
    return {name: round(getattr(counts, name), 4) for name in ("precision", "recall", "f1")}
