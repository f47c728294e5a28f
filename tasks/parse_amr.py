"""The task that parses the sentences of a shard into AMR graphs."""

from prefect import task

from features.parsers import stages
from features.parsers.amr import load
from features.parsers.settings import AmrSettings
from features.rows import OnRows
from features.stages import StageOutput
from features.store.receipts import Receipt
from tasks.shard import TASK, Inputs, ShardJob, make_shard


@task(**TASK)
def parse_amr(job: ShardJob, settings: AmrSettings) -> Receipt | None:
    """Parse a shard of sentences into AMR; the parser is loaded once per worker.

    Args:
        job: the shard.
        settings: settings of the parser.
    """

    def compute(inputs: Inputs, on_rows: OnRows) -> tuple[StageOutput, int]:
        sentences = inputs.read("sentences")
        return stages.parse_amr(sentences, load(settings), on_rows), sentences.height

    return make_shard(job, compute)
