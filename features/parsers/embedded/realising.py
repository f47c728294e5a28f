"""From the labels of words to the nodes of a graph.

She       is   a   doctor           slot 0 of a word is its primary concept, the slots after it are its wrapper:
~0        -    -   ~0, 01?, (person)      she   doctor   person
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from features.core.wording import spelt_number
from features.parsers.embedded.nodes import constant, is_concept, name
from features.parsers.embedded.vocabulary import (
    INSIDE,
    NAME,
    NOTHING,
    NUMBER,
    STRING,
    Vocabulary,
    apply_script,
    is_script,
)
from features.parsers.embedded.words import Word, number_at

_BEGINS_LIKE_A_CONCEPT = re.compile(r"[^\W_]")
_NOT_IN_A_CONCEPT = re.compile(r"[\s()\":/~]")
_NO_NAME = "."  # for a name that consists of quotation marks only


class Slot(NamedTuple):
    """The place of a node: its word, and 0 for the primary concept or the position in the wrapper from 1."""

    word: int
    place: int


SenseOf = Callable[[int, str], str]  # maps the position of a word and its lemma to the sense; empty for none


def realise(
    text: str,
    words: Sequence[Word],
    primaries: Sequence[int],
    wrappers: Sequence[int],
    sense_of: SenseOf,
    vocabulary: Vocabulary,
) -> tuple[list[Slot], list[str]]:
    """Return slot and label of each node that the labels of a sentence represent, in the order of the words.

    `primaries` and `wrappers` have the classes of each word's labels; `sense_of` maps a word and its lemma to a sense.
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
                nodes.append(_concept(label, spellings[position], position, sense_of))
        for place, concept in enumerate(vocabulary.wrappers[wrapper], start=1):
            slots.append(Slot(position, place))
            nodes.append(concept)
    return slots, nodes


def lemma_of(label: str, word: str) -> str:
    """Return the lemma that a script or lexicon entry gives a word."""
    return apply_script(label, word.lower()) if is_script(label) else label


def _concept(label: str, word: str, position: int, sense_of: SenseOf) -> str:
    if not is_concept(label):
        return label
    lemma = lemma_of(label, word)
    if not _BEGINS_LIKE_A_CONCEPT.match(lemma) or _NOT_IN_A_CONCEPT.search(lemma):
        lemma = word.lower() if word.isalpha() else "thing"
    sense = sense_of(position, lemma)
    return f"{lemma}-{sense}" if sense else lemma


def _covered(text: str, words: Sequence[Word], primaries: Sequence[int], first: int, vocabulary: Vocabulary) -> str:
    """Return the text of a name, with single spaces between its parts."""
    inside = vocabulary.primary_ids[INSIDE]
    last = first
    while last + 1 < len(words) and primaries[last + 1] == inside:
        last += 1
    return " ".join(_plain(text[words[first].start : words[last].end]).split()) or _NO_NAME


def _quoted(word: str) -> str:
    return f'"{_plain(word)}"'


def _plain(text: str) -> str:
    """Return a text without characters that would end or continue a string in PENMAN."""
    return text.replace('"', "").replace("\\", "")
