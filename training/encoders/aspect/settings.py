"""What a user chooses about an encoder of aspects."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from training.encoders.settings import BY_LOSS, Dropout, EncoderSettings, fill_in_preset

Preset = Literal["laptop", "paper"]
Combine = Literal["intersection", "union", "routes"]

PRESETS: dict[Preset, dict[str, Any]] = {
    "laptop": {
        "layers_tuned": 2,
        "dropout": "states",
        "loop": {"epochs": 4, "batch_size": 32, "learning_rate": 3e-4, "warmup": 0.1},
    },
    "paper": {
        "layers_tuned": "all",
        "pooling": "cls",
        "loop": {"epochs": 3, "batch_size": 14, "learning_rate": 5e-5, "warmup": 0.0},
    },
}
"""`laptop`: for some thousand texts on two CPU cores; tried on 1,268 descriptions of companies, where the first epoch
was the best by industry. `paper`: Schopf et al. 2023, for a GPU."""


class AspectSettings(EncoderSettings):
    """What one embedding, or one route of it, is about; a batch of its loop is so many triplets.

    Args:
        name: of the encoder.
        kind: this one.
        preset: the numbers that hold where nothing else is said.
        aspects: what similarity is to mean, one aspect or several; may be left out where the texts have one alone.
        combine: of several aspects. Texts are alike that share a label in all of them (`intersection`) or in any
            (`union`); `routes` is one encoder with a route for each, `encode(texts, task="country")`.
        objective: `info_nce` tells positives from the negatives of triplets and of the batch; `multiple_negatives` from
            those of the batch alone; `simcse` needs no labels: a text is its own positive, with other dropout.
        masked: whether a text that shares the anchor's label is kept from being its negative in the batch. `false` is
            multiple negatives ranking as it is usually done, to compare with: it pushes texts apart that are alike.
        negatives: of triplets. `other_aspect` takes a text first that shares a label in another aspect, or in some of
            several; `any` takes any that is not alike.
        temperature: of the objective (τ).
        pooling: `cls` or `mean` of the tokens; as the backbone does it when missing.
        max_tokens: longer texts are cut, also by the finished encoder.
        layers_tuned: how many of the last layers learn, or `all`, with the embeddings of tokens.
        dropout: of the layers that learn: `true` as the backbone has it, `false` none, `"states"` that of the states of
            words without that of the attention weights. On a processor torch's fused attention knows none, and long
            texts are learnt from twice as fast without.
        min_texts: labels of fewer training texts are not learnt from.
        held_out_labels: share of the labels that are kept out of training with all their texts, named in
            `training.json`: how far an aspect carries over is scored on them.
        held_out_seed: of the choice of these labels, which follows from their names.
        triplets_per_text: triplets that each text is the anchor of in an epoch.
        embed_at_once: most texts of a batch whose layers are in memory at the same time, for batches that do not fit:
            the rest is computed twice; all when missing.
        route_learning_rate: highest rate of the layer of a route.
        cache_gib: memory for the outputs of the frozen layers.
        disk_gib: room for them in the folder for temporary files, where they do not fit into that memory; beyond it
            they are computed again. Several trainings of one command share them there.
        choose_by: what the best model is chosen by, over the dev texts: `mrr` and `ndcg` of the first ten neighbours of
            each, or the dev loss.
    """

    OWN_CHOICES: ClassVar[tuple[str, ...]] = ("mrr", "ndcg", BY_LOSS)
    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ("route_learning_rate",)

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "aspect"
    kind: Literal["aspect"] = "aspect"
    preset: Preset = "laptop"
    aspects: tuple[str, ...] = ()
    combine: Combine | None = None
    objective: Literal["info_nce", "multiple_negatives", "simcse"] = "info_nce"
    # Left out where it is true, so that a run of the version before is still known by its settings.
    masked: Annotated[bool, Field(exclude_if=bool)] = True
    negatives: Literal["other_aspect", "any"] = "other_aspect"
    temperature: Annotated[float, Field(gt=0)] = 0.05
    pooling: Literal["cls", "mean"] | None = None
    max_tokens: Annotated[int, Field(ge=8)] = 320
    layers_tuned: Annotated[int, Field(ge=1)] | Literal["all"] = 2
    dropout: Dropout = True
    min_texts: Annotated[int, Field(ge=1)] = 5
    held_out_labels: Annotated[float, Field(ge=0, lt=1)] = 0.0
    held_out_seed: Annotated[int, Field(ge=0)] = 0
    triplets_per_text: Annotated[int, Field(ge=1)] = 1
    embed_at_once: Annotated[int, Field(ge=1)] | None = None
    route_learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    cache_gib: Annotated[float, Field(ge=0)] = 2.0
    disk_gib: Annotated[float, Field(ge=0)] = 20.0
    choose_by: str = "mrr"

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, given: Any) -> Any:
        return fill_in_preset(given, PRESETS, "laptop")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.by_ratings:
            raise ValueError(
                f"choose_by is {self.choose_by!r}: an encoder of aspects is chosen by {', '.join(self.OWN_CHOICES)}"
            )
        if self.loop.batch_size < 2:
            raise ValueError("loop.batch_size must be at least 2: the texts of a batch are each other's negatives")
        if len(set(self.aspects)) < len(self.aspects):
            raise ValueError(f"aspects must differ from one another, got {list(self.aspects)!r}")
        if len(self.aspects) > 1 and self.combine is None:
            raise ValueError(
                f"aspects names {len(self.aspects)}: say by `combine` whether texts are alike that share a label in "
                'all of them ("intersection") or in any ("union"), or whether each gets a route of its own ("routes")'
            )
        if len(self.aspects) == 1 and self.combine is not None:
            raise ValueError(
                f"combine is {self.combine!r}, and aspects names {self.aspects[0]!r} alone: name another, or leave "
                "`combine` out"
            )
        if self.objective == "simcse" and not self.dropout:
            raise ValueError('objective "simcse" learns from dropout: leave `dropout = false` out')
        if not self.masked and self.objective != "multiple_negatives":
            raise ValueError(
                f"masked is false, and objective is {self.objective!r}: leave `masked` out, or set objective = "
                '"multiple_negatives"'
            )
        if self.objective == "simcse" and self.combine == "routes":
            raise ValueError('objective "simcse" looks at no labels, so it has no routes: leave `combine` out')
        return self
