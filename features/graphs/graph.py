"""One AMR graph and its decoder.

    (w / want-01                concepts    want-01 boy sleep-01        node 0 is the root
       :ARG0 (b / boy)          relations   (0, ARG0, 1) (0, ARG1, 2) (2, ARG0, 1)
       :ARG1 (s / sleep-01      attributes  (2, polarity, -)
          :polarity -
          :ARG0 b))

Roles stay **as written**: `:ARG0-of` is not inverted, `:mod` is not `:domain`, because each metric takes its own view
of the triples (`features.metrics.triples`). The decoder scans the text with two regular expressions, one match per node
and one per branch, and uses an explicit stack, so that depth is not limited.
"""

import re
from dataclasses import dataclass, field
from typing import NoReturn

from features.core.errors import RowError
from features.core.types import RejectCode

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

MAX_NODES = 512
"""A sentence has at most `ingest.max_words` words, and a graph about one node for every two words. More nodes are a
parser error (repetition), and aligning two such graphs does not finish in reasonable time."""
MAX_ATTRIBUTES = 512
"""WWLK compares every constant of one graph with every node and constant of the other. Gold graphs have at most 56."""
MAX_RELATIONS = 2048  # Gold graphs have about as many relations as nodes


@dataclass(frozen=True, slots=True)
class AmrGraph:
    """One decoded graph; nodes are positions in `concepts`, and node 0 is the root."""

    concepts: list[str]  # concept of each node
    attributes: list[tuple[int, str, str]]  # (node, role, constant), the constant as written, quotes included
    relations: list[tuple[int, str, int]]  # (source, role, target), the role as written, without the colon


def decode(text: str) -> AmrGraph:
    """Decode one graph in PENMAN; lines that start with `#` are skipped, alignments (`~e.1`) are dropped.

    Raises:
        RowError: `NO_GRAPH` for a text without one; with the line and column, when parentheses do not match, a node has
            no concept, a branch has no target, a variable is defined twice, or a name that looks like a variable is not
            defined; or `TOO_MANY_NODES`, also for constants and relations.

    >>> decode("(w / want-01 :ARG0 (b / boy) :ARG1 (s / sleep-01 :polarity - :ARG0 b))").relations
    [(0, 'ARG0', 1), (0, 'ARG1', 2), (2, 'ARG0', 1)]
    """
    if "#" in text:
        text = _COMMENT.sub("", text)  # whole lines, whose ends stay: lines and columns of errors are those of the file
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if start >= end:
        raise RowError(RejectCode.NO_GRAPH, "the text contains no graph; expected one in PENMAN, such as (b / boy)")
    if text[start] != "(":
        _fail(text, start, f"a graph starts with '(', but found {text[start]!r}")
    scan = _Scan(text)
    at = start
    while at < end:
        sign = text[at]
        if sign == "(":
            at = scan.open_node(at)
        elif sign == ":":
            at = scan.branch(at)
        elif sign == ")":
            at = scan.close_node(at, end)
        elif sign == '"':
            _fail(text, at, "this string is not closed, or does not follow a role", RejectCode.UNBALANCED_PENMAN)
        else:
            _fail(text, at, f"expected a role, '(' or ')', but found {text[at : at + 20].split()[0]!r}")
    return scan.graph()


