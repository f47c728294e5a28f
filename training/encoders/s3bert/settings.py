"""What a user chooses about an S3BERT.

A preset gives all numbers, those of the loop too; a key beside it changes one more:

    preset = "paper"
    alpha = 0.5
    loop = { epochs = 4 }
"""

from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from training.encoders.settings import Dropout, EncoderSettings, fill_in_preset

Preset = Literal["laptop", "paper", "released"]

_PAPER: dict[str, Any] = {
    "epochs": 8,
    "batch_size": 64,
    "learning_rate": 1e-5,
    "warmup": 0.1,
    "warmup_steps": 100,
    "evaluate_every": 1000,
}
PRESETS: dict[Preset, dict[str, Any]] = {
    "laptop": {
        "consistency": 10.0,
        "dropout": False,
        "scale_learning_rate": 1e-2,
        "loop": _PAPER | {"epochs": 4, "learning_rate": 1e-4, "evaluate_every": 200},
    },
    "paper": {"loop": _PAPER},
    "released": {
        "similarity": "manhattan",
        "targets": "minmax",
        "consistency": 25.0,
        "loop": _PAPER | {"epochs": 2, "learning_rate": 2e-5},
    },
}
"""`laptop`: for up to some 50,000 pairs on two CPU cores, chosen on 13,825 pairs of STSb, SICK and MRPC with a negative
each; of the consistency weights 1, 10 and 25 it has the one that kept human ratings (1 did not) with most facets above
the start model (25 had fewer after an epoch). On 2,000 pairs it gained 0.1 points of human ratings, where `paper`
trained longer and lost 1.9. `paper`: the paper's text (Opitz & Frank 2022, appendix A.1), for 1.5 million pairs.
`released`: the configuration in the authors' repository (consistency on cosines times 5, so 25 times the squared
error).
"""


class S3bertSettings(EncoderSettings):
    """Objective and loop of one S3BERT; a batch of its loop is so many pairs.

    Args:
        name: of the encoder.
        kind: this one.
        preset: the numbers that hold where nothing else is said.
        teacher: whose cosines are preserved: `store` takes the embeddings of the release where it has them, `backbone`
            always encodes with the start model.
        facets: metrics that get a facet, in the order of their dimensions; when missing, every metric of the pairs: the
            fifteen, then those of the project's own.
        facet_dimensions: dimensions of each facet (h); what is left is the residual.
        similarity: of a facet's two sub-vectors. `manhattan` is 1 - L1 distance, as in the authors' repository.
        targets: the metric's own value, or min-max scaled over the training pairs.
        facet_weights: `equal` is the paper's mean over facets; `variance` divides each facet's squared error by the
            variance of its metric over the training pairs, so that rare structures (negation) count as much as common.
        alpha: weight of the decomposition objective.
        consistency: weight of the consistency objective.
        layers_tuned: how many of the last layers learn.
        dropout: of the layers that learn: `true` as the backbone has it, `false` none, `"states"` that of the states of
            words without that of the attention weights. On a processor torch's fused attention knows none, and long
            texts are learnt from twice as fast without.
        scale_learning_rate: rate of the scales β; the same as `loop.learning_rate` when missing.
        max_tokens: longer sentences are cut.
        cache_gib: memory for the outputs of the frozen layers.
        disk_gib: room for them in the folder for temporary files, where they do not fit into that memory; beyond it
            they are computed again. Several trainings of one command share them there.
    """

    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ("scale_learning_rate",)

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "s3bert"
    kind: Literal["s3bert"] = "s3bert"
    preset: Preset = "laptop"
    teacher: Literal["store", "backbone"] = "store"
    facets: tuple[str, ...] | None = None
    facet_dimensions: Annotated[int, Field(ge=1)] = 16
    similarity: Literal["cosine", "manhattan"] = "cosine"
    targets: Literal["raw", "minmax"] = "raw"
    facet_weights: Literal["equal", "variance"] = "equal"
    alpha: Annotated[float, Field(ge=0)] = 1.0
    consistency: Annotated[float, Field(ge=0)] = 1.0
    layers_tuned: Annotated[int, Field(ge=1)] = 2
    dropout: Dropout = True
    scale_learning_rate: Annotated[float, Field(gt=0)] | None = None
    max_tokens: Annotated[int, Field(ge=8)] = 128
    cache_gib: Annotated[float, Field(ge=0)] = 2.0
    # Left out where it is the usual one, so that a run of the version before is still known by its settings.
    disk_gib: Annotated[float, Field(ge=0, exclude_if=lambda gib: gib == 20)] = 20.0

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, given: Any) -> Any:
        return fill_in_preset(given, PRESETS, "laptop")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.loop.batch_size < 2:
            raise ValueError("loop.batch_size must be at least 2: consistency compares the sentences of a batch")
        if self.facets is not None:
            if not self.facets:
                raise ValueError("facets must name a metric; leave the key out for all of them")
            if len(set(self.facets)) < len(self.facets):
                raise ValueError(f"facets must differ from one another, got {self.facets!r}")
        return self

    def unknown_facets(self, metrics: Collection[str]) -> list[str]:
        """Return the facets that are none of these metrics."""
        return [name for name in self.facets or () if name not in metrics]
