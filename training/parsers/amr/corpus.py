"""The sentences and graphs of a training: read, without held-out sentences, each sentence once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from features.core.errors import RowError
from features.core.faults import FileEmpty
from features.core.files import open_text
from features.graphs.graph import AmrGraph, decode
from features.graphs.penman_files import read_blocks
from features.parsers.embedded.nodes import Edge, FlatGraph, constant, name
from features.parsers.embedded.words import Word, split_words
from features.sentences import leakage_key, normalise
from training.parsers.amr.settings import GraphSource, HeldOut
from training.progress import log

_OPERAND = re.compile(r"op(\d+)")
# These end in -of but are not inverses.
_NOT_INVERSE = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of", "prep-instead-of"})
_SAME_AS = {"domain-of": "mod", "mod-of": "domain"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its graph."""

    text: str  # normalised
    words: list[Word]  # of the text
    graph: FlatGraph  # the parser's view
    penman: str  # the graph as written
    share: float  # average number of times per epoch


Report = tuple[GraphSource, dict[str, int]]
"""A file, and how many of its sentences were `read`, left out as `held_out`, `repeated` or `unsuited` (empty or too
long), and `kept`."""


def read_source(source: GraphSource) -> list[Sentence]:
    """Read a file of graphs; a block that cannot be decoded or has no sentence is left out."""
    pairs = list(_penman(source.path) if source.kind == "penman" else _guidelines(source.path))
    pairs = pairs[source.skip_first : -source.skip_last or None]
    sentences = []
    for text, penman in pairs:
        try:
            graph = flatten(decode(penman))
        except RowError as error:
            log.warning("%s: left out: %s", source.path.name, error.message)
            continue
        sentence = normalise(text)
        sentences.append(Sentence(sentence, split_words(sentence), graph, penman, source.share))
    if not sentences:
        raise FileEmpty(f"the file {str(source.path)!r} has no graph with a sentence; expected blocks with '# ::snt'")
    return sentences


def read_training(
    sources: Sequence[GraphSource], held_out: set[str], *, max_words: int
) -> tuple[list[Sentence], list[Report]]:
    """Read the training sentences, with a report on each source; the first of equal sentences counts.

    Those whose keys are `held_out`, and those with more than `max_words`, are left out.
    """
    kept: list[Sentence] = []
    seen: set[str] = set()
    reports = []
    for source in sources:
        counts = dict.fromkeys(("read", "held_out", "repeated", "unsuited", "kept"), 0)
        for sentence in read_source(source):
            key = leakage_key(sentence.text)
            if key in held_out:
                fate = "held_out"
            elif key in seen:
                fate = "repeated"
            elif not key or len(sentence.words) > max_words:
                fate = "unsuited"
            else:
                fate = "kept"
                seen.add(key)
                kept.append(sentence)
            counts["read"] += 1
            counts[fate] += 1
        reports.append((source, counts))
        log.info("%s: %s", source.label, counts)
    return kept, reports


def held_out_keys(files: Iterable[HeldOut], dev: Iterable[GraphSource]) -> set[str]:
    """Return the keys of all sentences that must not be trained on."""
    keys = {leakage_key(sentence.text) for source in dev for sentence in read_source(source)}
    for file in files:
        if file.kind == "penman":
            texts = [block.metadata["snt"] for block in read_blocks(file.path) if "snt" in block.metadata]
        else:
            with open_text(file.path) as lines:
                texts = [field for line in lines for field in line.split("\t")]
        if not texts:
            raise FileEmpty(
                f"the held-out file {str(file.path)!r} has no line '# ::snt'; give a table as kind \"table\""
            )
        keys |= set(map(leakage_key, texts))
    return keys - {""}


def _penman(path: Path) -> Iterator[tuple[str, str]]:
    for block in read_blocks(path):
        if "snt" in block.metadata and block.text:
            yield block.metadata["snt"], block.text


def _guidelines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the examples of the guidelines: a fenced graph, then the quoted sentences that it represents."""
    graph: list[str] = []
    quote: list[str] = []
    fenced = False
    with open_text(path) as lines:
        for line in (*lines, "#"):
            if line.startswith("```"):
                fenced = not fenced
                graph = [] if fenced else graph
            elif fenced:
                graph.append(line)
            elif line.startswith(">") and line.strip("> \n"):
                quote.append(line.strip("> \n").replace("*", ""))
                continue
            elif line.strip() and not line.startswith(">"):
                graph = []
            if quote and graph and not fenced:
                yield " ".join(quote), "\n".join(graph)
            if not fenced:
                quote = []


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
    edges = [_own_direction(*relation) for relation in graph.relations if relation[0] != relation[2]]
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
