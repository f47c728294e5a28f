"""What may be set for a training of the SRL tagger."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class SrlTrainingSettings(BaseModel):
    """How a tagger learns.

    Args:
        base: known name or folder of the BERT to start from; uncased.
        epochs: times that each predicate is seen.
        learning_rate: of the encoder; it rises over `warm_up` steps, stays, and falls to 0 linearly in the last epochs.
        head_learning_rate: likewise, of the two projections.
        warm_up: steps.
        falling: how many epochs, of the last, the rates fall.
        weight_decay: of AdamW, on matrices.
        dropout: on the encoder's output.
        encoder_dropout: within the encoder, on the embeddings, the attention and what each layer adds.
        batch_pieces: word pieces a step, padding included.
        longest: word pieces of a sequence; a longer one is cut to those around its predicate.
        unmarked: share of the sentences that are read without a predicate in each epoch.
        predicate_weight: of the loss of the head that finds predicates.
        seed: of the order, the projections and the dropout.
        threads: CPU threads; None leaves torch's own number.
        precision: `auto` is bfloat16 where the processor computes with it, else float32.
        checkpoint_every: steps between two checkpoints.
        log_every: steps between two lines of progress.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: str = "all-MiniLM-L6-v2"
    epochs: int = Field(default=8, ge=1)
    learning_rate: float = Field(default=3e-4, gt=0)
    head_learning_rate: float = Field(default=1e-3, gt=0)
    warm_up: int = Field(default=200, ge=0)
    falling: float = Field(default=8.0, ge=0)
    weight_decay: float = Field(default=0.01, ge=0)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    encoder_dropout: float = Field(default=0.1, ge=0, lt=1)
    batch_pieces: int = Field(default=1024, ge=8)
    longest: int = Field(default=64, ge=8, le=512)
    unmarked: float = Field(default=0.3, ge=0, le=1)
    predicate_weight: float = Field(default=0.5, ge=0)
    seed: int = 0
    threads: int | None = Field(default=None, ge=1)
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    checkpoint_every: int = Field(default=300, ge=1)
    log_every: int = Field(default=50, ge=1)
