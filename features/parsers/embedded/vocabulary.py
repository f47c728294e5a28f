"""What the parser can predict: word labels, roles, and the concepts that have their own vector.

| labels of a word | |
|---|---|
| primary | nothing; inside a name; a name, number or string copied from the text; an edit script; a lexicon entry |
| sense | of the primary concept: 01, 02, …, or none |
| wrapper | further concepts of the word: president → person, have-org-role-91 |
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Self

from features.parsers.embedded.nodes import is_constant, is_name, split_sense

NOTHING, INSIDE, NAME, NUMBER, STRING = "", "<inside>", "<name>", "<number>", "<string>"
SPECIAL_PRIMARIES = (NOTHING, INSIDE, NAME, NUMBER, STRING)
SPECIAL_CONCEPTS = ("<concept>", "<frame>", "<name>", "<constant>")


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
        known = self._concept_ids.get(label)
        if known is not None:
            return known
        if is_name(label):
            return 2
        if is_constant(label):
            return 3
        return 1 if split_sense(label)[1] else 0

    def to_json(self) -> dict[str, Any]:
        """Return the vocabulary as plain lists and dicts."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the vocabulary that `to_json` gave."""
        return cls(**{**data, "wrappers": [tuple(wrapper) for wrapper in data["wrappers"]]})
