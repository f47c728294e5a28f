"""User settings of evaluations and of the comparison of encoders."""

from typing import Annotated

from pydantic import Field

from features.core.closed import Closed
from training.types import Classifier


class PromotionSettings(Closed):
    """What a new encoder may lose against the current one, on the data of the new release, to take its place.

    Args:
        ratings: points (Spearman × 100) that each set of human ratings may lose.
        facets: points that the mean over the facets may lose.
        paraphrase: points (F1 × 100) that each set of judged pairs may lose.
        labels: points (accuracy × 100) that a classifier of more than two labels may lose on the pairs of each corpus.
        retrieval: points (MRR × 100) that retrieval may lose: in each aspect that the encoder was trained for, or in
            all together where it combines them.
    """

    ratings: Annotated[float, Field(ge=0)] = 1.0
    facets: Annotated[float, Field(ge=0)] = 2.0
    paraphrase: Annotated[float, Field(ge=0)] = 2.0
    labels: Annotated[float, Field(ge=0)] = 2.0
    retrieval: Annotated[float, Field(ge=0)] = 2.0


class TransferSettings(Closed):
    """How classifiers of texts and pairs under `[[evaluation]]` are trained on embeddings, as in SentEval.

    Args:
        classifiers: `mlp` has one hidden layer of 128 units, and takes a hundred times as much computation.
        folds: number of cross-validation folds, and of the nested folds that choose the penalty.
    """

    classifiers: Annotated[tuple[Classifier, ...], Field(min_length=1)] = ("logistic regression",)
    folds: Annotated[int, Field(ge=2)] = 10
