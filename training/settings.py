"""What a user chooses about the training of an encoder: the `[training]` table of the project file.

Without a word in it, the numbers are the paper's (Opitz & Frank 2022, appendix A.1). A preset changes many at once, a
field beside it changes one more:

    [training]
    preset = "laptop"
    epochs = 4
"""

from collections.abc import Collection
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Preset = Literal["paper", "released", "laptop"]

PRESETS: dict[Preset, dict[str, Any]] = {
    "paper": {},
    "released": {
        "similarity": "manhattan",
        "targets": "minmax",
        "consistency": 25.0,
        "learning_rate": 2e-5,
        "epochs": 2,
    },
    "laptop": {
        "learning_rate": 1e-4,
        "scale_learning_rate": 1e-2,
        "consistency": 10.0,
        "dropout": False,
        "epochs": 4,
        "evaluate_every": 200,
    },
}
"""`paper`: the paper's text. `released`: the configuration in the authors' repository (consistency on cosines times 5,
so 25 times the squared error). `laptop`: for some 10,000 to 50,000 pairs on two CPU cores, chosen on 13,825 pairs of
STSb, SICK and MRPC with a negative each; of the consistency weights 1, 10 and 25 it has the one that kept human ratings
(1 did not) with most facets above the start model (25 had fewer after an epoch)."""


class TrainingSettings(BaseModel):
    """Objective and loop of one S3BERT training.

    Args:
        preset: the numbers that hold where nothing else is said.
        backbone: name or path of the sentence encoder to start from.
        teacher: whose cosines are preserved: `store` takes the embeddings of the release where it has them, `backbone`
            always encodes with the start model.
        facets: metrics that get a facet, in the order of their dimensions; when missing, every metric of the pairs: the
            fifteen, then those of the project's own.
        facet_dimensions: dimensions of each facet (h); what is left is the residual.
        splits: names of the splits to learn from and to choose the best model by.
        corpora: corpora to learn from; all when empty.
        similarity: of a facet's two sub-vectors. `manhattan` is 1 - L1 distance, as in the authors' repository.
        targets: the metric's own value, or min-max scaled over the training pairs.
        facet_weights: `equal` is the paper's mean over facets; `variance` divides each facet's squared error by the
            variance of its metric over the training pairs, so that rare structures (negation) count as much as common.
        alpha: weight of the decomposition objective.
        consistency: weight of the consistency objective.
        layers_tuned: how many of the last layers learn.
        dropout: whether the tuned layers keep their dropout.
        batch_size: pairs in a batch (b).
        learning_rate: highest rate, reached after the warm-up.
        scale_learning_rate: rate of the scales β; the same as `learning_rate` when missing.
        warmup_steps: steps of linear growth, at most a tenth of all.
        schedule: what follows the warm-up: linear decay to 0, or the highest rate to the end.
        weight_decay: of AdamW, on matrices only.
        gradient_norm: gradients are clipped to this norm.
        epochs: passes over the pairs.
        evaluate_every: steps between two dev losses; one is taken at the end of every epoch as well.
        checkpoint_every: steps between two checkpoints.
        log_every: steps between two progress lines.
        max_tokens: longer sentences are cut.
        cache_gib: memory for the outputs of the frozen layers; where they do not fit they are computed again.
        precision: `auto` is bfloat16 where the processor computes with it, else float32.
        device: `auto` is a GPU where there is one.
        threads: CPU threads; PyTorch's choice when missing.
        seed: of the order of the batches and of dropout.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Preset = "paper"
    backbone: str = "all-MiniLM-L6-v2"
    teacher: Literal["store", "backbone"] = "store"
    facets: tuple[str, ...] | None = None
    facet_dimensions: Annotated[int, Field(ge=1)] = 16
    splits: tuple[str, str] = ("train", "dev")
    corpora: tuple[str, ...] = ()
    similarity: Literal["cosine", "manhattan"] = "cosine"
    targets: Literal["raw", "minmax"] = "raw"
    facet_weights: Literal["equal", "variance"] = "equal"
    alpha: Annotated[float, Field(ge=0)] = 1.0
    consistency: Annotated[float, Field(ge=0)] = 1.0
    layers_tuned: Annotated[int, Field(ge=1)] = 2
    dropout: bool = True
    batch_size: Annotated[int, Field(ge=2)] = 64
    learning_rate: Annotated[float, Field(gt=0)] = 1e-5
    scale_learning_rate: Annotated[float, Field(gt=0)] | None = None
    warmup_steps: Annotated[int, Field(ge=0)] = 100
    schedule: Literal["linear", "constant"] = "linear"
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    gradient_norm: Annotated[float, Field(gt=0)] = 1.0
    epochs: Annotated[int, Field(ge=1)] = 8
    evaluate_every: Annotated[int, Field(ge=1)] = 1000
    checkpoint_every: Annotated[int, Field(ge=1)] = 500
    log_every: Annotated[int, Field(ge=1)] = 50
    max_tokens: Annotated[int, Field(ge=8)] = 128
    cache_gib: Annotated[float, Field(ge=0)] = 2.0
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    device: str = "auto"
    threads: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("preset"), str) and given["preset"] in PRESETS:
            return {**PRESETS[given["preset"]], **given}
        return given

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.facets is not None:
            if not self.facets:
                raise ValueError("facets must name a metric; leave the key out for all of them")
            if len(set(self.facets)) < len(self.facets):
                raise ValueError(f"facets must differ from one another, got {self.facets!r}")
        return self

    def unknown_facets(self, metrics: Collection[str]) -> list[str]:
        """Return the facets that are none of these metrics."""
        return [name for name in self.facets or () if name not in metrics]


class PromotionSettings(BaseModel):
    """When a new encoder becomes the current one: the `[promotion]` table of the project file.

    Args:
        ratings: points (Spearman × 100) that each set of human ratings may lose against the current encoder.
        facets: points that the mean over the facets may lose, on the pairs of the new release.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ratings: Annotated[float, Field(ge=0)] = 1.0
    facets: Annotated[float, Field(ge=0)] = 2.0
