"""A graph as the parser sees it: a node is one string; constants and names are nodes, too.

    (s / see-01                    nodes   see-01  city  @New York  =-
       :ARG1 (c / city             edges   (0, ARG1, 1) (1, name, 2) (0, polarity, 3)
          :name (n / name          root    0
             :op1 "New"
             :op2 "York"))
       :polarity -)

Edges run in the direction of the role without `-of`. In PENMAN, a node is written where it is first reached along edges
in their own direction; only nodes that cannot be reached that way are attached by an inverted edge: `:ARG0-of`.

    want-01 ── ARG0 ──> boy <── ARG0 ── sleep-01        (z0 / want-01
       └────── ARG1 ──────────────────────┘                 :ARG0 (z1 / boy)
                                                            :ARG1 (z2 / sleep-01 :ARG0 z1))
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

Edge = tuple[int, str, int]

_CONSTANT = "="
_NAME = "@"
_SENSE = re.compile(r"(.+)-(\d\d+)")
_NUMBERED = re.compile(r"(ARG|op|snt)(\d+)")
_OPPOSITE = {"mod": "domain", "domain": "mod"}
_DEEPEST_INDENT = 40


@dataclass(frozen=True, slots=True)
class FlatGraph:
    """Labels of nodes, and edges between positions."""

    nodes: list[str]  # label of each node
    edges: list[Edge]  # (source, role, target), the role without colon and never inverted
    root: int  # position of the root


def constant(value: str) -> str:
    """Return the label of a constant, written as in PENMAN."""
    return _CONSTANT + value


def name(operands: str) -> str:
    """Return the label of a name node; its operands are separated by spaces."""
    return _NAME + operands


def is_constant(label: str) -> bool:
    """Return whether the label is that of a constant."""
    return label.startswith(_CONSTANT)


def is_name(label: str) -> bool:
    """Return whether the label is that of a name."""
    return label.startswith(_NAME)


def is_concept(label: str) -> bool:
    """Return whether the label is a concept; constants and names are leaves, nodes without children."""
    return not label.startswith((_CONSTANT, _NAME))


def value_of(label: str) -> str:
    """Return the value of a constant as written, or the operands of a name."""
    return label[1:]


def split_sense(label: str) -> tuple[str, str]:
    """Return lemma and sense of a concept; the sense is empty if there is none.

    >>> split_sense("have-org-role-91"), split_sense("boy")
    (('have-org-role', '91'), ('boy', ''))
    """
    match = _SENSE.fullmatch(label) if is_concept(label) else None
    return (match[1], match[2]) if match else (label, "")


class _Branch(NamedTuple):
    """An item written at a node; sorted in the order of writing."""

    rank: tuple[bool, bool, int, str]  # own roles before inverted ones, numbered before others, by number, then by name
    edge: int  # position of the edge
    role: str  # the role as seen from the node
    other: int  # node at the other end
    opens: bool  # whether the other node is written here


def write_penman(graph: FlatGraph) -> str:
    """Return a connected graph in PENMAN. Its constants have one parent each; `:quant 1 :quant 1` is written once.

    >>> print(write_penman(FlatGraph(["see-01", "boy", "=-"], [(0, "polarity", 2), (0, "ARG0", 1)], 0)))
    (z0 / see-01
        :ARG0 (z1 / boy)
        :polarity -)
    """
    graph = _without_repeats(graph)
    order, branches = _layout(graph)
    variables = {node: f"z{number}" for number, node in enumerate(order)}
    text: list[str] = []

    def enter(node: int) -> Iterator[_Branch]:
        label = graph.nodes[node]
        text.append(f"({variables[node]} / {'name' if is_name(label) else label}")
        if is_name(label):
            line = _line(len(stack) + 1)
            operands = enumerate(value_of(label).split(), start=1)
            text.extend(f'{line}:op{number} "{operand}"' for number, operand in operands)
        return iter(branches[node])

    stack: list[Iterator[_Branch]] = []  # explicit, so that depth is not limited
    stack.append(enter(graph.root))
    while stack:
        for branch in stack[-1]:
            text.append(f"{_line(len(stack))}:{branch.role} ")
            if branch.opens:
                stack.append(enter(branch.other))
                break
            label = graph.nodes[branch.other]
            text.append(value_of(label) if is_constant(label) else variables[branch.other])
        else:
            text.append(")")
            stack.pop()
    return "".join(text)


def invert(role: str) -> str:
    """Return the role as seen from its target.

    >>> invert("ARG0"), invert("mod"), invert("consist-of")
    ('ARG0-of', 'domain', 'consist-of-of')
    """
    return _OPPOSITE.get(role) or f"{role}-of"


def _without_repeats(graph: FlatGraph) -> FlatGraph:
    """Return the graph without edges that repeat a constant of a node in the same role."""
    constants: set[tuple[int, str, str]] = set()
    edges = []
    for source, role, target in graph.edges:
        label = graph.nodes[target]
        if is_constant(label):
            if (source, role, label) in constants:
                continue
            constants.add((source, role, label))
        edges.append((source, role, target))
    return FlatGraph(graph.nodes, edges, graph.root)


def _layout(graph: FlatGraph) -> tuple[list[int], list[list[_Branch]]]:
    """Return the nodes that get a variable, in the order of writing, and what is written at each node."""
    leaving: list[list[int]] = [[] for _ in graph.nodes]
    entering: list[list[int]] = [[] for _ in graph.nodes]
    for edge in sorted(range(len(graph.edges)), key=lambda edge: _rank(graph.edges[edge][1], turned=False)):
        source, _, target = graph.edges[edge]
        if not is_constant(graph.nodes[target]):
            leaving[source].append(edge)
            entering[target].append(edge)
    met = {graph.root}
    opened: set[int] = set()
    turned: set[int] = set()

    def follow(start: int) -> None:
        stack = [iter(leaving[start])]
        while stack:
            for edge in stack[-1]:
                target = graph.edges[edge][2]
                if target not in met:
                    met.add(target)
                    order.append(target)
                    opened.add(edge)
                    stack.append(iter(leaving[target]))
                    break
            else:
                stack.pop()

    order = [graph.root]
    follow(graph.root)
    for node in order:  # grows while it is read
        for edge in entering[node]:
            source = graph.edges[edge][0]
            if source not in met:
                met.add(source)
                order.append(source)
                turned.add(edge)
                follow(source)
    branches: list[list[_Branch]] = [[] for _ in graph.nodes]
    for edge, (source, role, target) in enumerate(graph.edges):
        if edge in turned:
            branches[target].append(_Branch(_rank(role, turned=True), edge, invert(role), source, opens=True))
        else:
            branches[source].append(_Branch(_rank(role, turned=False), edge, role, target, opens=edge in opened))
    return order, [sorted(row) for row in branches]


def _rank(role: str, *, turned: bool) -> tuple[bool, bool, int, str]:
    numbered = _NUMBERED.fullmatch(role)
    return turned, numbered is None, int(numbered[2]) if numbered else 0, role


def _line(depth: int) -> str:
    return "\n" + "    " * min(depth, _DEEPEST_INDENT)
