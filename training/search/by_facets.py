"""Search by facets: texts with the same roles and frames, but other names.

{"srl": 2, "frames": 1, "named_entities": -1}     score = (2 cos_srl + cos_frames - cos_named_entities) / 4
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from features.core.faults import CannotExplain, OutOfRange
from training.attribution import facet_dimensions
from training.encoders.s3bert.facets import FacetLayout
from training.nearest import find_nearest
from training.search.blocks import VectorBlocks


def facet_cosines(
    query: NDArray[np.float32], texts: VectorBlocks, layout: FacetLayout, names: Sequence[str]
) -> NDArray[np.float32]:
    """Return the similarity of a query, (1, d), and n texts in some facets: (n, n_names)."""
    if names and layout.similarity != "cosine":
        raise CannotExplain("this encoder compares facets by their L1 distance: search by the whole embedding")
    return np.stack([texts.cosines(query, facet_dimensions(layout, name)) for name in names], axis=1)


def weighted_scores(
    query: NDArray[np.float32], texts: VectorBlocks, layout: FacetLayout, weights: Mapping[str, float]
) -> NDArray[np.float32]:
    """Return the weighted mean of a query's, (1, d), similarities with n texts in some facets, (n,), in [-1, 1].

    Where the weight of a facet is negative, texts that differ in it come first.
    """
    total = sum(map(abs, weights.values()))
    if not total:
        raise OutOfRange("all weights are 0; give one that is not")
    scores = np.zeros(len(texts), np.float32)
    for name, weight in weights.items():  # one after the other: a million texts by all facets would be a large array
        scores += np.float32(weight / total) * facet_cosines(query, texts, layout, [name])[:, 0]
    return scores


def best_texts(scores: NDArray[np.float32], k: int) -> dict[int, float]:
    """Return position → score of the k texts with the highest scores, (n,), the best first; of equal ones the first."""
    nearest = find_nearest(lambda _: scores[None, :].copy(), queries=1, texts=len(scores), k=k)
    return dict(zip(nearest.positions[0].tolist(), nearest.similarities[0].tolist(), strict=True))
