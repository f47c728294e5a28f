"""User settings of an encoder with dependency trees."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from features.core.faults import Conflict, UnknownName, WrongValue
from features.stages.dependencies import DEPENDENCY_STAGE
from training.encoders.settings import BY_POSITIVE, PairSettings
from training.loop.settings import LoopSettings
from training.types import USUAL_PARTS, Direction, Part


class RgcnSettings(PairSettings):
    """An encoder with dependency trees, trained on judged pairs; its batch size counts pairs.

    Args:
        objective: `softmax` predicts the label of a pair; `multiple_negatives` separates the entailed sentence from
            others of the batch; `distillation` preserves the start model's similarities, whatever the labels.
        graph: `false` is the twin without a graph, which shows what the graph adds.
        direction: direction of the tree edges: `down` from heads to dependents, `up`, or both.
        relations: `all` gives each label its own matrices; `one` shares them.
        trees: `random` draws trees by the seed of the loop: a gain from these is not due to syntax.
        graph_layers: number of convolutions; 0 takes the mean of the words.
        width: width of the nodes.
        bases: bases that the relation matrices are mixed from; `full`: a matrix for each relation.
        graph_dropout: share of the nodes' values dropped in training.
        labels: classes of `softmax`, or labels whose pairs `distillation` uses; all when empty.
        positive_label: label of pairs whose sentence b is a positive of a. If no pair has the default, the only one of
            `1`, `paraphrase`, `duplicate`, `true` and `yes` that pairs have.
        negative_label: label of pairs whose sentence b is a hard negative of a; has to occur if set.
        temperature: temperature τ of `multiple_negatives`.
        choose_by: what chooses the best model on dev: `loss`; with `softmax` also `average_precision`, or `f1` of the
            positive label at the best threshold; or the name of a dev set under `[[evaluation]]`.
        parser: spaCy pipeline of the training trees and of the encoder: a known model or an absolute path; required if
            not known.
        new_learning_rate: peak learning rate of graph, LayerNorm and classifier.
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "rgcn"
    kind: Literal["rgcn"] = "rgcn"
    objective: Literal["softmax", "multiple_negatives", "distillation"] = "softmax"
    graph: bool = True
    direction: Direction = "both"
    relations: Literal["all", "one"] = "all"
    trees: Literal["parsed", "random"] = "parsed"
    graph_layers: Annotated[int, Field(ge=0, le=2)] = 1
    width: Annotated[int, Field(ge=1)] = 256
    bases: Annotated[int, Field(ge=1)] | Literal["full"] = 8
    graph_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    classifier: Annotated[tuple[Part, ...], Field(min_length=1)] = USUAL_PARTS
    positive_label: str = "entailment"
    negative_label: str = "contradiction"
    temperature: Annotated[float, Field(gt=0)] = 0.05
    parser: str | None = None
    loop: LoopSettings = LoopSettings(epochs=1, batch_size=16, learning_rate=2e-5, warmup=0.1, evaluate_every=1000)

    @property
    def unread(self) -> frozenset[str]:
        """The dependency trees, if there is no graph."""
        return frozenset(() if self.graph else {DEPENDENCY_STAGE.name})

    @property
    def classifies(self) -> bool:
        """Whether the objective is that of a classifier."""
        return self.objective == "softmax"

    @property
    def hard_label(self) -> str | None:
        """The `negative_label`, if the objective compares with it."""
        return self.negative_label if self.objective == "multiple_negatives" else None

    @property
    def learnt_labels(self) -> tuple[str, ...]:
        """The labels that the objective compares, or classifies."""
        return self.labels if self.hard_label is None else (self.positive_label, self.hard_label)

    def with_labels(self, counts: Mapping[str, int]) -> Self:
        """Return the settings with the labels filled in that the objective needs."""
        if self.objective == "multiple_negatives":
            positive = self._positive(counts)
            # The usual one is of inference pairs: pairs of another kind need not have it.
            if self.negative_label not in (*counts, type(self).model_fields["negative_label"].default):
                others = ", ".join(label for label in counts if label != positive)
                raise UnknownName(
                    f"`negative_label` of the encoder {self.name!r} is {self.negative_label!r}, which no training pair "
                    f"has; {f'name one of: {others}, or ' if others else ''}leave it out."
                )
            if self.negative_label == positive:
                raise Conflict(f"`negative_label` of the encoder {self.name!r} is {positive!r}, the positive one.")
            return self.model_copy(update={"positive_label": positive})
        if self.objective == "distillation":
            self._check_labels(counts)
            return self
        remedy = f"Set another `objective` for the encoder {self.name!r}, or add pairs with other labels."
        labels = self._classes(counts, remedy)
        positive = self._positive(labels) if self.choose_by in BY_POSITIVE else self.positive_label
        return self.model_copy(update={"labels": labels, "positive_label": positive})

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.graph:
            of_graph = (
                *("direction", "relations", "trees", "graph_layers", "width", "bases", "graph_dropout", "parser"),
                "words_below",
            )
            self._refuse("graph is false, and {} is a setting of the graph", *of_graph)
        if not self.graph_layers:
            of_layers = "trees", "relations", "direction", "bases", "graph_dropout"
            self._refuse("graph_layers is 0, and {} is a setting of its layers", *of_layers)
        if self.objective == "distillation":
            self._refuse("distillation learns the similarities of the whole start model", "layers")
        if self.objective != "multiple_negatives":
            why = f'{{}} is a setting of the objective "multiple_negatives", but the objective is "{self.objective}"'
            self._refuse(why, "temperature", "negative_label")
        if self.objective == "multiple_negatives":
            own = "`positive_label` and `negative_label`"
            self._refuse(f'objective "multiple_negatives" trains on the pairs of {own}', "labels")
            if self.positive_label == self.negative_label:
                raise Conflict(f"positive_label and negative_label are both {self.positive_label!r}")
        if not self.classifies and self.loop.batch_size < 2:
            raise WrongValue("loop.batch_size must be at least 2: sentences of a batch are compared with each other")
        return self

    @model_validator(mode="after")
    def _check_classifier(self) -> Self:
        if not self.classifies:
            self._refuse(f"objective {self.objective!r} has no classifier", "classifier")
            if self.choose_by in BY_POSITIVE:
                raise Conflict(f'choose_by = "{self.choose_by}" needs a classifier: set objective = "softmax"')
        elif self.choose_by in BY_POSITIVE and self.labels and self.positive_among(self.labels) is None:
            raise UnknownName(f"labels, {list(self.labels)!r}, lack {self._positive_in_words}: set it to one of them")
        return self
