"""User settings for training the semantic role tagger: a training job as one JSON file.

{"source": {"train": "train.conll.gz", "dev": "dev.conll.gz", "licence": "CC BY-SA 4.0"}, "output": "runs/srl",
 "settings": {"loop": {"epochs": 8}}}
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from features.core.closed import Closed
from training.jobs import TrainingJob
from training.loop.settings import LoopSettings, Trainable


class FrameSources(Closed):
    """The data of a tagger: gold frames, in the format of `features.parsers.srl.frames`."""

    train: Path  # file to train on
    dev: Path  # file to evaluate on
    licence: str = "not stated"  # of the gold frames, for the model card


class TaggerSettings(Trainable):
    """A tagger; the batch size of its loop counts word pieces, including padding."""

    # `learning_rate` is that of the encoder; `epochs` may be changed while a training is stopped
    loop: LoopSettings = LoopSettings(
        epochs=8,
        batch_size=1024,
        learning_rate=3e-4,
        warmup_steps=201,
        decay=1.0,
        keep="last",
        checkpoint_every=300,
    )
    backbone: str = "all-MiniLM-L6-v2"  # known name or folder of the BERT to start from; uncased
    head_learning_rate: Annotated[float, Field(gt=0)] = 1e-3  # highest rate of the two projections
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1  # on the encoder's output
    encoder_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1  # on embeddings, attention and the output of each layer
    # word pieces of a sequence; a longer one is cut to those around its predicate
    longest: Annotated[int, Field(ge=8, le=512)] = 64
    unmarked: Annotated[float, Field(ge=0, le=1)] = 0.3  # share of the sentences used without a mark in each epoch
    predicate_weight: Annotated[float, Field(ge=0)] = 0.5  # weight of the loss of the head that finds predicates


TaggerJob = TrainingJob[FrameSources, TaggerSettings]
