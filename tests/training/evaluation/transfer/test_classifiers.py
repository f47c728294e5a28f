"""SentEval's classifiers: each as PyTorch would train it alone, and as good as scikit-learn's."""

import numpy as np
import pytest
import torch
from sentences import refused
from sklearn.linear_model import LogisticRegression

from features.core.faults import TooFewTexts
from features.corpora.classified import ClassTask
from training.evaluation.transfer import classifiers
from training.evaluation.transfer.classifiers import (
    BATCH,
    MOST_PASSES,
    PASSES,
    PATIENCE,
    PENALTIES,
    RATE,
    SEED,
    Fold,
    Learner,
    draw_dev,
)
from training.evaluation.transfer.suite import _features, require_enough


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Train with larger and fewer steps than SentEval does."""
    monkeypatch.setattr(classifiers, "RATE", 1e-2)
    monkeypatch.setattr(classifiers, "MOST_PASSES", 16)


def make_data(count=400, *, noise=0.0, classes=2, margin=0.0, seed=0):
    """Return features of unit length (n, 12) and classes (n,) of a linear rule, without rows near its borders."""
    random = np.random.default_rng(seed)
    features = random.standard_normal((count, 12)).astype(np.float32)
    rule = random.standard_normal((12, classes))
    scores = features @ rule + noise * random.standard_normal((count, classes))
    clear = np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0] >= margin
    features, found = features[clear], scores[clear].argmax(axis=1)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return torch.from_numpy(features), torch.from_numpy(found)


def train_alone(features, labels, fold, penalty, *, hidden, rows=None, size=BATCH):
    """Train one classifier as SentEval's `PyTorchClassifier` does; return its accuracy on dev and its weights.

    Batches are of its own rows, or of `rows`, of which it sees its own.
    """
    rows = fold.learn if rows is None else rows
    torch.manual_seed(SEED)
    first = torch.nn.Linear(features.shape[1], hidden or 2)
    model = torch.nn.Sequential(first, torch.nn.Sigmoid(), torch.nn.Linear(hidden, 2)) if hidden else first
    optimizer = torch.optim.Adam(model.parameters(), lr=classifiers.RATE, weight_decay=penalty)
    random = np.random.RandomState(SEED)
    best, kept, failures, passes = -1.0, None, 0, 0
    stop = False
    while not stop and passes <= classifiers.MOST_PASSES:
        for _ in range(PASSES):
            order = torch.from_numpy(rows[random.permutation(len(rows))])
            for drawn in order.split(size):
                batch = drawn[torch.isin(drawn, torch.from_numpy(fold.learn))]
                loss = torch.nn.functional.cross_entropy(model(features[batch]), labels[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        passes += PASSES
        with torch.no_grad():
            accuracy = float((model(features[fold.dev]).argmax(1) == labels[fold.dev]).double().mean())
        if accuracy > best:
            best, kept = accuracy, [each.detach().clone() for each in model.parameters()]
        else:
            stop = failures >= classifiers.PATIENCE
            failures += 1
    return best, kept


@pytest.mark.parametrize("hidden", [0, 8])
def test_a_classifier_is_the_one_that_would_be_trained_alone(hidden):
    features, labels = make_data(200, noise=1.0)
    fold = Fold(np.arange(150), np.arange(150, 200))
    found = Learner(features, labels.numpy(), hidden, "x").fit([fold], np.array([PENALTIES]))
    for place, penalty in enumerate(PENALTIES):
        accuracy, weights = train_alone(features, labels, fold, penalty, hidden=hidden)
        assert found.accuracy[0, place] == pytest.approx(accuracy)
        for mine, alone in zip(found.weights, weights, strict=True):
            torch.testing.assert_close(mine[place], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("noise", [0.0, 1.5], ids=["separable", "noisy"])
@pytest.mark.parametrize("classes", [2, 4])
def test_accuracy_is_that_of_scikit_learns_logistic_regression(noise, classes, monkeypatch):
    monkeypatch.setattr(classifiers, "MOST_PASSES", 120)
    monkeypatch.setattr(classifiers, "PATIENCE", 30)
    features, labels = make_data(1200, noise=noise, classes=classes, margin=0.0 if noise else 1.5)
    learn, dev, test = np.array_split(np.arange(len(labels)), 3)
    said = Learner(features, labels.numpy(), 0, "x").predict([learn, dev, test], 2).classes
    theirs = LogisticRegression(C=100, max_iter=1000).fit(features[learn], labels[learn]).predict(features[test])
    known = labels[test].numpy()
    assert np.mean(said == known) == pytest.approx(np.mean(theirs == known), abs=0.05)
    assert np.mean(said == known) > (0.95 if not noise else 1.5 / classes)


@pytest.mark.parametrize("hidden", [0, 8])
def test_classifiers_that_learn_together_do_not_see_what_their_fold_does_not_hold(hidden):
    features, labels = make_data(120, noise=1.0)
    folds = [Fold(np.arange(80), np.arange(80, 100)), Fold(np.arange(20, 100), np.arange(20))]
    penalties = np.tile(PENALTIES[:2], (2, 1))
    before = Learner(features, labels.numpy(), hidden, "x").fit(folds, penalties)
    others = features.clone()
    others[80:] = 9.0  # neither train nor dev of the first fold, except rows 80 to 99
    others[80:100] = features[80:100]
    others[100:] = torch.nan
    assert torch.equal(Learner(others, labels.numpy(), hidden, "x").fit(folds, penalties).weights[0], before.weights[0])
    # What only the second fold learns from changes the second and leaves the first.
    swapped = labels.clone()
    swapped[80:100] = 1 - swapped[80:100]
    changed = Learner(features, swapped.numpy(), 0, "x").fit(
        [Fold(folds[0].learn, folds[0].learn), folds[1]], penalties
    )
    same = Learner(features, labels.numpy(), 0, "x").fit([Fold(folds[0].learn, folds[0].learn), folds[1]], penalties)
    assert torch.equal(changed.weights[0][:2], same.weights[0][:2])
    assert not torch.equal(changed.weights[0][2:], same.weights[0][2:])


@pytest.mark.parametrize(("hidden", "classes"), [(0, 2), (0, 3), (8, 3)])
def test_the_size_of_a_block_changes_no_classifier(hidden, classes, monkeypatch):
    features, labels = make_data(120, noise=1.0, classes=classes)
    folds = Learner(features, labels.numpy(), hidden, "x")._folds(np.arange(120), 5)
    penalties = np.tile(PENALTIES, (5, 1))
    together = Learner(features, labels.numpy(), hidden, "x").fit(folds, penalties)
    monkeypatch.setattr(classifiers, "_TOGETHER", 1)  # a fold a block
    apart = Learner(features, labels.numpy(), hidden, "x").fit(folds, penalties)
    assert apart.accuracy.tolist() == together.accuracy.tolist()
    for mine, other in zip(apart.weights, together.weights, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)


def test_an_item_is_never_scored_by_a_classifier_that_has_seen_its_class():
    features, labels = make_data(100, noise=0.5)
    wanted = Learner(features, labels.numpy(), 0, "x").predict([np.arange(100)], 3)
    assert wanted.rows.tolist() == list(range(100))
    assert len(wanted.penalties) == 3
    outer = Learner(features, labels.numpy(), 0, "x")._folds(np.arange(100), 3)[0]
    # Classes of one test fold are turned round, and its classifiers must not notice; the folds are kept as they were.
    turned = labels.numpy().copy()
    turned[outer.dev] = 1 - turned[outer.dev]

    class SameFolds(Learner):
        def _folds(self, rows, folds):
            return Learner(self.features, labels.numpy(), 0, "x")._folds(rows, folds)

    found = SameFolds(features, turned, 0, "x").predict([np.arange(100)], 3)
    assert found.classes[outer.dev].tolist() == wanted.classes[outer.dev].tolist()
    assert found.penalties[0] == wanted.penalties[0]
    assert found.classes.tolist() != wanted.classes.tolist()  # the other folds did learn from it


def test_dev_chooses_the_penalty_where_there_is_one():
    features, labels = make_data(300, noise=0.5)
    parts = [np.arange(200), np.arange(200, 250), np.arange(250, 300)]
    found = Learner(features, labels.numpy(), 0, "x").predict(parts, 10)
    assert found.rows.tolist() == list(range(250, 300))
    by_dev = (
        Learner(features, labels.numpy(), 0, "x").fit([Fold(parts[0], parts[1])], np.array([PENALTIES])).accuracy[0]
    )
    assert found.penalties == (PENALTIES[int(by_dev.round(4).argmax())],)


def test_the_same_data_give_the_same_numbers():
    features, labels = make_data(150, noise=1.0, classes=3)
    first, second = (Learner(features, labels.numpy(), 4, "x").predict([np.arange(150)], 3) for _ in range(2))
    assert first.classes.tolist() == second.classes.tolist()
    assert first.penalties == second.penalties


def test_dev_is_drawn_apart_and_holds_one_row_at_least():
    for count in (2, 5, 30, 100):
        fold = draw_dev(np.arange(count) + 7)
        assert len(fold.dev) == max(1, count // 20)
        assert sorted([*fold.learn, *fold.dev]) == list(range(7, count + 7))


@pytest.mark.parametrize(("count", "folds", "fits"), [(12, 10, True), (11, 10, False), (1, 2, False)])
def test_a_task_that_is_too_small_for_its_folds_says_so(count, folds, fits):
    task = ClassTask("mine", ("x",) * 2 * count, None, ("a", "b") * count, ("test",) * 2 * count)
    if fits:
        require_enough(task, folds)
    else:
        with refused(TooFewTexts):
            require_enough(task, folds)


def test_a_task_whose_penalty_dev_chooses_needs_no_folds():
    require_enough(ClassTask("mine", ("x",) * 3, None, ("a", "b", "a"), ("train", "dev", "test")), 10)


def test_features_of_pairs_are_the_difference_and_the_product_of_their_embeddings():
    task = ClassTask("mine", ("1", "2"), ("4", "8"), ("a", "b"), ("test", "test"))
    found = _features(task, lambda texts: np.array([[float(text)] for text in texts], np.float32))
    assert found.tolist() == [[3, 4], [6, 16]]


def test_settings_are_those_of_senteval():
    """Of its `ValidationClassifier` and `PyTorchClassifier`, as its examples for results in papers set them."""
    assert (PENALTIES, BATCH, PASSES, PATIENCE, SEED) == ((1e-5, 1e-4, 1e-3, 1e-2), 64, 4, 5, 1111)
    assert (RATE, MOST_PASSES) == (1e-3, 200)


@pytest.mark.parametrize("hidden", [0, 8])
def test_classifiers_on_shared_batches_that_end_at_different_times_are_those_trained_alone(hidden, monkeypatch):
    monkeypatch.setattr(classifiers, "PATIENCE", 1)
    features, labels = make_data(200, noise=1.0)
    dev = np.arange(150, 200)
    folds = [Fold(np.arange(150), dev[:25]), Fold(np.arange(0, 150, 2), dev), Fold(np.arange(50, 150), dev[::2])]
    penalties = (1e-5, 0.03, 1.0)
    size = round(BATCH / np.mean([len(fold.learn) / 150 for fold in folds]))
    found = Learner(features, labels.numpy(), hidden, "x").fit(folds, np.tile(penalties, (3, 1)))
    for place, (fold, penalty) in enumerate((fold, penalty) for fold in folds for penalty in penalties):
        alone = train_alone(features, labels, fold, penalty, hidden=hidden, rows=np.arange(150), size=size)
        assert found.accuracy.flat[place] == pytest.approx(alone[0])
        for mine, weights in zip(found.weights, alone[1], strict=True):
            torch.testing.assert_close(mine[place], weights, rtol=1e-4, atol=1e-5)


def test_neither_the_penalty_nor_the_weights_are_chosen_on_what_is_scored(monkeypatch):
    monkeypatch.setattr(classifiers, "PENALTIES", (3.0, 1e-5))
    features, labels = make_data(300)
    known, test = labels.numpy(), np.arange(200, 300)
    turned = known.copy()
    turned[test] = 1 - turned[test]  # these would prefer the classifier that learns nothing
    for others in ([np.arange(150), np.arange(150, 200)], [np.arange(200)]):
        found = Learner(features, turned, 0, "x").predict([*others, test], 3)
        assert (found.rows.tolist(), found.penalties) == (test.tolist(), (1e-5,))
        assert np.mean(found.classes == known[test]) > 0.8
