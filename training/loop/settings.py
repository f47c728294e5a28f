"""What a user chooses about any training, by the same name for all: the table `loop` of an encoder or a parser."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class LoopSettings(BaseModel):
    """Numbers of the loop; the kind that is trained says what its batches are made of.

    Args:
        epochs: passes over all that is learnt from.
        batch_size: what a batch holds, over all processes: pairs, sentences or word pieces, as the kind says.
        accumulate: batches that a step learns from; their gradients are averaged.
        learning_rate: highest rate, reached after the warm-up; groups of parameters may have a multiple of it.
        warmup: share of all steps in which the rate grows linearly, in [0, 1).
        warmup_steps: most steps of the warm-up; no bound when missing.
        schedule: what follows the warm-up: linear decay to 0, or the highest rate to the end.
        decay: share of all steps, the last ones, in which a linear schedule falls; all after the warm-up when missing.
        weight_decay: of AdamW.
        betas: of AdamW.
        gradient_norm: gradients are clipped to this norm.
        evaluate_every: steps between two looks at dev; there is one at the end of every epoch as well, and no other
            when missing.
        patience: looks at dev without a better score, one after the other, that end the training; never when missing.
        keep: which weights are kept: those with the best dev score, the running average with the best dev score, or the
            last ones; without dev the last ones, or the last average.
        average_over: steps that the average reaches back, about.
        checkpoint_every: steps between two checkpoints.
        log_every: steps between two progress lines.
        precision: `auto` is bfloat16 where the hardware computes with it, else float32.
        device: `auto` is a GPU where there is one.
        threads: CPU threads of each process; PyTorch's choice when missing.
        processes: how many train together on this machine, one a GPU where there are GPUs.
        trackers: programmes that record the course: `tensorboard`, `mlflow`, `wandb` or another that accelerate knows.
        seed: of the order of the batches, of new weights and of dropout.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: Annotated[int, Field(ge=1)] = 1
    batch_size: Annotated[int, Field(ge=1)] = 32
    accumulate: Annotated[int, Field(ge=1)] = 1
    learning_rate: Annotated[float, Field(gt=0)] = 2e-5
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.1
    warmup_steps: Annotated[int, Field(ge=0)] | None = None
    schedule: Literal["linear", "constant"] = "linear"
    decay: Annotated[float, Field(gt=0, le=1)] | None = None
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    betas: tuple[Annotated[float, Field(ge=0, lt=1)], Annotated[float, Field(ge=0, lt=1)]] = (0.9, 0.999)
    gradient_norm: Annotated[float, Field(gt=0)] = 1.0
    evaluate_every: Annotated[int, Field(ge=1)] | None = None
    patience: Annotated[int, Field(ge=1)] | None = None
    keep: Literal["best", "average", "last"] = "best"
    average_over: Annotated[int, Field(ge=1)] = 200
    checkpoint_every: Annotated[int, Field(ge=1)] = 500
    log_every: Annotated[int, Field(ge=1)] = 50
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    device: str = "auto"
    threads: Annotated[int, Field(ge=1)] | None = None
    processes: Annotated[int, Field(ge=1)] = 1
    trackers: tuple[str, ...] = ()
    seed: Annotated[int, Field(ge=0)] = 0


NO_INFLUENCE = {"checkpoint_every", "log_every", "threads", "device", "processes", "trackers"}
"""Settings of the loop that do not decide what comes out."""


class Trainable(BaseModel):
    """Settings of something that is trained; a loop that is given in part keeps the other numbers of its kind.

    Args:
        loop: how long and how fast it learns, and where.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    loop: LoopSettings = LoopSettings()

    @model_validator(mode="before")
    @classmethod
    def _fill_in_loop(cls, given: Any) -> Any:
        loop = given.get("loop", {}) if isinstance(given, Mapping) else None
        if isinstance(loop, LoopSettings):
            loop = loop.model_dump(exclude_unset=True)
        if not isinstance(loop, Mapping):
            return given
        usual = cls.model_fields["loop"].default.model_dump(exclude_unset=True)
        return {**given, "loop": {**usual, **loop}}


def decisive(settings: Trainable, *, exclude: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the settings that decide what comes out, as JSON has them.

    Args:
        settings: of an encoder or a parser.
        exclude: those that do not, beside those of the loop.
    """
    chosen = settings.model_dump(mode="json", exclude=set(exclude))
    return chosen | {"loop": {name: value for name, value in chosen["loop"].items() if name not in NO_INFLUENCE}}
