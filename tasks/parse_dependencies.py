"""The task that parses the sentences of a shard into dependency trees."""

from prefect import task

from features.parsers import stages
from features.parsers.dependencies import load
from features.parsers.settings import DependencySettings
from features.rows import OnRows
from features.stages import StageOutput
from features.store.receipts import Receipt
from tasks.shard import TASK, Inputs, ShardJob, make_shard


@task(**TASK)
def parse_dependencies(job: ShardJob, settings: DependencySettings) -> Receipt | None:
    """Parse a shard of sentences into dependency trees; the pipeline is loaded once per worker.

    Args:
        job: the shard.
        settings: settings of the pipeline.
    """

    def compute(inputs: Inputs, on_rows: OnRows) -> tuple[StageOutput, int]:
        sentences = inputs.read("sentences")
        return stages.parse_dependencies(sentences, load(settings), on_rows), sentences.height

    return make_shard(job, compute)
