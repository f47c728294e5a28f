"""What a user chooses about an encoder with dependency trees inside."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from training.encoders.settings import BY_POSITIVE, USUAL_PARTS, JudgedSettings, Part
from training.loop.settings import LoopSettings


class RgcnSettings(JudgedSettings):
    """What is learnt from judged pairs, by which graph; a batch of its loop is so many pairs.

    Args:
        name: of the encoder.
        kind: this one.
        objective: `softmax` tells the label of a pair by a classifier over [u; v; |u-v|]; `multiple_negatives` tells
            what a sentence entails from other sentences of the batch and from what contradicts it; `distillation` keeps
            the similarities of the start model, and looks at no label.
        graph: whether there is one. Without, the encoder is the twin that shows what the graph adds: the same training,
            the same pooling, and LayerNorm.
        direction: of the edges of trees: `down` from heads to dependents, `up` the other way, or both.
        relations: `all` gives each label matrices of its own, `one` gives all labels the same.
        trees: `parsed`, or `random` in their place, by the seed of the loop: what these gain is not syntax.
        graph_layers: convolutions; 0 takes the mean of the words as they are.
        width: of the nodes.
        bases: that the matrices of relations are mixed of, or `full` for a matrix of its own for each.
        graph_dropout: share of the nodes' values that are dropped in training.
        labels: that `softmax` tells apart, and of the pairs that `distillation` takes; all that occur when empty.
        classifier: what the classifier of `softmax` sees of the embeddings u and v of a pair; with `u` and `v` their
            order counts.
        positive_label: of pairs whose sentence b is a positive of a, for `multiple_negatives`, and of those that `f1`
            and `average_precision` are about.
        negative_label: of pairs whose sentence b is a hard negative of a; one that is named has to occur.
        temperature: of `multiple_negatives` (τ).
        choose_by: what the best model is chosen by: the `loss` on the dev split, with `softmax` also the
            `average_precision` of its pairs with the positive label or their `f1` at the best threshold; or, by its
            name, a set of split `dev` under `[[evaluation]]`.
        parser: name, or whole path of the folder, of the spaCy pipeline that the finished encoder parses with, the one
            of the trees that it learns from; needs to be given where that is no known model.
        new_learning_rate: highest rate of what the backbone does not have: graph, LayerNorm and classifier.
        loop: how long and how fast it learns, and where.
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "rgcn"
    kind: Literal["rgcn"] = "rgcn"
    objective: Literal["softmax", "multiple_negatives", "distillation"] = "softmax"
    graph: bool = True
    direction: Literal["both", "down", "up"] = "both"
    relations: Literal["all", "one"] = "all"
    trees: Literal["parsed", "random"] = "parsed"
    graph_layers: Annotated[int, Field(ge=0, le=2)] = 1
    width: Annotated[int, Field(ge=1)] = 256
    bases: Annotated[int, Field(ge=1)] | Literal["full"] = 8
    graph_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    # Left out where it is the usual one, so that a run of the version before is still known by its settings.
    classifier: Annotated[tuple[Part, ...], Field(min_length=1, exclude_if=lambda parts: parts == USUAL_PARTS)] = (
        USUAL_PARTS
    )
    positive_label: str = "entailment"
    negative_label: str = "contradiction"
    temperature: Annotated[float, Field(gt=0)] = 0.05
    parser: str | None = None
    loop: LoopSettings = LoopSettings(epochs=1, batch_size=16, learning_rate=2e-5, warmup=0.1, evaluate_every=1000)

    @property
    def unread(self) -> frozenset[str]:
        """The dependency trees, where there is no graph."""
        return frozenset(() if self.graph else {"dependencies"})

    def _changed(self, *names: str) -> list[str]:
        """Return which settings are not the usual ones: a job names all of them, so that being named says nothing."""
        return [name for name in names if getattr(self, name) != type(self).model_fields[name].default]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.graph:
            of_graph = (
                *("direction", "relations", "trees", "graph_layers", "width", "bases", "graph_dropout", "parser"),
                "words_below",
            )
            if given := self._changed(*of_graph):
                raise ValueError(f"graph is false, and {given[0]} is about the graph: leave `{given[0]}` out")
        if not self.graph_layers and (given := self._changed("trees", "relations", "direction")):
            raise ValueError(
                f"graph_layers is 0, and {given[0]} is about the edges, which no layer reads: leave `{given[0]}` out"
            )
        if self.objective != "multiple_negatives" and (given := self._changed("temperature", "negative_label")):
            raise ValueError(
                f'{given[0]} is of the objective "multiple_negatives", and the objective is "{self.objective}": leave '
                f"`{given[0]}` out"
            )
        if self.objective == "softmax" and len(self.labels) == 1:
            raise ValueError(f"labels names {self.labels[0]!r} alone: there is nothing to tell it apart from")
        if self.objective == "multiple_negatives":
            if self.labels:
                raise ValueError(
                    'objective "multiple_negatives" learns from the pairs of `positive_label` and `negative_label`: '
                    "leave `labels` out"
                )
            if self.positive_label == self.negative_label:
                raise ValueError(f"positive_label and negative_label are both {self.positive_label!r}")
        if self.objective != "softmax" and self.loop.batch_size < 2:
            raise ValueError("loop.batch_size must be at least 2: sentences of a batch are compared with each other")
        return self

    @model_validator(mode="after")
    def _check_classifier(self) -> Self:
        if self.objective != "softmax":
            if self.classifier != USUAL_PARTS:
                raise ValueError(f"objective {self.objective!r} has no classifier: leave `classifier` out")
            if self.choose_by in BY_POSITIVE:
                raise ValueError(f'choose_by = "{self.choose_by}" needs a classifier: take the objective "softmax"')
        elif self.choose_by in BY_POSITIVE and self.labels and self.positive_label not in self.labels:
            raise ValueError(f"positive_label {self.positive_label!r} is none of labels, {list(self.labels)!r}")
        return self
