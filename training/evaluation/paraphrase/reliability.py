"""Are probabilities true: of the pairs that are said to be paraphrases with p, is a share of p?

said    mean probability of the pairs in a bin   ┐
so      share of them that are paraphrases       ├─ a point of the curve, which is the diagonal where all is true
pairs   how many there are                       ┘
error   mean of |said - so| over all pairs: expected calibration error (Naeini et al. 2015), of the positive label
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 10
"""Of equal width, over [0, 1]."""


def reliability(positive: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> dict[str, Any]:
    """Return how true probabilities are, as JSON: `error`, `said`, `so` and `bins`.

    Args:
        positive: whether each pair is, (n_pairs,); there are some.
        probabilities: that it is, (n_pairs,), in [0, 1].

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
