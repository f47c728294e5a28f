"""The task that measures the pairs of a shard with the AMR metrics."""

import polars as pl
from prefect import task

from features.metrics.items import TABLES
from features.metrics.label_vectors import labels_of, words_of
from features.metrics.own_files import OwnMetrics
from features.metrics.stage import measure_shard
from features.rows import OnRows
from features.stages import StageOutput
from features.store.receipts import Receipt
from tasks.shard import TASK, Inputs, ShardJob, make_shard

_NONE = OwnMetrics()


@task(**TASK)
def measure_pairs(job: ShardJob, settings: OwnMetrics = _NONE) -> Receipt | None:
    """Measure a shard of pairs.

    Args:
        job: the shard, with the shards of its sentences.
        settings: the project's own metrics.
    """

    def compute(inputs: Inputs, on_rows: OnRows) -> tuple[StageOutput, int]:
        pairs = inputs.read("pairs")
        sentences = pl.concat([pairs["sentence_a"], pairs["sentence_b"]]).unique()
        # A sentence shard is shared by many pair shards: read only the graphs of these pairs.
        of_these = pl.col("sentence_id").is_in(sentences.implode())
        amr = inputs.read("amr", of_these)
        # A word has the same vector in every shard in which it occurs.
        words = pl.Series(sorted(words_of(labels_of(amr))), dtype=pl.String)
        vectors = inputs.read("label_vectors", pl.col("label").is_in(words.implode())).unique("label")
        own = settings.load()
        tables = {name: inputs.read(name, of_these) for name in {TABLES[metric.reads] for metric in own} - {"amr"}}
        return measure_shard(pairs, amr, vectors, own, tables, on_rows), pairs.height

    return make_shard(job, compute)
