"""The task that measures the pairs of a shard with the AMR metrics."""

import polars as pl
from prefect import task

from features.metrics.label_vectors import words_of
from features.metrics.stage import measure_shard
from features.stages import StageOutput
from features.store.receipts import Receipt
from tasks.shard import TASK, Inputs, ShardJob, make_shard


@task(**TASK)
def measure_pairs(job: ShardJob) -> Receipt | None:
    """Measure a shard of pairs.

    Args:
        job: the shard, with the sentence shards that its sentences are in.
    """

    def compute(inputs: Inputs) -> tuple[StageOutput, int]:
        pairs = inputs.read("pairs")
        sentences = pl.concat([pairs["sentence_a"], pairs["sentence_b"]]).unique()
        # A sentence shard is shared by many pair shards: only the graphs of these pairs are read.
        amr = inputs.read("amr", pl.col("sentence_id").is_in(sentences.implode()))
        # A word has the same vector in every shard that it occurs in.
        words = pl.Series(sorted(words_of(_labels(amr))), dtype=pl.String)
        vectors = inputs.read("label_vectors", pl.col("label").is_in(words.implode())).unique("label")
        return measure_shard(pairs, amr, vectors), pairs.height

    return make_shard(job, compute)


def _labels(amr: pl.DataFrame) -> list[str]:
    """Return the different labels of some graphs."""
    columns = (amr["concepts"], amr["attribute_values"])
    return pl.concat([column.explode().drop_nulls() for column in columns]).unique().to_list()
