"""Output formats of aligned graphs: JSON lines, a page, a drawing."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from types import MappingProxyType

from features.core.faults import GraphUnusable
from features.core.outputs import Formats
from features.graph_files.aligned import AlignedFiles
from features.graph_files.aligned_page import render_aligned
from features.metrics.explanation.drawing import draw_pair


def write_lines(aligned: AlignedFiles) -> str:
    """Return the pairs as JSON, one per line."""
    return "".join(json.dumps(asdict(pair), ensure_ascii=False, allow_nan=False) + "\n" for pair in aligned.pairs)


def render_drawing(aligned: AlignedFiles) -> str:
    """Return the drawing of the first pair, as a file of its own.

    Raises:
        InputError: when its graphs are wrong.
    """
    (pair, *_) = aligned.pairs
    if pair.graphs is None:
        raise GraphUnusable(f"there is nothing to draw: {' '.join(aligned.wrong)}")
    return draw_pair(pair.graphs, pair.names) + "\n"


FORMATS: Formats = {"jsonl": (".jsonl", ".ndjson"), "html": (".html", ".htm"), "svg": (".svg",)}
"""The formats of alignments."""

WRITERS: Mapping[str, tuple[Callable[[AlignedFiles], str], int | None]] = MappingProxyType(
    {"jsonl": (write_lines, None), "html": (render_aligned, 50), "svg": (render_drawing, 1)}
)
"""Format → how alignments are written, and how many by default: a pair on a page takes some 12 kB."""
