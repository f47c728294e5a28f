"""Calibration of probabilities: what is recovered, what stays, and when nothing is fitted."""

from dataclasses import asdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sentences import refused
from sklearn.linear_model import LogisticRegression

from features.core.faults import EncoderDamaged
from training.modules.calibration import Calibration, calibrate
from training.modules.pair_classifier import SETTINGS_FILE, PairClassifier


def draw(pairs, labels, seed=0, spread=2.0):
    """Return logits, and labels drawn from their softmax."""
    random = np.random.default_rng(seed)
    logits = spread * random.normal(size=(pairs, labels))
    chosen = random.uniform(size=(pairs, 1)) > softmax(logits, axis=1).cumsum(axis=1)
    return logits, np.minimum(chosen.sum(axis=1), labels - 1)


@settings(max_examples=15, deadline=None)
@given(
    labels=st.integers(2, 4),
    temperature=st.floats(0.2, 5.0),
    biases=st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4),
    seed=st.integers(0, 2**20),
)
def test_the_temperature_and_the_biases_that_were_lost_are_found_again(labels, temperature, biases, seed):
    logits, targets = draw(20_000, labels, seed)
    lost = np.array(biases[:labels])
    found = calibrate((logits - lost) * temperature, targets)
    assert found.temperature == pytest.approx(temperature, rel=0.1)
    assert found.biases == pytest.approx(lost - lost.mean(), abs=0.15)
    assert found.loss <= found.loss_before + 1e-4


def test_of_two_labels_it_is_the_logistic_regression_of_the_difference_of_the_logits():
    logits, targets = draw(3000, 2, spread=4.0)
    found = calibrate(3 * logits + [0.0, 1.0], targets)
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit((3 * logits + [0.0, 1.0]) @ [[-1.0], [1.0]], targets)
    assert 1 / found.temperature == pytest.approx(peer.coef_.item(), rel=3e-2)  # which takes labels as quite sure
    assert found.biases[1] - found.biases[0] == pytest.approx(peer.intercept_.item(), abs=3e-2)


def test_of_three_labels_it_has_the_least_cross_entropy_to_platts_targets():
    logits, targets = draw(60, 3)
    found, counts = calibrate(logits, targets), np.bincount(targets)
    wanted = np.where(np.eye(3)[targets] == 1, (counts + 1) / (counts + 2), (1 / (counts + 2))[targets][:, None] / 2)
    wrong = softmax(logits / found.temperature + found.biases, axis=1) - wanted
    assert [*wrong.mean(axis=0), (wrong * logits).mean()] == pytest.approx([0] * 4, abs=1e-4)  # its gradient is 0


def test_with_two_labels_the_order_stays():
    logits, targets = draw(500, 2)
    found = calibrate(7 * logits, targets)
    before = 7 * (logits[:, 1] - logits[:, 0])
    after = softmax(7 * logits / found.temperature + found.biases, axis=1)[:, 1]
    assert np.array_equal(np.argsort(before, kind="stable"), np.argsort(after, kind="stable"))


def test_a_classifier_that_knows_nothing_is_doubted_and_one_that_knows_a_little_is_not():
    doubted = 0
    for seed in range(60):
        _, targets = draw(200, 2, seed)
        noise = 3 * np.random.default_rng(1000 + seed).normal(size=(200, 2))
        doubted += bool(calibrate(noise, targets).doubt)
        logits, targets = draw(200, 2, seed, spread=1.0)
        assert not calibrate(logits, targets).doubt
    assert doubted >= 54  # 95 % of them, and all whose logits point the wrong way
    logits, targets = draw(200, 2)
    assert calibrate(-logits, targets).doubt.startswith(
        "On the 200 dev pairs that calibrated it, the classifier is not "
    )
    recorded = asdict(calibrate(-logits, targets))
    assert Calibration(**{name: value for name, value in recorded.items() if name != "loss_of_shares"}).doubt == ""


@pytest.mark.parametrize("told", [np.zeros(2), np.array([1.0, -1.0]), np.array([1e6, -1e6])], ids=str)
def test_a_classifier_that_tells_nothing_says_how_many_there_are(told):
    targets = np.repeat([0, 1], [90, 30])
    found = calibrate(np.tile(told, (120, 1)), targets)
    assert softmax(told / found.temperature + found.biases) == pytest.approx([0.75, 0.25], abs=0.01)


def test_one_that_tells_everything_or_the_opposite_stays_finite():
    targets = np.repeat([0, 1], 60)
    right = np.stack([1.0 - targets, targets], axis=1)
    for logits in (right, -right, 1e9 * right, 1e-9 * right):
        found = calibrate(logits, targets)
        assert np.isfinite([found.temperature, *found.biases, found.loss]).all()
        assert found.temperature > 0
    assert softmax(right[0] / calibrate(right, targets).temperature).max() < 1  # some dev pairs are not all there are


@pytest.mark.parametrize("counts", [(25, 24), (60, 9), (60, 0), (0, 0)], ids=str)
def test_few_pairs_teach_nothing(counts):
    assert calibrate(np.zeros((sum(counts), 2)), np.repeat([0, 1], counts)) is None


def test_a_classifier_says_what_was_put_right_and_comes_back_so(tmp_path):
    torch.manual_seed(0)
    classifier = PairClassifier(4, ("no", "yes", "perhaps"))
    left, right = torch.randn(2, 50, 4)
    logits = classifier(left, right).detach().double()
    classifier.calibration = Calibration(2.5, (0.5, -1.0, 0.5), 120, 1.0, 0.8)
    expected = softmax(logits.numpy() / 2.5 + [0.5, -1.0, 0.5], axis=1)
    assert classifier.probabilities(left.numpy(), right.numpy()) == pytest.approx(expected, abs=1e-6)
    two = classifier.probabilities(left.numpy(), right.numpy(), ("perhaps", "no"))
    assert two == pytest.approx(expected[:, [2, 0]] / expected[:, [2, 0]].sum(axis=1, keepdims=True), abs=1e-6)
    classifier.save(tmp_path)
    assert PairClassifier.load(tmp_path).calibration == classifier.calibration


@pytest.mark.parametrize(
    "wrong",
    ['"temperature": 0.0', '"temperature": NaN', '"biases": [1.0]', '"pairs": 120, "more": 1', '"temperature": "x"'],
)
def test_a_damaged_calibration_is_one_sentence(tmp_path, wrong):
    classifier = PairClassifier(4, ("no", "yes"))
    classifier.calibration = Calibration(2.5, (0.5, -0.5), 120, 1.0, 0.8)
    classifier.save(tmp_path)
    file = tmp_path / SETTINGS_FILE
    name = wrong.partition(":")[0]
    file.write_text("\n".join(f"{wrong}," if name in line else line for line in _in_lines(file.read_text())))
    with refused(EncoderDamaged):
        PairClassifier.load(tmp_path)


def _in_lines(text):
    """Return JSON with the list of biases in one line."""
    return text.replace("[\n      0.5,\n      -0.5\n    ]", "[0.5, -0.5]").splitlines()
