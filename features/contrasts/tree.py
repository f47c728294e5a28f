"""A dependency tree that can be written down again after an edit, and the forms that verbs take in a set of trees.

tokens   The   dog  chased  two  cats  .       as parsed, each with the blank that follows it
pieces   "The " "dog " "chased " "two " "cats" "."     joined, they are the sentence
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_OWN_CAPITAL = ("NNP", "NNPS")
PRONOUNS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
"""Subject pronouns that have another form as objects."""
_SUBJECTS = {object_: subject for subject, object_ in PRONOUNS.items()}

Span = tuple[int, int]


@dataclass(frozen=True)
class Tree:
    """One sentence of the stage `dependencies`; labels of relations are those of spaCy's English pipelines."""

    text: str  # the sentence
    tokens: Sequence[str]  # the tokens as written, all further tuples have one item for each
    lemmas: Sequence[str]  # their lemmas
    tags: Sequence[str]  # their fine-grained parts of speech (Penn Treebank)
    starts: Sequence[int]  # positions of their first characters in `text`
    heads: Sequence[int]  # positions of their heads; a root is its own head
    relations: Sequence[str]  # their relations to their heads

    @classmethod
    def of(cls, text: str, row: Mapping[str, Any]) -> "Tree":
        """Return the tree of a row of `DEPENDENCIES`."""
        return cls(text, *(row[name] for name in ("tokens", "lemmas", "tags", "starts", "heads", "relations")))

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

    def child(self, head: int, *relations: str) -> int | None:
        """Return the only dependent of a token in some relations; None if there is none, or more than one."""
        children = self.children(head, *relations)
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

        Args:
            span: which words.
            case: `subject` or `object` puts a pronoun into that case.
        """
        start, end = span
        first = self.pieces[start]
        acronym = first.isupper() and len(first.strip()) > 1
        if start == 0 and self.tags[0] not in _OWN_CAPITAL and first.strip() != "I" and not acronym:
            first = first[:1].lower() + first[1:]
        words = "".join((first, *self.pieces[start + 1 : end])).strip()
        forms = {"subject": _SUBJECTS, "object": PRONOUNS}.get(case, {})
        other = forms.get(words.lower(), words)
        return "I" if other == "i" else other

    def plural(self, head: int) -> bool:
        """Return whether a noun or pronoun takes a verb in the plural."""
        word = self.tokens[head].lower()
        return (
            self.tags[head] in ("NNS", "NNPS")
            or word in ("we", "they", "us", "them", "you", "i", "me", "these", "those")
            or bool(self.children(head, "conj"))
        )

    def written(self, pieces: Iterable[str]) -> str:
        """Return a sentence of pieces: single blanks, and a capital where the given one has one."""
        words = " ".join("".join(pieces).split())
        return words[:1].upper() + words[1:] if self.text[:1].isupper() else words


class VerbForms:
    """The forms of verbs as the trees show them: the most frequent one of each lemma and tag.

    Regular forms are made where the trees show none, unless they show that the verb is irregular.
    """

    def __init__(self, trees: Iterable[Tree]) -> None:
        counts: Counter[tuple[str, str, str]] = Counter()
        for tree in trees:
            counts.update(
                (lemma, tag, token.lower())
                for token, lemma, tag in zip(tree.tokens, tree.lemmas, tree.tags, strict=True)
                if tag.startswith("VB") and token.isalpha()
            )
        self._forms: dict[tuple[str, str], str] = {}
        for (lemma, tag, form), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            self._forms.setdefault((lemma, tag), form)

    def form(self, lemma: str, tag: str) -> str | None:
        """Return a form of a verb.

        Args:
            lemma: the verb.
            tag: VB (infinitive), VBP or VBZ (present), VBD (past), VBN (past participle) or VBG (gerund).

        Returns:
            The form; None for a past that no tree shows of a verb that is irregular.
        """
        if tag in ("VB", "VBP"):
            return lemma
        if shown := self._forms.get((lemma, tag)):
            return shown
        regular = _regular(lemma, tag)
        other = {"VBD": "VBN", "VBN": "VBD"}.get(tag, tag)
        shown = self._forms.get((lemma, other), regular)
        return regular if shown == regular else shown if shown.endswith("ed") else None


def _regular(lemma: str, tag: str) -> str:
    to_i = lemma.endswith("y") and lemma[-2:-1] not in "aeiou"
    if tag == "VBZ":
        sibilant = lemma.endswith(("s", "x", "z", "ch", "sh", "o"))
        return f"{lemma[:-1]}ies" if to_i else f"{lemma}es" if sibilant else f"{lemma}s"
    if tag == "VBG":
        silent = lemma.endswith("e") and not lemma.endswith(("ee", "ye", "oe"))
        return f"{lemma[:-1] if silent else lemma}ing"
    return f"{lemma[:-1]}ied" if to_i else f"{lemma}d" if lemma.endswith("e") else f"{lemma}ed"