@dataclass(slots=True)
class _Scan:
    """The state of the scan."""

    text: str  # the text, without comments
    concepts: list[str] = field(default_factory=list)  # concept of each node
    nodes: dict[str, int] = field(default_factory=dict)  # node of each variable
    # (source, role, node below or -1, target as written, position of the target)
    branches: list[tuple[int, str, int, str, int]] = field(default_factory=list)
    path: list[tuple[int, int]] = field(default_factory=list)  # the open nodes, with the positions of their parentheses
    role: str | None = None  # the role waiting for its node; None if there is none

    def open_node(self, at: int) -> int:
        match = _NODE.match(self.text, at)
        assert match is not None  # noqa: S101  # every part after the parenthesis is optional
        variable, concept = match["variable"], match["concept"]
        if variable is None:
            _fail(self.text, at, "a node needs a variable after '(', as in (b / boy)")
        if variable in self.nodes:
            _fail(self.text, match.start("variable"), f"variable {variable!r} is defined twice")
        if concept is None or match["slash"] is None:
            _fail(self.text, match.start("variable"), f"node {variable!r} has no concept, as in ({variable} / boy)")
        node = self.nodes[variable] = len(self.concepts)
        self.concepts.append(_without_alignment(concept))
        if self.path:
            if self.role is None:
                _fail(self.text, at, f"node {variable!r} does not follow a role")
            self.branches.append((self.path[-1][0], self.role, node, "", at))
            self.role = None
        self.path.append((node, at))
        return match.end()

    def branch(self, at: int) -> int:
        if self.role is not None:
            _fail(self.text, at, f"role ':{self.role}' before this one has no target")
        match = _BRANCH.match(self.text, at)
        assert match is not None  # noqa: S101  # every part after the colon is optional
        role, target = match["role"], match["target"]
        if not role:
            _fail(self.text, at, "a role needs a name after ':'")
        if target is None:
            self.role = role
        else:
            self.branches.append((self.path[-1][0], role, -1, target, match.start("target")))
        return match.end()

    def close_node(self, at: int, end: int) -> int:
        if self.role is not None:
            _fail(self.text, at, f"role ':{self.role}' has no target before this ')'")
        self.path.pop()
        at += 1
        while at < end and self.text[at].isspace():
            at += 1
        if not self.path and at < end:
            if self.text[at] == ")":
                _fail(self.text, at, "this ')' closes nothing", RejectCode.UNBALANCED_PENMAN)
            _fail(self.text, at, f"the graph ended before this {self.text[at]!r}; one text holds one graph")
        return at

    def graph(self) -> AmrGraph:
        if self.path:
            many = "1 parenthesis is" if len(self.path) == 1 else f"{len(self.path)} parentheses are"
            what = f"{many} not closed; the last opens here"
            _fail(self.text, self.path[-1][1], what, RejectCode.UNBALANCED_PENMAN)
        graph = AmrGraph(self.concepts, [], [])
        numbered: list[tuple[str, str, str, int]] = []  # letters, role, name and position of constants such as `a2`
        for source, role, below, target, position in self.branches:
            name = _without_alignment(target) if below < 0 else ""
            node = below if below >= 0 else self.nodes.get(name, -1)
            if node >= 0:
                graph.relations.append((source, role, node))
                continue
            graph.attributes.append((source, role, name))
            if match := _NUMBERED.fullmatch(name):
                numbered.append((match[1], role, name, position))
        # `a2` is a constant in most graphs ("the A2 road"), but not next to a numbered variable `a`, such as `a3`.
        letters = {match[1] for match in map(_NUMBERED.fullmatch, self.nodes if numbered else ()) if match}
        for letter, role, name, position in numbered:
            if letter in letters:
                what = f"':{role} {name}' names a variable that no node defines (a constant of this form needs quotes)"
                _fail(self.text, position, what)
        for parts, limit, kind in (
            (graph.concepts, MAX_NODES, "nodes"),
            (graph.attributes, MAX_ATTRIBUTES, "constants"),
            (graph.relations, MAX_RELATIONS, "relations"),
        ):
            if len(parts) > limit:
                message = f"the graph has {len(parts)} {kind}, more than {limit}; check the parser's output"
                raise RowError(RejectCode.TOO_MANY_NODES, message)
        return graph


def _without_alignment(name: str) -> str:
    return _TRAILING_ALIGNMENT.sub("", name) if "~" in name else name


def _fail(text: str, position: int, what: str, code: RejectCode = RejectCode.BAD_PENMAN) -> NoReturn:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    raise RowError(code, f"line {line}, column {column}: {what}")
