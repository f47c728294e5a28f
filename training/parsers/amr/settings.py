"""User settings for training the embedded AMR parser: a training job as one JSON file.

{"source": {"train": [{"path": "graphs.amr.gz"}], "dev": [{"path": "dev.amr.gz"}]}, "output": "runs/amr",
 "settings": {"loop": {"epochs": 9}}}
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from features.core.closed import Closed
from training.jobs import TrainingJob
from training.loop.settings import LoopSettings, Trainable


class SourceFile(Closed):
    """A file of sentences; its path is relative to the settings file."""

    path: Path

    @property
    def label(self) -> str:
        """Its name in logs and model cards: folder and file."""
        return f"{self.path.parent.name}/{self.path.name}"


class GraphSource(SourceFile):
    """A file of graphs."""

    # `penman`: blocks with `::snt`; `guidelines`: graphs and their sentences in a Markdown text
    kind: Literal["penman", "guidelines"] = "penman"
    skip_first: Annotated[int, Field(ge=0)] = 0  # number of blocks at the beginning to skip, which are not sentences
    skip_last: Annotated[int, Field(ge=0)] = 0  # number of blocks at the end to skip
    share: Annotated[float, Field(gt=0)] = 1.0  # of its sentences per epoch; above 1, sentences are used more than once
    licence: str = "not stated"  # for the model card


class HeldOut(SourceFile):
    """A file whose sentences must not be trained on."""

    # `penman`: blocks with `::snt`; `table`: every tab-separated field of every line counts as a sentence
    kind: Literal["penman", "table"] = "penman"


class GraphSources(Closed):
    """The data of a parser."""

    train: Annotated[tuple[GraphSource, ...], Field(min_length=1)]  # a sentence in several files counts for the first
    dev: Annotated[tuple[GraphSource, ...], Field(min_length=1)]  # graphs to measure progress on; held out
    held_out: tuple[HeldOut, ...] = ()  # further files whose sentences are not trained on
    frames: Path | None = None  # list of PropBank frames (lines like `lemma-01`); limits the senses of unseen lemmas
    # by name, held out: what the model is scored on for its card
    evaluations: dict[str, tuple[GraphSource, ...]] = Field(default_factory=dict)


class AmrParserSettings(Trainable):
    """An embedded AMR parser; the batch size of its loop counts sentences."""

    # `learning_rate` is that of the encoder's layers; `epochs` may be changed while a training is stopped
    loop: LoopSettings = LoopSettings(
        epochs=9,
        batch_size=48,
        learning_rate=1.5e-4,
        warmup_steps=200,
        betas=(0.9, 0.98),
        gradient_norm=2.0,
        keep="average",
        average_over=200,
        checkpoint_every=200,
    )
    backbone: str = "all-MiniLM-L6-v2"  # name or folder of the encoder to start from
    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "own"  # of the model, for its card and the column `parser`
    width: Annotated[int, Field(multiple_of=6, ge=6)] = 384  # of the states of words and nodes, a multiple of six
    node_layers: Annotated[int, Field(ge=1)] = 2  # transformer blocks over the nodes
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2  # of states while training
    word_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.08  # share of word pieces and spellings hidden in training
    # share of nodes and primary labels hidden while training, so that wrong ones do less harm
    concept_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    head_learning_rate: Annotated[float, Field(gt=0)] = 1e-3  # peak learning rate of all new parameters
    max_words: Annotated[int, Field(ge=1)] = 80  # longer sentences are left out
    # number of dev sentences, evenly spaced, whose accuracies choose what is kept, and whose Smatch the thresholds
    dev_examples: Annotated[int, Field(ge=1)] = 500
    storage: Literal["int8", "float16"] = "int8"  # of matrices in the model; int8 takes half the space of float16
    note: str = ""  # for the card: terms of the model, and whatever else a user should know


AmrParserJob = TrainingJob[GraphSources, AmrParserSettings]
