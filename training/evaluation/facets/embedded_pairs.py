"""Measured pairs with their embeddings, which facets are scored on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Embeddings = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbeddedPairs:
    """Pairs with their metrics and the embeddings of two models.

    Args:
        encoder_left: sentences a by the encoder, (n_pairs, d).
        encoder_right: sentences b by the encoder.
        start_left: sentences a by the start model, (n_pairs, d).
        start_right: sentences b by the start model.
        metrics: (n_pairs, n_facets).
    """

    encoder_left: Embeddings
    encoder_right: Embeddings
    start_left: Embeddings
    start_right: Embeddings
    metrics: NDArray[np.float32]
