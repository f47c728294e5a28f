"""Classification scores on dev pairs, which choose the best model of kinds with a classifier."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from training.encoders.backbone import Backbone, Tokens
from training.encoders.pair_table import PairTable
from training.modules.pair_classifier import PairClassifier


@torch.no_grad()
def label_logits(
    backbone: Backbone, tokens: Tokens, dev: PairTable, classifier: PairClassifier
) -> tuple[Tensor, NDArray[np.int64]]:
    """Return the logits of pairs, (n_pairs, n_labels), and the numbers of their labels, (n_pairs,).

    Args:
        backbone: the encoder.
        tokens: all sentences.
        dev: the pairs, at least one.
        classifier: the classifier.
    """
    every = dev.batch(np.arange(len(dev), dtype=np.int64))
    texts, places = np.unique(every.sentences, return_inverse=True)
    embeddings = torch.from_numpy(backbone.embed_many(tokens, texts)).to(backbone.device)
    left, right = embeddings[torch.from_numpy(places).to(embeddings.device)].tensor_split(2)
    return classifier(left, right).float().cpu(), every.targets


def judge_labels(
    backbone: Backbone, tokens: Tokens, dev: PairTable, classifier: PairClassifier, *, positive: str
) -> dict[str, float]:
    """Return classification scores on dev pairs; empty if there are no pairs.

    Args:
        backbone: the encoder.
        tokens: all sentences.
        dev: the pairs.
        classifier: the classifier.
        positive: positive label of `f1` and `average_precision`.

    Returns:
        `loss` (cross-entropy), `accuracy`, and the scores of `tell_apart`.
    """
    if not len(dev):
        return {}
    logits, numbers = label_logits(backbone, tokens, dev, classifier)
    targets = torch.from_numpy(numbers)
    scores = {
        "loss": cross_entropy(logits, targets).item(),
        "accuracy": (logits.argmax(dim=1) == targets).float().mean().item(),
    }
    if positive not in classifier.labels:
        return scores
    number = classifier.labels.index(positive)
    return scores | tell_apart(numbers == number, logits.double().softmax(dim=1)[:, number].numpy())


def tell_apart(positive: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> dict[str, float]:
    """Return how well probabilities separate positive pairs from the others.

    Args:
        positive: whether each pair is positive, (n_pairs,).
        probabilities: probability of being positive, (n_pairs,).

    Returns:
        `f1` at the best threshold and `average_precision`, in [0, 1]; empty if all pairs are positive, or none is; NaN
        if a probability is.
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    if positive.all() or not positive.any():
        return {}
    if np.isnan(probabilities).any():
        return {"f1": np.nan, "average_precision": np.nan}
    precision, recall, _ = precision_recall_curve(positive, probabilities)
    f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(np.float64).tiny)
    return {"f1": float(f1.max()), "average_precision": float(average_precision_score(positive, probabilities))}
