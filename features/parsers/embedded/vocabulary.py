"""What the parser can predict, and the nodes that it stands for: word labels, roles, concepts with their own vector.

| labels of a word | |
|---|---|
| primary | nothing; inside a name; a name, number or string copied from the text; an edit script; a lexicon entry |
| sense | of the primary concept: 01, 02, …, or none |
| wrapper | further concepts of the word: president → person, have-org-role-91 |

Edit scripts say how a word becomes its lemma, so that lemmas unseen in training can be produced:

    studied → study   drop 3, add "y"   ~3y         boys → boy   ~1

She       is   a   doctor           slot 0 of a word is its primary concept, the slots after it are its wrapper:
~0        -    -   ~0, 01?, (person)      she   doctor   person
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os.path import commonprefix
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from features.core.wording import spelt_number
from features.parsers.embedded.nodes import constant, is_concept, is_constant, is_name, name, split_sense
from features.parsers.embedded.words import Word, number_at

NOTHING, INSIDE, NAME, NUMBER, STRING = "", "<inside>", "<name>", "<number>", "<string>"
SPECIAL_PRIMARIES = (NOTHING, INSIDE, NAME, NUMBER, STRING)
SPECIAL_CONCEPTS = ("<concept>", "<frame>", "<name>", "<constant>")
KINDS = ("primaries", "senses", "wrappers", "roles", "concepts")  # of labels
_MARK = "~"
_MOST_DROPPED = 9
_PRIOR_WEIGHT = 0.5
_FIRST = "01"
_BEGINS_LIKE_A_CONCEPT = re.compile(r"[^\W_]")
_NOT_IN_A_CONCEPT = re.compile(r"[\s()\":/~]")
_NO_NAME = "."  # for a name that consists of quotation marks only


def script_between(word: str, lemma: str) -> str | None:
    """Return the script that turns the word into the lemma; None if more than nine characters have to be dropped.

    >>> script_between("studied", "study")
    '~3y'
    """
    common = len(commonprefix([word, lemma]))  # noqa: RUF071 - no paths
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
    def ids(self) -> dict[str, dict[Any, int]]:
        """Classes of the labels of each kind, which is the name of their field."""
        return {kind: {label: number for number, label in enumerate(getattr(self, kind))} for kind in KINDS}

    def concept_id(self, label: str) -> int:
        """Return the row of a node's label in the table of concept vectors."""
        if label in self.ids["concepts"]:
            return self.ids["concepts"][label]
        if is_name(label):
            return 2
        if is_constant(label):
            return 3
        return 1 if split_sense(label)[1] else 0

    @cached_property
    def lemmas(self) -> set[str]:
        """Every lemma that training or the frame inventory knows."""
        return {*self.seen, *self.frames}

    def sense_of(self, lemma: str, scores: NDArray[np.float32]) -> str:
        """Return the sense of a lemma, given the scores of the senses, (n_senses,); empty for none.

        It is among those seen in training, else those of the frame, else none.
        """
        if choices := self._seen_senses.get(lemma):
            return max((float(scores[column]) + prior, sense) for sense, column, prior in choices)[1]
        best = self.senses[int(scores.argmax())]
        senses = self.frames.get(lemma)
        if senses is None:
            return "" if self.frames or best != _FIRST else best
        if not best or best in senses:
            return best
        candidates = [sense for sense in senses if sense in self.ids["senses"]]
        return max(candidates, key=lambda sense: float(scores[self.ids["senses"][sense]]), default=_FIRST)

    @cached_property
    def _seen_senses(self) -> dict[str, list[tuple[str, int, float]]]:
        """Senses that each lemma was seen with: sense, its column, and the bonus for its frequency."""
        ids = self.ids["senses"]
        return {
            lemma: [
                (sense, ids[sense], _PRIOR_WEIGHT * float(np.log(n))) for sense, n in counts.items() if sense in ids
            ]
            for lemma, counts in self.seen.items()
        }


class Slot(NamedTuple):
    """The place of a node: its word, and 0 for the primary concept or the position in the wrapper from 1."""

    word: int
    place: int


def realise(
    text: str,
    words: Sequence[Word],
    primaries: Sequence[int],
    wrappers: Sequence[int],
    senses: NDArray[np.float32],
    vocabulary: Vocabulary,
) -> tuple[list[Slot], list[str]]:
    """Return slot and label of each node that the labels of a sentence represent, in the order of the words.

    `primaries` and `wrappers` have the classes of each word's labels, `senses` the scores of its senses, (≥ n_words,
    n_senses).
    """
    spellings = [word.text for word in words]
    slots: list[Slot] = []
    nodes: list[str] = []
    for position, (primary, wrapper) in enumerate(zip(primaries, wrappers, strict=True)):
        label = vocabulary.primaries[primary]
        if label not in {NOTHING, INSIDE}:
            slots.append(Slot(position, 0))
            if label == NAME:
                nodes.append(name(_covered(text, words, primaries, position, vocabulary)))
            elif label == NUMBER:
                word = spellings[position]
                nodes.append(constant(number_at(spellings, position) or spelt_number(word) or _quoted(word)))
            elif label == STRING:
                nodes.append(constant(_quoted(spellings[position])))
            else:
                nodes.append(_concept(label, spellings[position], senses[position], vocabulary))
        for place, concept in enumerate(vocabulary.wrappers[wrapper], start=1):
            slots.append(Slot(position, place))
            nodes.append(concept)
    return slots, nodes


def lemma_of(label: str, word: str) -> str:
    """Return the lemma that a script or lexicon entry gives a word."""
    return apply_script(label, word.lower()) if is_script(label) else label


def _concept(label: str, word: str, senses: NDArray[np.float32], vocabulary: Vocabulary) -> str:
    if not is_concept(label):
        return label
    lemma = lemma_of(label, word)
    if not _BEGINS_LIKE_A_CONCEPT.match(lemma) or _NOT_IN_A_CONCEPT.search(lemma):
        lemma = word.lower() if word.isalpha() else "thing"
    sense = vocabulary.sense_of(lemma, senses)
    return f"{lemma}-{sense}" if sense else lemma


def _covered(text: str, words: Sequence[Word], primaries: Sequence[int], first: int, vocabulary: Vocabulary) -> str:
    """Return the text of a name, with single spaces between its parts."""
    inside = vocabulary.ids["primaries"][INSIDE]
    last = first
    while last + 1 < len(words) and primaries[last + 1] == inside:
        last += 1
    return " ".join(_plain(text[words[first].start : words[last].end]).split()) or _NO_NAME


def _quoted(word: str) -> str:
    return f'"{_plain(word)}"'


def _plain(text: str) -> str:
    """Return a text without characters that would end or continue a string in PENMAN."""
    return text.replace('"', "").replace("\\", "")
