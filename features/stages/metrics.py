"""The stage `metrics`: each pair to the similarity of its graphs in every metric, the project's own among them."""

from pathlib import Path
from typing import Any

import polars as pl

from features.core.closed import Closed
from features.core.types import OnRows
from features.metrics.items import TABLE_OF
from features.metrics.label_vectors import labels_of, words_of
from features.metrics.own import OwnMetrics
from features.metrics.registry import ALGORITHM_VERSION, BUILT_IN, METRIC_COLUMNS, STEPS
from features.schemas import StageOutput
from features.stages.amr import AMR_STAGE
from features.stages.label_vectors import LABEL_VECTOR_STAGE
from features.stages.stage import Inputs, Recipe, Stage

NAME = "metrics"


class MetricSettings(Closed):
    """What is measured on pairs.

    Args:
        enabled: True measures all pairs, False none, and makes no label vectors; by default those that an encoder
            reads.
        own: Python files with the project's own metrics.
    """

    enabled: bool | None = None
    own: tuple[Path, ...] = ()


def _tables_of_own(own: OwnMetrics) -> tuple[str, ...]:
    """Return the tables other than `amr` that the project's own metrics read."""
    return tuple(sorted({TABLE_OF[metric.reads] for metric in own.load()} - {AMR_STAGE.name}))


def metric_recipe(own: OwnMetrics) -> Recipe:
    """Return the recipe: versions and budget of the metrics, and the digest of each of the project's own."""
    parameters: dict[str, Any] = {"steps": STEPS}
    if versions := {name: metric.version for name, metric in BUILT_IN.items() if metric.version}:
        parameters["built_in"] = versions
    if own.files:
        parameters["own"] = {metric.name: metric.digest for metric in own.load()}
    return Recipe(NAME, parameters, ALGORITHM_VERSION)


def _make(inputs: Inputs, own: OwnMetrics, on_rows: OnRows) -> StageOutput:
    from features.metrics.measurement import measure_shard  # compiled metrics are slow to import

    pairs = inputs.read("pairs")
    sentences = pl.concat([pairs["sentence_a"], pairs["sentence_b"]]).unique()
    # A sentence shard is shared by many pair shards: read only the graphs of these pairs.
    in_pairs = pl.col("sentence_id").is_in(sentences.implode())
    amr = inputs.read(AMR_STAGE.name, in_pairs)
    words = pl.Series(words_of(labels_of(amr)), dtype=pl.String)
    vectors = inputs.read(LABEL_VECTOR_STAGE.name, pl.col("label").is_in(words.implode()))
    tables = {name: inputs.read(name, in_pairs) for name in _tables_of_own(own)}
    return measure_shard(pairs, amr, vectors, own.load(), tables, on_rows)


METRIC_STAGE = Stage(
    name=NAME,
    about="what is measured.",
    over="pairs",
    reads=("pairs", AMR_STAGE.name, LABEL_VECTOR_STAGE.name),
    columns=METRIC_COLUMNS,
    key=("pair_id",),
    settings=MetricSettings,
    prepare=lambda settings: OwnMetrics.read(settings.own),  # by content, since workers need not see the files
    reads_also=_tables_of_own,
    recipe=metric_recipe,
    make=_make,
    imports=lambda _: ("numba",),
    extensible=True,
)
