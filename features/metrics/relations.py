"""What the names of relations and concepts say; and relations in one direction: `(b :ARG0-of s)` is `(s :ARG0 b)`.

`consist-of` and the like are not inverses. `mod` and `domain`, which are each other's inverse, stay as they are: if
`mod` were inverted, as Smatch does, every modified argument would have two parents.
"""

import re
from dataclasses import dataclass

import numpy as np

from features.graphs.batch import GraphBatch
from features.metrics.arrays import Ids, Positions, ids_of, owners

NOT_INVERTED = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of"})
"""Roles that end in -of but are not inverses."""

SENSE = re.compile(r"-[0-9]{2,}$")
"""The end of a concept that is a PropBank frame."""
_ARGUMENT = re.compile(r"arg[0-9]+(-of)?")


def is_frame(concept: str) -> bool:
    """Return whether a concept is a PropBank frame."""
    return SENSE.search(concept) is not None


def is_argument(role: str) -> bool:
    """Return whether a role, in lower case, is one of :ARG0, :ARG1, … or the inverse of one."""
    return _ARGUMENT.fullmatch(role) is not None


def is_inverted(role: str) -> bool:
    """Return whether a role is the inverse of another."""
    return role.endswith("-of") and role not in NOT_INVERTED


@dataclass(frozen=True)
class DirectedRelations:
    """Relations with every inverse role inverted back; nodes are numbered through the whole batch."""

    names: list[str]  # distinct roles, in lower case
    roles: Ids  # (n_relations,)
    sources: Positions  # (n_relations,)
    targets: Positions  # (n_relations,)


def direct(graphs: GraphBatch) -> DirectedRelations:
    """Invert the relations that have an inverse role."""
    inverted = np.array([is_inverted(name) for name in graphs.role_names], bool)
    forward = (name.removesuffix("-of") if is_inverted(name) else name for name in graphs.role_names)
    names: dict[str, int] = {}
    roles = ids_of((name.lower() for name in forward), names)
    flipped = inverted[graphs.relation_roles]
    sources, targets = ends_as_written(graphs)
    return DirectedRelations(
        names=list(names),
        roles=roles[graphs.relation_roles],
        sources=np.where(flipped, targets, sources),
        targets=np.where(flipped, sources, targets),
    )


def ends_as_written(graphs: GraphBatch) -> tuple[Positions, Positions]:
    """Return sources and targets of the relations as written, numbered through the batch."""
    first = graphs.node_offsets[owners(graphs.relation_offsets)]
    return graphs.relation_sources + first, graphs.relation_targets + first
