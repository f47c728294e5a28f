"""User settings shared by all trainings: the table `loop` of an encoder or a parser.

The learning rate of a step is a share of the peak rate (`share_of_rate`):

    1 ┤      ┌─────────╲            warm-up, then a decay to 0 that starts right after it, or later, or never
      │    ╱             ╲
    0 ┼──╱─────────────────╲──
       0  warm-up    fall   end
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from features.core.closed import Closed
from features.parsers.settings import Device, Precision, Threads

Keep = Literal["best", "average", "last"]
"""Which weights a training keeps."""


class LoopSettings(Closed):
    """The training loop.

    Args:
        epochs: passes over the training data.
        steps: steps after which training ends, if the epochs have more.
        batch_size: batch over all processes, in pairs, sentences or word pieces.
        accumulate: batches per step; gradients are averaged.
        learning_rate: peak rate, after the warm-up; some parameters have a multiple of it.
        warmup: share of all steps in which the rate grows linearly.
        warmup_steps: maximum number of warm-up steps.
        schedule: after the warm-up: linear decay to 0, or constant.
        decay: last share of the steps, in which a linear schedule decays; by default all after the warm-up.
        weight_decay: weight decay of AdamW.
        betas: betas of AdamW.
        gradient_norm: gradients are clipped to this norm.
        evaluate_every: steps between dev evaluations, besides the ends of epochs.
        patience: dev evaluations in a row without a better score that end training.
        keep: weights to keep: `best` by dev score, `average` (the best running one) or `last`. Without dev, the last or
            last average.
        average_over: about how many steps the average covers.
        checkpoint_every: steps between checkpoints.
        log_every: steps between progress lines.
        precision: `auto` is bfloat16 where the hardware is faster in it, else float32.
        device: `auto` is a GPU if there is one.
        threads: CPU threads per process; by default PyTorch's choice.
        processes: processes that train together on this machine, one per GPU if there are any.
        trackers: experiment trackers that accelerate knows, such as `tensorboard`, `mlflow`, `wandb`.
        seed: seed of batch order, new weights and dropout.
    """

    epochs: Annotated[int, Field(ge=1)] = 1
    steps: Annotated[int, Field(ge=1)] | None = None
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
    keep: Keep = "best"
    average_over: Annotated[int, Field(ge=1)] = 200
    checkpoint_every: Annotated[int, Field(ge=1)] = 500
    log_every: Annotated[int, Field(ge=1)] = 50
    precision: Precision = "auto"
    device: Device = "auto"
    threads: Threads | None = None
    processes: Annotated[int, Field(ge=1)] = 1
    trackers: tuple[str, ...] = ()
    seed: Annotated[int, Field(ge=0, le=2**63)] = 0  # torch reads 64 bits, and `--seeds` adds to it


NO_INFLUENCE = {"checkpoint_every", "log_every", "threads", "device", "processes", "trackers"}
"""Settings of the loop that do not affect the result."""


class Trainable(Closed):
    """Settings of a training; a partial `loop` is completed with those of the preset, or the defaults of its kind.

    Args:
        loop: settings of the training loop.
    """

    PRESETS: ClassVar[Mapping[Any, Mapping[str, Any]]] = {}
    """Preset → values of the other settings, if its kind has presets."""

    loop: LoopSettings = LoopSettings()

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, given: Any) -> Any:
        """Fill in missing values from the preset, also in `loop`; what is no mapping is for the model to reject."""
        loop = given.get("loop", {}) if isinstance(given, Mapping) else None
        if isinstance(loop, LoopSettings):
            loop = loop.model_dump(exclude_unset=True)
        if not isinstance(loop, Mapping):
            return given
        named = given.get("preset", cls.model_fields["preset"].default) if cls.PRESETS else None
        preset = cls.PRESETS.get(named, {}) if isinstance(named, str) else {}
        usual = preset.get("loop") or cls.model_fields["loop"].default.model_dump(exclude_unset=True)
        return {**preset, **given, "loop": {**usual, **loop}}


def decisive(settings: Trainable, *, exclude: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the settings that affect the result, as in JSON, without those to exclude."""
    chosen = settings.model_dump(mode="json", exclude=set(exclude))
    return chosen | {"loop": {name: value for name, value in chosen["loop"].items() if name not in NO_INFLUENCE}}


def share_of_rate(step: int, total: int, settings: LoopSettings) -> float:
    """Return the learning rate at a step (from 0) of a whole training as a share of the peak rate, in [0, 1]."""
    warmup = int(settings.warmup * total)
    if settings.warmup_steps is not None:
        warmup = min(warmup, settings.warmup_steps)
    rising = min(1.0, (step + 1) / warmup) if warmup else 1.0
    if settings.schedule == "constant":
        return rising
    begin = warmup if settings.decay is None else total - round(settings.decay * total)
    falling = max(0.0, (total - step) / max(1, total - begin))
    return min(rising, falling)
