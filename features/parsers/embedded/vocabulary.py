"""What the parser can predict: word labels, roles, and the concepts that have their own vector.

| labels of a word | |
|---|---|
| primary | nothing; inside a name; a name, number or string copied from the text; an edit script; a lexicon entry |
| sense | of the primary concept: 01, 02, …, or none |
| wrapper | further concepts of the word: president → person, have-org-role-91 |

Edit scripts say how a word becomes its lemma, so that lemmas unseen in training can be produced:

    studied → study   drop 3, add "y"   ~3y         boys → boy   ~1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.nodes import is_constant, is_name, split_sense

NOTHING, INSIDE, NAME, NUMBER, STRING = "", "<inside>", "<name>", "<number>", "<string>"
SPECIAL_PRIMARIES = (NOTHING, INSIDE, NAME, NUMBER, STRING)
SPECIAL_CONCEPTS = ("<concept>", "<frame>", "<name>", "<constant>")
_MARK = "~"
_MOST_DROPPED = 9
_PRIOR_WEIGHT = 0.5
_FIRST = "01"


def script_between(word: str, lemma: str) -> str | None:
    """Return the script that turns the word into the lemma; None if more than nine characters have to be dropped.

    >>> script_between("studied", "study")
    '~3y'
    """
    pairs = enumerate(zip(word, lemma, strict=False))
    common = next((n for n, (x, y) in pairs if x != y), min(len(word), len(lemma)))
    dropped = len(word) - common
    return f"{_MARK}{dropped}{lemma[common:]}" if dropped <= _MOST_DROPPED else None


def is_script(label: str) -> bool:
    """Return whether the label is an edit script."""
    return label.startswith(_MARK)


def dropped(script: str) -> int:
    """Return how many characters the script drops."""
    return int(script[1])


def apply_script(script: str, word: str) -> str:
    """Return the lemma that the script makes from the word.

    >>> apply_script("~3y", "carried")
    'carry'
    """
    return word[: max(0, len(word) - dropped(script))] + script[2:]


@dataclass(frozen=True)
class Vocabulary:
    """Labels; their positions are the classes of the network's heads."""

    # primary labels: the special ones first, then edit scripts and lexicon entries (lemmas, constants, names)
    primaries: Sequence[str]
    senses: Sequence[str]  # senses; "" first
    wrappers: Sequence[tuple[str, ...]]  # tuples of concepts; the empty one first
    roles: Sequence[str]  # roles without colon
    concepts: Sequence[str]  # concepts that have their own vector; first the special ones, which stand for all others
    seen: Mapping[str, Mapping[str, int]]  # how often each lemma was seen with each sense
    # the senses of lemmas in a frame inventory; empty if none was given
    frames: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def primary_ids(self) -> dict[str, int]:
        """Class of each primary label."""
        return {label: position for position, label in enumerate(self.primaries)}

    @cached_property
    def sense_ids(self) -> dict[str, int]:
        """Class of each sense."""
        return {sense: position for position, sense in enumerate(self.senses)}

    @cached_property
    def wrapper_ids(self) -> dict[tuple[str, ...], int]:
        """Class of each wrapper."""
        return {wrapper: position for position, wrapper in enumerate(self.wrappers)}

    @cached_property
    def role_ids(self) -> dict[str, int]:
        """Class of each role."""
        return {role: position for position, role in enumerate(self.roles)}

    @cached_property
    def _concept_ids(self) -> dict[str, int]:
        return {concept: position for position, concept in enumerate(self.concepts)}

    def concept_id(self, label: str) -> int:
        """Return the row of a node's label in the table of concept vectors."""
        if label in self._concept_ids:
            return self._concept_ids[label]
        if is_name(label):
            return 2
        if is_constant(label):
            return 3
        return 1 if split_sense(label)[1] else 0


class SenseChooser:
    """Chooses senses by the network's scores: among those seen in training, else those of the frame, else none."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._open = {lemma: self._among_seen(lemma) for lemma in vocabulary.seen}

    @cached_property
    def lemmas(self) -> set[str]:
        """Every lemma that training or the frame inventory knows."""
        return {*self._vocabulary.seen, *self._vocabulary.frames}

    def choose(self, lemma: str, scores: NDArray[np.float32]) -> str:
        """Return the sense of a lemma, given the scores of the senses, (n_senses,); empty for none."""
        choices = self._open.get(lemma)
        if choices:
            if len(choices) == 1:
                return choices[0][0]
            return max((float(scores[column]) + prior, sense) for sense, column, prior in choices)[1]
        best = self._vocabulary.senses[int(scores.argmax())]
        senses = self._vocabulary.frames.get(lemma)
        if senses is None:
            return "" if self._vocabulary.frames or best != _FIRST else best
        if not best or best in senses:
            return best
        candidates = [sense for sense in senses if sense in self._vocabulary.sense_ids]
        return max(candidates, key=lambda sense: float(scores[self._vocabulary.sense_ids[sense]]), default=_FIRST)

    def _among_seen(self, lemma: str) -> list[tuple[str, int, float]]:
        """Return the senses that a lemma was seen with: sense, its column, and the bonus for its frequency."""
        ids = self._vocabulary.sense_ids
        counts = self._vocabulary.seen[lemma]
        return [
            (sense, ids[sense], _PRIOR_WEIGHT * float(np.log(count))) for sense, count in counts.items() if sense in ids
        ]
