"""The task that computes the teacher's embeddings of the sentences of a shard."""

from prefect import task

from features.parsers import stages
from features.parsers.sentence_encoder import load
from features.parsers.settings import EmbeddingSettings
from features.rows import OnRows
from features.stages import StageOutput
from features.store.receipts import Receipt
from tasks.shard import TASK, Inputs, ShardJob, make_shard


@task(**TASK)
def embed_sentences(job: ShardJob, settings: EmbeddingSettings) -> Receipt | None:
    """Embed a shard of sentences; the encoder is loaded once per worker.

    Args:
        job: the shard.
        settings: settings of the encoder.
    """

    def compute(inputs: Inputs, on_rows: OnRows) -> tuple[StageOutput, int]:
        sentences = inputs.read("sentences")
        return stages.embed_sentences(sentences, load(settings), on_rows), sentences.height

    return make_shard(job, compute)
