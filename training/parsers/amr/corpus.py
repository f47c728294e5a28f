"""The sentences and graphs of a training: read, without held-out sentences, each sentence once."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from features.core.errors import RowError
from features.core.faults import FileEmpty
from features.core.files import open_text
from features.graphs.graph import decode
from features.graphs.penman_files import read_blocks
from features.parsers.embedded.nodes import FlatGraph
from features.parsers.embedded.words import Word, split_words
from features.sentences import leakage_key, normalise
from training.parsers.amr.flattening import flatten
from training.parsers.amr.settings import GraphSource, HeldOut

_log = logging.getLogger("training")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its graph.

    Args:
        text: normalised.
        words: of the text.
        graph: the parser's view.
        penman: the graph as written.
        share: average number of times per epoch.
    """

    text: str
    words: list[Word]
    graph: FlatGraph
    penman: str
    share: float


@dataclass(frozen=True, slots=True)
class SourceReport:
    """Counts of a file's sentences, for log and model card.

    Args:
        source: file name.
        licence: as in the settings.
        share: of its sentences used per epoch.
        read: sentences with a graph.
        held_out: left out because they are held out.
        repeated: left out because an earlier one is the same.
        unsuited: left out because empty or too long.
        kept: trained on.
    """

    source: str
    licence: str
    share: float
    read: int
    held_out: int
    repeated: int
    unsuited: int
    kept: int


def read_source(source: GraphSource) -> list[Sentence]:
    """Read a file of graphs; a block that cannot be decoded or has no sentence is left out.

    Raises:
        InputError: when the file cannot be read, or has no graph with a sentence.
    """
    pairs = list(_penman(source.path) if source.kind == "penman" else _guidelines(source.path))
    pairs = pairs[source.skip_first : len(pairs) - source.skip_last]
    sentences = []
    for text, penman in pairs:
        try:
            graph = flatten(decode(penman))
        except RowError as error:
            _log.warning("%s: left out: %s", source.path.name, error.message)
            continue
        sentence = normalise(text)
        sentences.append(Sentence(sentence, split_words(sentence), graph, penman, source.share))
    if not sentences:
        raise FileEmpty(f"the file {str(source.path)!r} has no graph with a sentence; expected blocks with '# ::snt'")
    return sentences


def read_training(
    sources: Sequence[GraphSource], held_out: set[str], *, max_words: int
) -> tuple[list[Sentence], list[SourceReport]]:
    """Read the training sentences.

    Args:
        sources: files, in order of preference.
        held_out: keys of sentences that must not be trained on.
        max_words: longer sentences are left out.

    Returns:
        The sentences, and a report for each source.
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
        reports.append(SourceReport(source.label, source.licence, source.share, **counts))
        _log.info("%s: %s", source.label, counts)
    return kept, reports


def held_out_keys(files: Iterable[HeldOut], dev: Iterable[GraphSource]) -> set[str]:
    """Return the keys of all sentences that must not be trained on."""
    keys = {leakage_key(sentence.text) for source in dev for sentence in read_source(source)}
    for file in files:
        if file.kind == "penman":
            keys |= {leakage_key(text) for text, _ in _penman(file.path)}
        else:
            with open_text(file.path) as lines:
                keys |= {leakage_key(field) for line in lines for field in line.split("\t")}
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
