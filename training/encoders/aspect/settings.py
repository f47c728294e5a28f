"""User settings of an encoder of aspects."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from features.core.faults import Conflict, RepeatedValue, UnknownName, WrongValue
from features.core.wording import did_you_mean
from training.encoders.settings import BY_LOSS, TunedSettings

Preset = Literal["laptop", "map", "paper"]

PRESETS: dict[Preset, dict[str, Any]] = {
    "laptop": {
        "layers_tuned": 2,
        "dropout": "states",
        "loop": {"epochs": 4, "batch_size": 32, "learning_rate": 3e-4, "warmup": 0.1},
    },
    "map": {
        "layers_tuned": 0,
        "loop": {"epochs": 40, "batch_size": 128, "learning_rate": 1e-3, "warmup": 0.1},
    },
    "paper": {
        "layers_tuned": "all",
        "pooling": "cls",
        "loop": {"epochs": 3, "batch_size": 14, "learning_rate": 5e-5, "warmup": 0.0},
    },
}
"""`laptop`: for a few thousand texts on two CPU cores; tried on 1,268 company descriptions, where the first epoch was
the best by industry. `map`: a linear layer on the embeddings of the start model, learnt in seconds. `paper`: Schopf et
al. 2023, for a GPU."""


class AspectSettings(TunedSettings):
    """An encoder of aspects; its batch size counts triplets.

    Args:
        preset: default values of the other settings.
        aspects: aspects that similarity reflects; may be left out if the texts have only one.
        combine: when texts of several aspects are alike: with a common label in all (`intersection`) or in any
            (`union`); `routes` is one encoder with a route for each.
        objective: `info_nce` separates positives from the negatives of triplets and batch; `multiple_negatives` from
            those of the batch; `simcse` needs no labels: a text with other dropout is its own positive.
        masked: whether texts with the anchor's label are no negatives of it; `false` is the usual multiple negatives
            ranking.
        negatives: negatives of triplets: `other_aspect` prefers a text that shares a label in another aspect; `any`
            takes any that is not alike.
        temperature: temperature τ of the objective.
        pooling: `cls` or `mean` of the tokens; by default the backbone's.
        layers_tuned: how many of the last layers to tune; `all` includes the token embeddings; 0 learns only a linear
            layer on the embeddings, one for each route.
        min_texts: labels with fewer training texts are not used.
        held_out_labels: share of the labels held out of training, to measure how an aspect generalises; `training.json`
            names them.
        held_out_seed: seed of the choice of these labels.
        triplets_per_text: triplets with each text as anchor, per epoch.
        embed_at_once: texts of a batch with activations in memory, at most; by default all, fewer compute embeddings
            twice.
        route_learning_rate: peak learning rate of the linear layers.
        choose_by: what chooses the best model on dev: `mrr` or `ndcg` of the first ten neighbours, or `loss`.
    """

    OWN_CHOICES: ClassVar[tuple[str, ...]] = ("mrr", "ndcg", BY_LOSS)
    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ("route_learning_rate",)
    PRESETS: ClassVar[Mapping[Any, Mapping[str, Any]]] = PRESETS

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "aspect"
    kind: Literal["aspect"] = "aspect"
    preset: Preset = "laptop"
    aspects: tuple[str, ...] = ()
    combine: Literal["intersection", "union", "routes"] | None = None
    objective: Literal["info_nce", "multiple_negatives", "simcse"] = "info_nce"
    masked: bool = True
    negatives: Literal["other_aspect", "any"] = "other_aspect"
    temperature: Annotated[float, Field(gt=0)] = 0.05
    pooling: Literal["cls", "mean"] | None = None
    layers_tuned: Annotated[int, Field(ge=0)] | Literal["all"] = 2
    max_tokens: Annotated[int, Field(ge=8)] = 320
    min_texts: Annotated[int, Field(ge=1)] = 5
    held_out_labels: Annotated[float, Field(ge=0, lt=1)] = 0.0
    held_out_seed: Annotated[int, Field(ge=0)] = 0
    triplets_per_text: Annotated[int, Field(ge=1)] = 1
    embed_at_once: Annotated[int, Field(ge=1)] | None = None
    route_learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    choose_by: str = "mrr"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.by_ratings:
            raise Conflict(
                f"choose_by is {self.choose_by!r}, but an encoder of aspects is chosen by {', '.join(self.OWN_CHOICES)}"
            )
        if self.loop.batch_size < 2:
            raise WrongValue("loop.batch_size must be at least 2: the texts of a batch are each other's negatives")
        if len(set(self.aspects)) < len(self.aspects):
            raise RepeatedValue(f"aspects must differ from one another, got {list(self.aspects)!r}")
        if len(self.aspects) > 1 and self.combine is None:
            raise Conflict(
                f"aspects names {len(self.aspects)}: set `combine` to say whether alike texts share a label in all of "
                'them ("intersection") or in any ("union"), or whether each gets its own route ("routes")'
            )
        if len(self.aspects) == 1 and self.combine is not None:
            raise Conflict(
                f"combine is {self.combine!r}, but aspects names only {self.aspects[0]!r}: name another, or leave "
                "`combine` out"
            )
        usual = type(self).model_fields["route_learning_rate"].default
        given = "route_learning_rate" in self.search or self.route_learning_rate != usual
        if given and self.combine != "routes" and self.layers_tuned:
            raise Conflict('route_learning_rate is used only with combine = "routes" or layers_tuned = 0: leave it out')
        if not self.layers_tuned and (unused := sorted({"learning_rate", "weight_decay"} & self.search.keys())):
            raise Conflict(
                f"search cannot vary {unused[0]!r} here: it is of layers, and none is tuned; vary route_learning_rate"
            )
        if self.objective == "simcse" and not (self.dropout and self.layers_tuned):
            left_out = "dropout = false" if self.layers_tuned else "layers_tuned = 0"
            raise Conflict(f'objective "simcse" learns from dropout: leave `{left_out}` out')
        if not self.masked and self.objective != "multiple_negatives":
            raise Conflict(
                f"masked is false, but objective is {self.objective!r}: leave `masked` out, or set objective = "
                '"multiple_negatives"'
            )
        if self.objective == "simcse" and self.combine == "routes":
            raise Conflict('objective "simcse" uses no labels, so it has no routes: leave `combine` out')
        return self

    def with_aspects(self, aspects: Sequence[str]) -> Self:
        """Return the settings with the aspects filled in from those in which texts have labels, sorted."""
        if unknown := [name for name in self.aspects if name not in aspects]:
            there_are = did_you_mean(unknown[0], aspects, f"there are: {', '.join(aspects) or 'none'}")
            raise UnknownName(
                f"`aspects` of the encoder {self.name!r} names {unknown[0]!r}, in which no text has a label; "
                f"{there_are}."
            )
        if self.aspects:
            return self
        if len(aspects) > 1 and self.combine is None:
            raise Conflict(
                f"the texts have labels in {len(aspects)} aspects ({', '.join(aspects)}): name one in `aspects` of the "
                f"encoder {self.name!r}, or set `combine` to use several."
            )
        if len(aspects) == 1 and self.combine is not None:
            raise Conflict(
                f"`combine` of the encoder {self.name!r} is {self.combine!r}, but the texts have labels in only one "
                f"aspect ({aspects[0]}): leave it out."
            )
        return self.model_copy(update={"aspects": tuple(aspects)})
