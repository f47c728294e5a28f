"""What a told difference is, and how words of a sentence are quoted in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from features.metrics.explanation.comparing import ComparedGraphs
from features.metrics.explanation.naming import listed, quoted
from features.metrics.explanation.texts import Chunk
from features.metrics.explanation.tokens import Token

Aspect = Literal[
    "unrelated", "negation", "role", "quantity", "name", "coreference", "mood", "modality", "word", "order", "spelling",
    "relation", "unsure", "form", "unread",
]  # fmt: skip
REMARKS: frozenset[Aspect] = frozenset({"unsure", "form", "unread"})
"""What says how far to trust the graphs, not what differs between the sentences."""
MIRRORS: Mapping[Aspect, str] = {
    "negation": "negations",
    "role": "srl",
    "order": "srl",
    "quantity": "quantifiers",
    "name": "named_entities",
    "coreference": "coreference",
    "modality": "frames",
}
"""Aspect → the facet in which a reader looks for it."""
SIDES = ("a", "b")


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which two sentences differ."""

    facet: str | None  # a metric that sees it: its value is below 1; None if none does
    aspect: Aspect  # the kind of difference
    text: str  # the difference in words; `a` and `b` are the two sentences


class Told:
    """The differences told so far, and the words that they have named."""

    def __init__(self, both: ComparedGraphs) -> None:
        self.both, self.texts = both, both.texts
        self.differences: list[Difference] = []
        self.named: tuple[list[Token], list[Token]] = ([], [])

    def add(
        self, aspect: Aspect, facets: Sequence[str], text: str, tokens: Sequence[Iterable[Token]] = ((), ())
    ) -> None:
        """Tell a difference.

        Args:
            aspect: its kind.
            facets: metrics that may see it, the closest first.
            text: in words.
            tokens: the words of each sentence that need not be told again.
        """
        seen = (*facets, "concepts", "smatch") if aspect not in REMARKS else ()
        facet = next((name for name in seen if self.both.differ_in(name)), None)
        self.differences.append(Difference(facet, aspect, text))
        for named, more in zip(self.named, tokens, strict=True):
            named.extend(more)

    def chunks(self, kinds: Iterable[str]) -> list[Chunk]:
        """Return words of some kinds that only one sentence has and that are not told yet, place by place."""
        rest = [
            tuple([t for t in part if t.kind in kinds and t not in self.named[side]] for side, part in enumerate(chunk))
            for chunk in self.texts.chunks
        ]
        return [(left, right) for left, right in rest if left or right]


def apart(told: Told, left: Sequence[Token], right: Sequence[Token], verb: str) -> str:
    """Return which words each sentence has at one place, or that only one of them has any."""
    if left and right:
        return f"{spans(told, 0, left)} in a, {spans(told, 1, right)} in b"
    side = int(bool(right))
    return f"only {SIDES[side]} {verb} {spans(told, side, right or left)}"


def spans(told: Told, side: int, tokens: Sequence[Token]) -> str:
    """Return words of a sentence in quotes, those that follow each other as one."""
    order, text = told.texts.tokens[side], told.texts.sentences[side]
    runs: list[list[Token]] = []
    for token in tokens:
        if runs and order.index(token) - order.index(runs[-1][-1]) == 1:
            runs[-1].append(token)
        else:
            runs.append([token])
    return listed(quoted(text[run[0].start : run[-1].end]) for run in runs)
