"""User settings of an encoder with predicate-argument spans."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from features.core.faults import UnknownName
from features.stages.srl import SRL_STAGE
from training.encoders.settings import PairSettings
from training.loop.settings import LoopSettings
from training.types import Drawn, Harm, Part, SpanWeights


class PasSettings(PairSettings):
    """An encoder with predicate-argument spans, trained on judged pairs; its batch size counts pairs.

    Args:
        positive_label: label of paraphrases. If no pair has the default, the only one of `paraphrase`, `duplicate`,
            `true` and `yes` that pairs have.
        spans: `tagged`: those of the semantic roles; `none`: the twin without spans. To compare with, by the loop's
            seed, as many spans of as many words: `random`, or `continuous` runs.
        weights: weights of a sentence's spans: `learnt` from their vectors, `by_role` from their roles too, or `equal`.
        pooled: whether the backbone's pooling is concatenated with the sum of the spans.
        harmed: share of the spans to corrupt, to measure what tagger errors cost.
        harm: kind of corruption: spans are `dropped`, or their arguments `moved`.
        training_share: share of the training pairs; larger shares include smaller ones.
        tagger: `model` under [srl] of the training roles, for the encoder; of a folder, the absolute path.
        tags: `tags` under [srl], if `predicates` there is `spacy`.
        choose_by: what chooses the best model on dev: `average_precision`, `f1` of the positive label at the best
            threshold, `loss`, or the name of a dev set under `[[evaluation]]`.
        new_learning_rate: peak learning rate of the weights of spans and of the classifier.
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")] = "pas"
    kind: Literal["pas"] = "pas"
    positive_label: str = "1"
    classifier: Annotated[tuple[Part, ...], Field(min_length=1)] = ("|u-v|", "u*v")
    spans: Literal[Drawn, "none"] = "tagged"
    weights: SpanWeights = "learnt"
    pooled: bool = True
    harmed: Annotated[float, Field(ge=0, le=1)] = 0.0
    harm: Harm = "dropped"
    training_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    tagger: str | None = None
    tags: str = "en_core_web_md"
    choose_by: str = "average_precision"
    loop: LoopSettings = LoopSettings(
        epochs=4, batch_size=16, learning_rate=2e-5, warmup=0.1, evaluate_every=500, patience=5
    )

    @property
    def unread(self) -> frozenset[str]:
        """The semantic roles, if there are no spans."""
        return frozenset({SRL_STAGE.name} if self.spans == "none" else ())

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.spans == "none":
            of_spans = "weights", "pooled", "harmed", "harm", "tagger", "tags", "words_below"
            self._refuse('spans is "none", and {} is a setting of spans', *of_spans)
        if self.spans != "tagged":
            self._refuse(f"harmed corrupts spans of the tagger, but spans is {self.spans!r}", "harmed")
        if not self.harmed:
            self._refuse("harmed is 0, so no span is corrupted as {} says", "harm")
        if self.labels and self.positive_among(self.labels) is None:
            raise UnknownName(f"labels, {list(self.labels)!r}, lack {self._positive_in_words}: set it to one of them")
        return self
