"""Whether probabilities are calibrated: compared with scikit-learn's curve, and for overconfident ones."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from training.evaluation.measures import reliability


def test_probabilities_are_true_where_they_are_the_shares():
    random = np.random.default_rng(0)
    said = random.uniform(size=100_000)
    so = random.uniform(size=100_000) < said
    assert reliability(so, said)["error"] < 0.005
    too_sure = reliability(so, np.where(said > 0.5, 1.0, 0.0))
    assert too_sure["error"] == pytest.approx(0.25, abs=0.005)
    assert [each["said"] for each in too_sure["bins"]] == [0, 1]
    true, _ = calibration_curve(so, said, n_bins=10)
    assert [each["so"] for each in reliability(so, said)["bins"]] == pytest.approx(true.tolist(), abs=2e-3)


def test_a_certain_pair_is_in_the_bin_of_the_surest():
    assert reliability(np.array([True, True, False]), np.array([1.0, 0.9, 0.9]))["bins"] == [
        {"said": pytest.approx(2.8 / 3), "so": pytest.approx(2 / 3), "pairs": 3}
    ]
