"""A graph as facets compare it, in plain Python: concepts without spelling, relations in one direction."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from features.graphs.graph import AmrGraph
from features.metrics.readings import comparable, forward, is_inverted


class Relation(NamedTuple):
    """A relation with an inverse role inverted back; the role is in lower case."""

    source: int
    role: str
    target: int


@dataclass(frozen=True)
class View:
    """A graph and what is read from it."""

    graph: AmrGraph

    @cached_property
    def labels(self) -> list[str]:
        """Each node's concept as facets compare it."""
        return [comparable(concept) for concept in self.graph.concepts]

    @cached_property
    def forward(self) -> list[Relation]:
        """The relations with every inverse role inverted back; `mod` and `domain` stay."""
        return [
            Relation(target, forward(role).lower(), source)
            if is_inverted(role)
            else Relation(source, role.lower(), target)
            for source, role, target in self.graph.relations
        ]

    @cached_property
    def parents(self) -> dict[int, int]:
        """Each node's first parent as the graph is written; the root has none."""
        return {target: source for source, _, target in reversed(self.graph.relations)}
