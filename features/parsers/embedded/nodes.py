"""A graph as the parser sees it: a node is one string; constants and names are nodes, too.

    (s / see-01                    nodes   see-01  city  @New York  =-
       :ARG1 (c / city             edges   (0, ARG1, 1) (1, name, 2) (0, polarity, 3)
          :name (n / name          root    0
             :op1 "New"
             :op2 "York"))
       :polarity -)

Edges run in the direction of the role without `-of`.
"""

import re
from dataclasses import dataclass

Edge = tuple[int, str, int]

_CONSTANT = "="
_NAME = "@"
_SENSE = re.compile(r"(.+)-(\d\d+)")


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


def is_leaf(label: str) -> bool:
    """Return whether the label is that of a node without children: a constant or a name."""
    return label.startswith((_CONSTANT, _NAME))


def is_concept(label: str) -> bool:
    """Return whether the label is a concept: neither constant nor name."""
    return not is_leaf(label)


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
