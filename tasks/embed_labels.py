"""The task that looks up vectors for the words in the labels of a shard's graphs."""

from prefect import task

from features.parsers import stages
from features.parsers.label_vectors import load
from features.parsers.settings import LabelVectorSettings
from features.rows import OnRows
from features.stages import StageOutput
from features.store.receipts import Receipt
from tasks.shard import TASK, Inputs, ShardJob, make_shard


@task(**TASK)
def embed_labels(job: ShardJob, settings: LabelVectorSettings) -> Receipt | None:
    """Look up the vectors of the words in the labels of a shard of graphs; the source is loaded once per worker.

    Args:
        job: the shard.
        settings: settings of the source of vectors.
    """

    def compute(inputs: Inputs, on_rows: OnRows) -> tuple[StageOutput, None]:
        # Rows are words, so there is not one for each graph.
        return stages.embed_labels(inputs.read("amr"), load(settings), on_rows), None

    return make_shard(job, compute)
