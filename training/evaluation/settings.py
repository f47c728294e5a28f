"""User settings of evaluations and of the comparison of encoders."""

from typing import Annotated

from pydantic import Field

from features.core.closed import Closed
from training.types import Classifier


class PromotionSettings(Closed):
    """What a new encoder may lose against the current one, in points on the new release's data, to take its place.

    Args:
        ratings: loss allowed on each set of human ratings (Spearman × 100).
        facets: loss allowed of the mean over the facets.
        paraphrase: loss allowed on each set of judged pairs (F1 × 100).
        labels: loss allowed of a classifier of more than two labels, on the pairs of each corpus (accuracy × 100).
        retrieval: loss allowed of retrieval (MRR × 100), in each aspect of the encoder, or in all together where it
            combines them.
    """

    ratings: Annotated[float, Field(ge=0)] = 1.0
    facets: Annotated[float, Field(ge=0)] = 2.0
    paraphrase: Annotated[float, Field(ge=0)] = 2.0
    labels: Annotated[float, Field(ge=0)] = 2.0
    retrieval: Annotated[float, Field(ge=0)] = 2.0


class TransferSettings(Closed):
    """How classifiers of `[[evaluation]]` are trained on embeddings, as in SentEval.

    Args:
        classifiers: `mlp` has one hidden layer of 128 units, and takes a hundred times as much computation.
        folds: cross-validation folds, and nested folds that choose the penalty.
    """

    classifiers: Annotated[tuple[Classifier, ...], Field(min_length=1)] = ("logistic regression",)
    folds: Annotated[int, Field(ge=2)] = 10
