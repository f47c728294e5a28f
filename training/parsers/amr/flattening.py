"""From a decoded graph to the parser's view of it (`features.parsers.embedded.nodes`)."""

import re

from features.graphs.graph import AmrGraph
from features.parsers.embedded.nodes import Edge, FlatGraph, constant, name

_OPERAND = re.compile(r"op(\d+)")
# These end in -of but are not inverses.
_NOT_INVERSE = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of", "prep-instead-of"})
_SAME_AS = {"domain-of": "mod", "mod-of": "domain"}


def flatten(graph: AmrGraph) -> FlatGraph:
    """Return the graph with names folded into one node, constants as nodes, and every role in its own direction.

    Wiki links are dropped, and so are loops and repeated edges.
    """
    operands: dict[int, list[tuple[int, str]]] = {}
    constants: list[tuple[int, str, str]] = []
    for node, role, value in dict.fromkeys(graph.attributes):
        operand = _OPERAND.fullmatch(role)
        if graph.concepts[node] == "name" and operand:
            operands.setdefault(node, []).append((int(operand[1]), value.strip('"')))
        elif role != "wiki":
            constants.append((node, role, value))
    nodes = list(graph.concepts)
    for node, parts in operands.items():
        nodes[node] = name(" ".join(part for _, part in sorted(parts)))
    edges: list[Edge] = []
    for source, role, target in graph.relations:
        if source != target:
            edges.append(_own_direction(source, role, target))
    for node, role, value in constants:
        edges.append((node, role, len(nodes)))
        nodes.append(constant(value))
    return FlatGraph(nodes, list(dict.fromkeys(edges)), 0)


def _own_direction(source: int, role: str, target: int) -> Edge:
    if role in _SAME_AS:
        return source, _SAME_AS[role], target
    if role.endswith("-of") and role not in _NOT_INVERSE:
        return target, role.removesuffix("-of"), source
    return source, role, target
