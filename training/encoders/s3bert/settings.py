"""User settings of an S3BERT.

A preset sets all numbers, including those of the loop; further keys override it:

    preset = "paper"
    alpha = 0.5
    loop = { epochs = 4 }

The map is learnt first, the layers after it and together with it; either can be left out:

    layers_tuned = 0    # the map alone, in seconds
    map_epochs = 0      # layers alone: facets are slices of the backbone's own embedding, as in the paper
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from features.core.closed import Closed
from features.core.faults import Conflict, EmptySetting, RepeatedValue, WrongValue
from features.core.types import PairKind
from training.encoders.settings import TunedSettings
from training.loop.settings import LoopSettings
from training.types import Similarity

Preset = Literal["laptop", "paper", "released"]

_LEAST_STEPS = 16  # in an epoch of the map
_OF_MAP = ("map_epochs", "map_learning_rate")

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
        "facet_dimensions": 32,
        "map_epochs": 20,
        "consistency": 10.0,
        "dropout": False,
        "scale_learning_rate": 1e-2,
        "loop": _PAPER | {"epochs": 2, "learning_rate": 1e-3},
    },
    "paper": {"loop": _PAPER},
    "released": {
        "similarity": "manhattan",
        "targets": "minmax",
        "consistency": 25.0,
        "loop": _PAPER | {"epochs": 2, "learning_rate": 2e-5},
    },
}
"""`laptop`: a map, then layers, on two CPU cores; chosen on 13,825 pairs of STSb, SICK and MRPC with one negative each
(docs/results/s3bert.md). `paper`: the text of the paper (Opitz & Frank 2022, appendix A.1), for 1.5 million pairs.
`released`: the configuration in the authors' repository (consistency on cosines times 5, so 25 times the squared
error).
"""


_Share = Annotated[float, Field(gt=0, le=1)]


class Finish(Closed):
    """Further steps of the layers on other batches, after those of `loop`; what is not set stays as it was.

    What competes when learnt at once, facets of all corpora and exchanged arguments, is learnt one after the other
    (docs/results/study.md).

    Args:
        steps: number of steps.
        batch_size: pairs in a batch.
        learning_rate: peak rate, with warm-up and schedule like those of `loop`.
        layer_corpora: corpora of the batches.
        layer_shares: corpus → share of its pairs in an epoch.
        ordering: weight of the ordering objective.
        ordered_facets: facets to order.
    """

    steps: Annotated[int, Field(ge=1)]
    batch_size: Annotated[int, Field(ge=2)] | None = None
    learning_rate: Annotated[float, Field(gt=0)] | None = None
    layer_corpora: tuple[str, ...] | None = None
    layer_shares: Mapping[str, _Share] | None = None
    ordering: Annotated[float, Field(ge=0)] | None = None
    ordered_facets: tuple[str, ...] | None = None


class S3bertSettings(TunedSettings):
    """An S3BERT; its batch size counts pairs.

    Args:
        preset: default values of the other settings.
        teacher: embeddings whose cosines are preserved: the release's, if it has them (`store`), or always the start
            model's (`backbone`).
        facets: metrics that get a facet, in order; by default the built-in ones, then your own.
        facet_dimensions: dimensions of a facet: added to the backbone's embedding by the map, or without one a part of
            it.
        map_epochs: epochs of the map on stored embeddings; 0 for none, as where the backbone is an S3BERT.
        map_learning_rate: peak learning rate of the map.
        map_batch_size: pairs in a batch of the map, at most a sixteenth of the training pairs.
        similarity: similarity of a facet's two sub-vectors; `manhattan` is 1 - L1 distance.
        targets: values of the metrics as they are (`raw`), or min-max scaled over the training pairs.
        facet_weights: `variance` divides each facet's squared error by its metric's variance, so that rare structures
            count as much.
        alpha: weight of the decomposition objective.
        consistency: weight of the consistency objective.
        ordering: weight of the ordering objective while layers are tuned: a facet orders the positive pairs of a
            sentence as its metric does. It teaches exchanged arguments, with contrast pairs a third of `layer_corpora`;
            the dev loss leaves it out.
        ordered_facets: facets to order; all when empty. Leave out those whose metrics miss the difference.
        kinds: kinds of pairs to train on (`positive` are rows of a corpus); all when empty.
        pairs: number of training pairs, drawn at random; by default all.
        layer_corpora: corpora of the batches that tune layers; all when empty.
        layer_shares: corpus → share of its pairs in an epoch of the layers, by default 1.
        finish: further steps of the layers on other batches.
        share: share of the final weights in a mean with those before `finish`, else before the layers (WiSE-FT,
            Wortsman et al. 2022).
        layers_tuned: how many of the last layers to tune after the map, and with it; 0 for the map alone.
        scale_learning_rate: learning rate of the scales β; by default the loop's, except in the preset `laptop`.
    """

    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ("scale_learning_rate", *_OF_MAP)
    PRESETS: ClassVar[Mapping[Any, Mapping[str, Any]]] = PRESETS

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "s3bert"
    kind: Literal["s3bert"] = "s3bert"
    preset: Preset = "laptop"
    teacher: Literal["store", "backbone"] = "store"
    facets: tuple[str, ...] | None = None
    facet_dimensions: Annotated[int, Field(ge=1)] = 16
    map_epochs: Annotated[int, Field(ge=0)] = 0
    map_learning_rate: Annotated[float, Field(gt=0)] = 2e-3
    map_batch_size: Annotated[int, Field(ge=2)] = 1024
    similarity: Similarity = "cosine"
    targets: Literal["raw", "minmax"] = "raw"
    facet_weights: Literal["equal", "variance"] = "equal"
    alpha: Annotated[float, Field(ge=0)] = 1.0
    consistency: Annotated[float, Field(ge=0)] = 1.0
    ordering: Annotated[float, Field(ge=0)] = 0.0
    ordered_facets: tuple[str, ...] = ()
    kinds: tuple[PairKind, ...] = ()
    pairs: Annotated[int, Field(ge=1)] | None = None
    layer_corpora: tuple[str, ...] = ()
    layer_shares: Mapping[str, _Share] = {}
    finish: Finish | None = None
    share: _Share = 1.0
    layers_tuned: Annotated[int, Field(ge=0)] = 2
    scale_learning_rate: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.loop.batch_size < 2:
            raise WrongValue("loop.batch_size must be at least 2: consistency compares the sentences of a batch")
        if not self.layers_tuned and not self.map_epochs:
            raise WrongValue("nothing is trained with layers_tuned = 0 and map_epochs = 0: raise one of them")
        by_ordering = self.ordering and not self.map_epochs and (self.by_ratings or self.loop.keep == "last")
        if not (self.alpha or self.consistency or by_ordering):
            raise WrongValue("the losses of map and dev are 0 with alpha = 0 and consistency = 0: raise one of them")
        of_layers = {name: getattr(self, name) for name in ("ordering", "finish", "layer_corpora", "layer_shares")}
        for setting, given in {**of_layers, "share": self.share < 1}.items():
            if given and not self.layers_tuned:
                raise Conflict(f"{setting} needs tuned layers: raise layers_tuned, or leave {setting} out")
        last = self.finishing
        given_last = self.finish.ordered_facets if self.finish else None  # `finish` may end what is ordered before
        if (self.ordered_facets and not self.ordering) or (given_last and not last.ordering):
            raise Conflict("ordered_facets orders nothing without a weight: set ordering, such as ordering = 0.1")
        if self.search and (unsearched := "finish" if self.finish else "share" if self.share < 1 else ""):
            raise Conflict(
                f"search cannot be had with {unsearched}: search without it, and add {unsearched} to what was chosen"
            )
        searched = self.search.keys() - {"scale_learning_rate"}
        if unused := sorted(name for name in searched if (name in _OF_MAP) == bool(self.layers_tuned)):
            owner = "the map, which is learnt before the layers" if self.layers_tuned else "layers, and none is tuned"
            raise Conflict(f"search cannot vary {unused[0]!r} here: it belongs to {owner}")
        if self.facets is not None:
            if not self.facets:
                raise EmptySetting("facets must name a metric; leave the key out for all of them")
            if len(set(self.facets)) < len(self.facets):
                raise RepeatedValue(f"facets must differ from one another, got {self.facets!r}")
            if missing := {*self.ordered_facets, *last.ordered_facets}.difference(self.facets):
                raise Conflict(f"ordered_facets names {min(missing)!r}, which facets does not: add it there")
        return self

    @property
    def finishing(self) -> Self:
        """The settings of the last steps: these with those of `finish` in their place."""
        if self.finish is None:
            return self
        given = self.finish.model_dump(exclude_none=True)
        loop: dict[str, Any] = {
            name: given.pop(name) for name in ("steps", "batch_size", "learning_rate") if name in given
        }
        loop["epochs"] = loop["steps"]  # as many as the steps take
        return self.model_copy(update={"finish": None, **given, "loop": self.loop.model_copy(update=loop)})

    def map_loop(self, pairs: int) -> LoopSettings:
        """Return the settings of the loop in which the map is learnt; dev is looked at after every epoch."""
        size = max(2, min(self.map_batch_size, pairs // _LEAST_STEPS))
        own = {"epochs": self.map_epochs, "steps": None, "batch_size": size, "learning_rate": self.map_learning_rate}
        return self.loop.model_copy(update={**own, "accumulate": 1, "evaluate_every": None, "patience": None})

    def unknown_facets(self, metrics: Collection[str]) -> list[str]:
        """Return the facets, also those to order by, that are not among these metrics."""
        named = dict.fromkeys((*(self.facets or ()), *self.ordered_facets, *self.finishing.ordered_facets))
        return [name for name in named if name not in metrics]
