"""A dependency tree that can be written down again after an edit, and the forms of verbs.

tokens   The   dog  chased  two  cats  .       as parsed, each with the blank that follows it
pieces   "The " "dog " "chased " "two " "cats" "."     joined, they are the sentence
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from features.parsers.dependencies import DependencyTree

_OWN_CAPITAL = ("NNP", "NNPS")
PRONOUNS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
"""Subject pronouns that have another form as objects."""
_SUBJECTS = {object_: subject for subject, object_ in PRONOUNS.items()}

Span = tuple[int, int]


@dataclass(frozen=True)
class Tree(DependencyTree):
    """One sentence of the stage `dependencies`; labels of relations are those of spaCy's English pipelines."""

    text: str  # the sentence

    @classmethod
    def of(cls, text: str, row: Mapping[str, Any]) -> "Tree":
        """Return the tree of a row of `DEPENDENCIES`."""
        return cls(text=text, **{field.name: row[field.name] for field in fields(DependencyTree)})

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """Each token with the blanks that follow it."""
        ends = [*self.starts[1:], len(self.text)]
        return tuple(self.text[start:end] for start, end in zip(self.starts, ends, strict=True))

    @cached_property
    def root(self) -> int:
        """The position of the first root."""
        return next(position for position, head in enumerate(self.heads) if head == position)

    @cached_property
    def _children(self) -> tuple[list[int], ...]:
        children: tuple[list[int], ...] = tuple([] for _ in self.tokens)
        for position, head in enumerate(self.heads):
            if head != position:
                children[head].append(position)
        return children

    def children(self, head: int, *relations: str) -> list[int]:
        """Return the positions of a token's dependents in some relations, in order."""
        return [child for child in self._children[head] if self.relations[child] in relations]

    def child(self, head: int, relation: str) -> int | None:
        """Return the only dependent of a token in a relation; None if there is none, or more than one."""
        children = self.children(head, relation)
        return children[0] if len(children) == 1 else None

    def span(self, head: int) -> Span | None:
        """Return the first position of a phrase and the one after its last; None if the phrase has a gap."""
        inside, waiting = [head], [head]
        while waiting:
            children = self._children[waiting.pop()]
            inside += children
            waiting += children
        start, end = min(inside), max(inside) + 1
        return (start, end) if end - start == len(inside) else None

    def phrase(self, span: Span, *, case: str = "") -> str:
        """Return the words of a span as they are written inside a sentence.

        A pronoun is put into the `case` `subject` or `object`, if one is given.
        """
        start, end = span
        first = self.pieces[start]
        acronym = first.isupper() and first.strip() != "A"  # T cells; or I
        opens = not re.search(r"\w", "".join(self.tokens[:start]))  # the sentence; perhaps after a quotation mark
        if opens and self.tags[start] not in _OWN_CAPITAL and not acronym:
            first = first[:1].lower() + first[1:]
        words = "".join((first, *self.pieces[start + 1 : end])).strip()
        forms = {"subject": _SUBJECTS, "object": PRONOUNS}.get(case, {})
        other = forms.get(words.lower(), words)
        return "I" if other == "i" else other

    def infinitive(self, verb: int) -> str:
        """Return the lemma of a verb: that of a dictionary, unless the parser's is inflected so (riding: not rid)."""
        from lemminflect import getInflection, getLemma

        word, lemma = self.tokens[verb].lower(), self.lemmas[verb]
        known = word in getInflection(lemma, self.tags[verb])
        return lemma if known else str((*getLemma(word, upos="VERB"), lemma)[0])

    def tag(self, verb: int) -> str:
        """Return the tag of a verb, that of the past where the parser calls a form of the past alone a present: bit."""
        tag, lemma = self.tags[verb], self.infinitive(verb)
        is_past = verb_form(lemma, tag) != self.tokens[verb].lower() == verb_form(lemma, "VBD")
        return "VBD" if tag in ("VBP", "VBZ") and is_past else tag

    def plural(self, head: int) -> bool:
        """Return whether a noun or pronoun takes a verb in the plural."""
        word = self.tokens[head].lower()
        return (
            self.tags[head] in ("NNS", "NNPS")
            or word in ("we", "they", "us", "them", "you", "i", "me", "these", "those", "police")
            or bool(self.children(head, "conj"))
        )

    def written(self, pieces: Iterable[str]) -> str:
        """Return a sentence of pieces: single blanks, and a capital and a full stop where the given one has them."""
        words = " ".join("".join(pieces).split())
        if self.text.endswith("."):
            words = re.sub(r"(?<!\.)\.{0,2}$", ".", words)  # that of the U.S., too
        words = re.sub(r" ?,(?= ?[.!?]?$)", "", words)  # by Ann, the nurse,.
        if self.text.isupper():
            return words.upper()
        small = next(filter(str.isalnum, self.text), "").islower()
        return words if small else re.sub(r"[^\W_]", lambda first: first[0].upper(), words, count=1)


def verb_form(lemma: str, tag: str) -> str:
    """Return the first form of a verb that dictionaries list; that of an unknown verb follows the rules of spelling.

    Args:
        lemma: the verb.
        tag: VB (infinitive), VBP or VBZ (present), VBD (past), VBN (past participle) or VBG (gerund).
    """
    from lemminflect import getInflection

    return lemma if tag in ("VB", "VBP") else str(getInflection(lemma, tag)[0])
