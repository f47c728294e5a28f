"""The task that parses the sentences of a shard into semantic roles."""

from prefect import task

from features.parsers import stages
from features.parsers.settings import SrlSettings
from features.parsers.srl.parser import load
from features.rows import OnRows
from features.stages import StageOutput
from features.store.receipts import Receipt
from tasks.shard import TASK, Inputs, ShardJob, make_shard


@task(**TASK)
def parse_srl(job: ShardJob, settings: SrlSettings) -> Receipt | None:
    """Parse a shard of sentences into frames; the tagger is loaded once per worker.

    Args:
        job: the shard.
        settings: settings of the tagger.
    """

    def compute(inputs: Inputs, on_rows: OnRows) -> tuple[StageOutput, int]:
        sentences = inputs.read("sentences")
        return stages.parse_srl(sentences, load(settings), on_rows), sentences.height

    return make_shard(job, compute)
