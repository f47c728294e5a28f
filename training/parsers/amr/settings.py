"""What a user chooses about a training of the embedded AMR parser: one JSON file.

{"train": [{"path": "graphs.amr.gz"}], "dev": [{"path": "dev.amr.gz"}], "output": "runs/amr", "epochs": 9}
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from training.jobs import read_job


class GraphSource(BaseModel):
    """A file of graphs.

    Args:
        path: relative to the file of settings.
        kind: `penman`: blocks with `::snt`; `guidelines`: graphs and their sentences in a Markdown text.
        skip_first: blocks at the beginning that are no sentence.
        skip_last: blocks at the end that are no sentence.
        share: of its sentences that an epoch sees; above 1 each is seen more than once.
        licence: for the model card.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path
    kind: Literal["penman", "guidelines"] = "penman"
    skip_first: Annotated[int, Field(ge=0)] = 0
    skip_last: Annotated[int, Field(ge=0)] = 0
    share: Annotated[float, Field(gt=0)] = 1.0
    licence: str = "not stated"


class HeldOut(BaseModel):
    """A file whose sentences must not be learnt from.

    Args:
        path: relative to the file of settings.
        kind: `penman`: blocks with `::snt`; `table`: every tab-separated field of every line counts as a sentence.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path
    kind: Literal["penman", "table"] = "penman"


_File = TypeVar("_File", GraphSource, HeldOut)


class ParserTraining(BaseModel):
    """A training of the embedded AMR parser.

    Args:
        train: graphs to learn from; the first to have a sentence keeps it.
        dev: graphs to measure progress on; held out.
        held_out: further files whose sentences are not learnt from.
        frames: a PropBank frame list (lines that start with `lemma-01`); limits the senses of lemmas never seen.
        output: folder for checkpoints, log and model.
        base: name or folder of the encoder to start from.
        name: of the model, for its card and the column `parser`.
        width: of the states of words and nodes, a multiple of six.
        node_layers: transformer blocks over the nodes.
        dropout: of states while training.
        word_dropout: share of the word pieces, and of the spellings, hidden while training.
        concept_dropout: share of nodes and primary labels hidden while training, so that wrong ones do less harm.
        epochs: passes over the sentences; may be changed while a training is stopped.
        batch_size: sentences in a batch.
        learning_rate: highest rate of all that is new.
        encoder_learning_rate: highest rate of the encoder's layers.
        warmup_steps: steps of linear growth; what follows is linear decay to zero.
        weight_decay: of AdamW.
        gradient_norm: gradients are clipped to this norm.
        average_over: steps that the average of the weights reaches back, about; 0 for none.
        max_words: longer sentences are left out.
        checkpoint_every: steps between two checkpoints.
        log_every: steps between two lines of the log.
        dev_examples: sentences of dev, evenly chosen, that the log's accuracies are measured on.
        storage: of matrices in the model; int8 is half of float16.
        evaluations: files that the finished model is scored on, for its card, by name.
        note: for the card: terms of the model, and what else a user should know.
        precision: `auto` is bfloat16 where the processor computes with it, else float32.
        device: `auto` is a GPU where there is one.
        threads: CPU threads; PyTorch's choice when missing.
        seed: of weights, order and dropout.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: Annotated[tuple[GraphSource, ...], Field(min_length=1)]
    dev: Annotated[tuple[GraphSource, ...], Field(min_length=1)]
    held_out: tuple[HeldOut, ...] = ()
    frames: Path | None = None
    output: Path
    base: str = "all-MiniLM-L6-v2"
    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "own"
    width: Annotated[int, Field(multiple_of=6, ge=6)] = 384
    node_layers: Annotated[int, Field(ge=1)] = 2
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    word_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.08
    concept_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    epochs: Annotated[int, Field(ge=1)] = 9
    batch_size: Annotated[int, Field(ge=1)] = 48
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    encoder_learning_rate: Annotated[float, Field(gt=0)] = 1.5e-4
    warmup_steps: Annotated[int, Field(ge=1)] = 200
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    gradient_norm: Annotated[float, Field(gt=0)] = 2.0
    average_over: Annotated[int, Field(ge=0)] = 200
    max_words: Annotated[int, Field(ge=1)] = 80
    checkpoint_every: Annotated[int, Field(ge=1)] = 200
    log_every: Annotated[int, Field(ge=1)] = 50
    dev_examples: Annotated[int, Field(ge=1)] = 500
    storage: Literal["int8", "float16"] = "int8"
    evaluations: dict[str, tuple[GraphSource, ...]] = {}
    note: str = ""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    device: str = "auto"
    threads: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the settings of a training; its paths become absolute.

        Raises:
            SettingsError: when the file cannot be read or says something unknown.
        """
        settings = read_job(cls, path)
        base = path.resolve().parent

        def absolute(files: Sequence[_File]) -> tuple[_File, ...]:
            return tuple(file.model_copy(update={"path": base / file.path}) for file in files)

        return settings.model_copy(
            update={
                "train": absolute(settings.train),
                "evaluations": {name: absolute(files) for name, files in settings.evaluations.items()},
                "dev": absolute(settings.dev),
                "held_out": absolute(settings.held_out),
                "frames": settings.frames and base / settings.frames,
                "output": base / settings.output,
            }
        )
