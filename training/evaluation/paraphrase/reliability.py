"""Are probabilities calibrated: of the pairs with a predicted probability of p, is a share of p paraphrases?

said    mean probability of the pairs in a bin   ┐
so      share of them that are paraphrases       ├─ a point of the curve, the diagonal where calibration is perfect
pairs   number of pairs                          ┘
error   mean of |said - so| over all pairs: expected calibration error (Naeini et al. 2015), of the positive label
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 10
"""Number of bins of equal width over [0, 1]."""


def reliability(positive: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> dict[str, Any]:
    """Return how well probabilities are calibrated, as JSON: `error`, `said`, `so` and `bins`.

    Args:
        positive: whether each pair is positive, (n_pairs,); at least one pair.
        probabilities: probability that it is, (n_pairs,), in [0, 1].

    Returns:
        `error`, the mean probability `said` and the share `so` of all pairs, in [0, 1]; and `said`, `so` and `pairs` of
        each bin that has pairs.
    """
    places = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(places, minlength=BINS)
    said, so = (np.bincount(places, weights=of, minlength=BINS) for of in (probabilities, positive.astype(np.float64)))
    filled = np.flatnonzero(counts)
    return {
        "error": float(np.abs(said - so).sum() / len(positive)),
        "said": float(probabilities.mean()),
        "so": float(positive.mean()),
        "bins": [
            {"said": float(said[at] / counts[at]), "so": float(so[at] / counts[at]), "pairs": int(counts[at])}
            for at in filled
        ],
    }
