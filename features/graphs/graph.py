"""One AMR graph and its decoder.

    (w / want-01                concepts    want-01 boy sleep-01        node 0 is the root
       :ARG0 (b / boy)          relations   (0, ARG0, 1) (0, ARG1, 2) (2, ARG0, 1)
       :ARG1 (s / sleep-01      attributes  (2, polarity, -)
          :polarity -
          :ARG0 b))

Roles stay **as written**: `:ARG0-of` is not turned round, `:mod` is not `:domain`, because each metric takes its own
view of the triples (`features.metrics.triples`). The decoder scans the text with two regular expressions, one match a
node and one a branch, and keeps a stack of its own, so that depth is no matter.
"""

import re
from dataclasses import dataclass
from typing import NoReturn

from features.errors import RowError
from features.types import RejectCode

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_ALIGNMENT = r"~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*"
# A variable ends at `/`, as in `(b/boy`; a concept or constant may contain `/` and `:`, as in 9/11 and 10:30.
_NODE = re.compile(
    rf"""\(\s*(?P<variable>[^\s()"/:]+)?\s*(?P<slash>/)?\s*
         (?P<concept>{_STRING}|[^\s()":/][^\s()"]*)?(?:{_ALIGNMENT})?\s*""",
    re.VERBOSE,
)
_BRANCH = re.compile(
    rf""":(?P<role>[^\s()":/~]*)(?:{_ALIGNMENT})?\s*
         (?P<target>{_STRING}|[^\s()":/][^\s()"]*)?(?:{_ALIGNMENT})?\s*""",
    re.VERBOSE,
)
_TRAILING_ALIGNMENT = re.compile(rf"{_ALIGNMENT}$")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_NUMBERED = re.compile(r"([a-z]+)[0-9]+")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class AmrGraph:
    """One decoded graph; nodes are positions in `concepts`, and node 0 is the root.

    Args:
        concepts: concept of each node.
        attributes: (node, role, constant), the constant as written, quotes included.
        relations: (source, role, target), the role as written, without the colon.
    """

    concepts: list[str]
    attributes: list[tuple[int, str, str]]
    relations: list[tuple[int, str, int]]


def decode(text: str) -> AmrGraph:
    """Decode one graph in PENMAN.

    Lines that start with `#` are skipped; alignments (`~e.1`) are dropped.

    Args:
        text: one graph.

    Returns:
        The graph.

    Raises:
        RowError: with the line and column, when parentheses do not match, a node has no concept, a branch has no
            target, a variable is defined twice, or a name that looks like a variable is not defined.

    >>> decode("(w / want-01 :ARG0 (b / boy) :ARG1 (s / sleep-01 :polarity - :ARG0 b))").relations
    [(0, 'ARG0', 1), (0, 'ARG1', 2), (2, 'ARG0', 1)]
    """
    source = text
    if "#" in text:
        text = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)  # same length: columns stay true
    start = _SPACE.match(text).end()  # type: ignore[union-attr]  # it matches the empty string
    if start == len(text):
        raise RowError(RejectCode.NO_GRAPH, "there is no graph in this text; expected one in PENMAN, such as (b / boy)")
    if text[start] != "(":
        _fail(source, start, f"a graph starts with '(', but here is {text[start]!r}")

    concepts: list[str] = []
    branches: list[tuple[int, str, str, int]] = []  # source, role, target as written, position
    positions: dict[str, int] = {}  # variable -> node
    relations: list[tuple[int, str, int]] = []
    open_nodes: list[tuple[int, int]] = []  # (node, position of its parenthesis)
    role: str | None = None
    order: list[int] = []  # for each branch: -1 when its target is a name, else the node below it
    at, end = start, len(text)
    while at < end:
        sign = text[at]
        if sign == "(":
            node = len(concepts)
            match = _NODE.match(text, at)
            assert match is not None  # noqa: S101  # every part after the parenthesis is optional
            _check_node(source, match, positions)
            concepts.append(_without_alignment(match["concept"]))
            positions[match["variable"]] = node
            if open_nodes:
                if role is None:
                    _fail(source, at, f"node {match['variable']!r} stands after no role")
                branches.append((open_nodes[-1][0], role, "", at))
                order.append(node)
                role = None
            open_nodes.append((node, at))
            at = match.end()
        elif sign == ":":
            if role is not None:
                _fail(source, at, f"role ':{role}' before this one has no target")
            match = _BRANCH.match(text, at)
            assert match is not None  # noqa: S101  # every part after the colon is optional
            role = match["role"]
            if not role:
                _fail(source, at, "a role needs a name after ':'")
            if match["target"] is not None:
                branches.append((open_nodes[-1][0], role, match["target"], match.start("target")))
                order.append(-1)
                role = None
            at = match.end()
        elif sign == ")":
            if role is not None:
                _fail(source, at, f"role ':{role}' has no target before this ')'")
            open_nodes.pop()
            at = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]
            if not open_nodes and at < end:
                if text[at] == ")":
                    _fail(source, at, "this ')' closes nothing", RejectCode.UNBALANCED_PENMAN)
                _fail(source, at, f"the graph ended before this {text[at]!r}; one text holds one graph")
        elif sign == '"':
            _fail(source, at, "this string is not closed, or stands after no role", RejectCode.UNBALANCED_PENMAN)
        else:
            _fail(source, at, f"expected a role, '(' or ')', but here is {text[at : at + 20].split()[0]!r}")
    if open_nodes:
        many = "1 parenthesis is" if len(open_nodes) == 1 else f"{len(open_nodes)} parentheses are"
        _fail(source, open_nodes[-1][1], f"{many} not closed; the last opens here", RejectCode.UNBALANCED_PENMAN)

    attributes: list[tuple[int, str, str]] = []
    for (node, role, target, position), below in zip(branches, order, strict=True):
        if below >= 0:
            relations.append((node, role, below))
            continue
        name = _without_alignment(target)
        other = positions.get(name)
        if other is not None:
            relations.append((node, role, other))
        elif _is_like_a_variable(name, positions):
            _fail(
                source,
                position,
                f"':{role} {name}' names a variable that no node defines (a constant of this form needs quotes)",
            )
        else:
            attributes.append((node, role, name))
    return AmrGraph(concepts, attributes, relations)


def _check_node(source: str, match: re.Match[str], positions: dict[str, int]) -> None:
    variable = match["variable"]
    if variable is None:
        _fail(source, match.start(), "a node needs a variable after '(', as in (b / boy)")
    if variable in positions:
        _fail(source, match.start("variable"), f"variable {variable!r} is defined twice")
    if match["slash"] is None or match["concept"] is None:
        _fail(source, match.start("variable"), f"node {variable!r} has no concept, as in ({variable} / boy)")


def _is_like_a_variable(name: str, variables: dict[str, int]) -> bool:
    """Return whether a name is letters and a number, and a variable of the graph is the same letters and a number.

    `a2` is a constant in most graphs ("the A2 road"), but not beside a variable `a` that is numbered too, as in `a3`.
    """
    match = _NUMBERED.fullmatch(name)
    return match is not None and any(
        other is not None and other[1] == match[1] for other in map(_NUMBERED.fullmatch, variables)
    )


def _without_alignment(name: str) -> str:
    return _TRAILING_ALIGNMENT.sub("", name) if "~" in name and name[0] != '"' else name


def _fail(text: str, position: int, what: str, code: RejectCode = RejectCode.BAD_PENMAN) -> NoReturn:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    raise RowError(code, f"line {line}, column {column}: {what}")
