"""Analysis of a set that two encoders scored: its parts with the scores of both, and the pairs that moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.metrics.bootstrap import Bootstrap
from training.differences.moves import Moves, move
from training.differences.parts import LEAST, Part, by_number, by_words, lengths
from training.differences.shared import BothScores, SharedSet


@dataclass(frozen=True, slots=True)
class Depths:
    """The depths of trees by text, the parser's name and version, and, where there is none, why, a sentence."""

    by_text: Mapping[str, int]
    parser: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The positions of the pairs that are shown."""

    towards: list[int]  # those that moved most towards people
    away: list[int]  # those that moved most away from them
    reordered: list[int]  # of the rest with the same words in another order, those that moved most

    @property
    def rows(self) -> list[int]:
        """All of them."""
        return [*self.towards, *self.away, *self.reordered]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A set: scores of both on all pairs and on its parts, by name in the order of the page; and the pairs that moved.

    `notes` say what was not divided, or left out, a sentence each.
    """

    shared: SharedSet
    total: BothScores
    parts: Mapping[str, BothScores]
    moves: Moves
    chosen: Chosen
    notes: Sequence[str]


def choose(shared: SharedSet) -> Chosen:
    """Return the pairs of a set that are shown."""
    moves, words = move(shared), by_words(shared.texts)
    towards, away = moves.towards(), moves.away()
    return Chosen(towards, away, moves.furthest([row for row in words.reordered if row not in {*towards, *away}]))


def analyse(shared: SharedSet, depths: Depths, bootstrap: Bootstrap) -> Analysis:
    """Analyse a set, with the depths of the trees of its sentences."""
    everything = np.arange(len(shared.texts))
    longer = by_number(lengths(shared.texts), "words", everything)
    notes = [] if longer else [f"Not divided by length: that takes two parts of at least {LEAST} pairs."]
    deeper, depth_notes = _by_depth(shared.texts, depths)
    words = by_words(shared.texts)
    notes += depth_notes
    if words.small:
        few = ", ".join(f"{name} ({count})" for name, count in words.small.items())
        notes.append(f"Left out, with fewer than {LEAST} pairs: {few}.")
    if words.equal:
        notes.append(f"By words in common, pairs with the same words in the same order are left out: {words.equal:,}.")
    scores = {part.name: shared.score(part.rows, bootstrap) for part in (*longer, *deeper, *words.parts)}
    return Analysis(shared, shared.score(everything, bootstrap), scores, move(shared), choose(shared), notes)


def _by_depth(texts: Sequence[tuple[str, str]], depths: Depths) -> tuple[list[Part], list[str]]:
    """Return parts by the deeper tree of each pair, and what was not divided or left out."""
    if depths.problem:
        return [], [f"Not divided by tree depth: {depths.problem.rstrip('.')}."]
    rows = [row for row, pair in enumerate(texts) if all(text in depths.by_text for text in pair)]
    deepest = [max(depths.by_text[text] for text in texts[row]) for row in rows]
    parts = by_number(np.array(deepest, dtype=np.int64), "deep", np.array(rows, dtype=np.int64))
    if not parts:
        return [], [f"Not divided by tree depth: that takes two parts of at least {LEAST} pairs."]
    if not (lacking := len(texts) - len(rows)):
        return parts, []
    return parts, [f"By depth, pairs with a sentence that is too long or has no word are left out: {lacking:,}."]
