"""What a user chooses about an encoder with predicate-argument spans."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from training.encoders.settings import JudgedSettings, Part
from training.loop.settings import LoopSettings


class PasSettings(JudgedSettings):
    """What is learnt from judged pairs, by which spans; a batch of its loop is so many pairs.

    Args:
        name: of the encoder.
        kind: this one.
        positive_label: what pairs that say the same are called: `1` in all corpora of paraphrases.
        classifier: what the classifier sees of the embeddings u and v of a pair. The usual parts are the same for a
            pair and the same pair swapped; with `u` and `v` the order counts.
        spans: `tagged` are those of the semantic roles; `random` has as many of as many words, drawn from the whole
            sentence, and `continuous` the same as runs of words, both by the seed of the loop: what these gain are not
            roles. `none` is the twin that shows what spans add: the same training and pooling.
        weights: of the spans of a sentence: `learnt` from their vectors; `by_role` from their roles as well; `equal`.
        pooled: whether the backbone's pooling stands beside the sum of the spans.
        harmed: share of the spans that are spoilt, to see what errors of the tagger cost, in [0, 1].
        harm: how: spans are `dropped`, or their arguments `moved` to another place.
        training_share: share of the training pairs that are learnt from, in (0, 1], by the seed of the loop; those of a
            smaller share are among those of a larger one.
        tagger: `model` under [srl], of the tagger that the finished encoder tags with, the one of the roles that it
            learns from; where that is a folder, its whole path needs to be given.
        tags: likewise `tags` under [srl], where it finds predicates by parts of speech.
        choose_by: what the best model is chosen by on the dev split: `average_precision` of the pairs with the positive
            label, their `f1` at the best threshold, or `loss`; or a set of ratings by its name.
        new_learning_rate: highest rate of what the backbone does not have: weights of spans, and classifier.
        loop: how long and how fast it learns, and where.
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "pas"
    kind: Literal["pas"] = "pas"
    positive_label: str = "1"
    classifier: Annotated[tuple[Part, ...], Field(min_length=1)] = ("|u-v|", "u*v")
    spans: Literal["tagged", "random", "continuous", "none"] = "tagged"
    weights: Literal["learnt", "equal", "by_role"] = "learnt"
    pooled: bool = True
    harmed: Annotated[float, Field(ge=0, le=1)] = 0.0
    harm: Literal["dropped", "moved"] = "dropped"
    training_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    tagger: str | None = None
    tags: str = "en_core_web_md"
    choose_by: str = "average_precision"
    loop: LoopSettings = LoopSettings(
        epochs=4, batch_size=16, learning_rate=2e-5, warmup=0.1, evaluate_every=500, patience=5
    )

    @property
    def unread(self) -> frozenset[str]:
        """The semantic roles, where there are no spans."""
        return frozenset({"srl"} if self.spans == "none" else ())

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.spans == "none":
            of_spans = ("weights", "pooled", "harmed", "harm", "tagger", "tags", "words_below")
            usual = {name: type(self).model_fields[name].default for name in of_spans}
            if given := [name for name in of_spans if getattr(self, name) != usual[name]]:
                raise ValueError(f'spans is "none", and {given[0]} is about spans: leave `{given[0]}` out')
        if self.harmed and self.spans != "tagged":
            raise ValueError(f"harmed spoils spans of the tagger, and spans is {self.spans!r}: leave `harmed` out")
        if len(self.labels) == 1:
            raise ValueError(f"labels names {self.labels[0]!r} alone: there is nothing to tell it apart from")
        if self.labels and self.positive_label not in self.labels:
            raise ValueError(f"positive_label {self.positive_label!r} is none of labels, {list(self.labels)!r}")
        return self
