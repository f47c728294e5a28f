"""What a project's own metric may read from a sentence: its text, its graph, its dependency tree, its frames.

reads            item             from the table
"graphs"         AmrGraph         amr
"sentences"      str              sentences
"dependencies"   DependencyTree   dependencies
"srl"            SrlParse         srl
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal

import polars as pl

from features.graphs.graph import AmrGraph
from features.parsers.dependencies import DependencyTree
from features.parsers.srl.frames import SPAN_COLUMNS, SrlParse, frames_of

Reads = Literal["graphs", "sentences", "dependencies", "srl"]

TABLE_OF: dict[Reads, str] = {"graphs": "amr", "sentences": "sentences", "dependencies": "dependencies", "srl": "srl"}
"""Kind of item → the table that has it."""


def items_of(reads: str, rows: pl.DataFrame) -> dict[str, Any]:
    """Return sentence id → item, from the rows of the table that has this kind of item."""
    make, columns = _MAKERS[reads]
    ids = rows["sentence_id"].to_list()
    return {identity: make(*row) for identity, row in zip(ids, rows.select(columns).iter_rows(), strict=True)}


_MAKERS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "graphs": (
        lambda concepts, *rest: AmrGraph(concepts, [*zip(*rest[:3], strict=True)], [*zip(*rest[3:], strict=True)]),
        (
            "concepts",
            *("attribute_nodes", "attribute_roles", "attribute_values"),
            *("relation_sources", "relation_roles", "relation_targets"),
        ),
    ),
    "sentences": (str, ("text",)),
    "dependencies": (DependencyTree, tuple(field.name for field in fields(DependencyTree))),
    "srl": (lambda words, *columns: SrlParse(words, frames_of(*columns)), ("words", "predicates", *SPAN_COLUMNS)),
}
