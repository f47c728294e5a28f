"""SentEval's classifiers, trained for all folds and penalties of a task at once, on shared batches.

    batch of rows   2 7 3 9 0 …                 one product for all classifiers
    fold 1 sees     2   3 9 0 …  ×  1e-5        (batch, d) @ (d, classifiers · classes)
    fold 2 sees     2 7   9   …     … 1e-2

Each classifier is that of Conneau & Kiela (2018): PyTorch's initial weights, Adam with an L2 penalty, a dev evaluation
every four passes, and the weights that were best there. Rows that a fold may not see have no weight in its loss;
batches are enlarged so that a fold sees 64 rows of each on average. A single fold sees all rows; where its dev part is
given, every step is SentEval's. Where it is drawn (`draw_dev`), the rows are SentEval's but their order is not:
SentEval continues with the random state that drew them and keeps the order drawn; here the state is reset, and rows
are sorted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

BATCH = 64
RATE = 1e-3
PASSES = 4
"""Passes between two dev evaluations (`epoch_size`)."""
PATIENCE = 5
"""Dev evaluations without improvement, in total, that are tolerated; the next one stops the training (`tenacity`)."""
MOST_PASSES = 200
SEED = 1111
"""SentEval's seed of weights, batches and folds, the same for all classifiers."""


Tell = Callable[[int, int], None]
"""Called with the number of passes done and of classifiers still training."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows to train a classifier on, and rows to choose its weights and penalty on.

    Args:
        learn: positions of the training rows, (n_learn,), int64.
        dev: positions of the dev rows, (n_dev,), int64.
    """

    learn: NDArray[np.int64]
    dev: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Trained classifiers, one per fold and penalty.

    Args:
        accuracy: on dev, (n_folds, n_penalties), in [0, 1].
        weights: (n_folds · n_penalties, …) each: matrix and bias of a layer, then of the next.
    """

    accuracy: NDArray[np.float64]
    weights: tuple[Tensor, ...]

    def predict(self, fold: int, penalty: int, features: Tensor) -> NDArray[np.int64]:
        """Return the class of each row, (n,).

        Args:
            fold: fold of the classifier.
            penalty: position of its penalty.
            features: (n, d).
        """
        place = fold * self.accuracy.shape[1] + penalty
        return np.asarray(_logits([each[[place]] for each in self.weights], features)[:, 0].argmax(1).cpu().numpy())


def draw_dev(rows: NDArray[np.int64], share: float = 0.05) -> Fold:
    """Return a fold whose dev part is drawn from the training rows, as SentEval does where none is given.

    Args:
        rows: positions, (n,), at least two.
        share: of the rows, in (0, 1); at least one row is drawn.
    """
    order = np.random.RandomState(SEED).permutation(len(rows))
    cut = max(1, int(share * len(rows)))
    return Fold(rows[order[cut:]], rows[order[:cut]])


def fit(
    features: Tensor,
    classes: Tensor,
    folds: Sequence[Fold],
    penalties: NDArray[np.float64],
    *,
    n_classes: int,
    hidden: int = 0,
    tell: Tell = lambda passes, learning: None,
) -> Fitted:
    """Train a classifier for each fold and penalty.

    Args:
        features: of all rows, float32, (n, d).
        classes: of all rows, int64, (n,), from 0.
        folds: rows to train on.
        penalties: L2 penalties of each fold, (n_folds, n_penalties).
        n_classes: number of classes.
        hidden: units of a hidden layer; 0 for logistic regression.
        tell: called after every dev evaluation.
    """
    models = _Models(folds, penalties, _first_weights(features, n_classes, hidden, penalties.size))
    models.learn(features, classes, tell)
    return Fitted(models.accuracy.cpu().numpy().reshape(penalties.shape), tuple(models.best))


class _Models:
    """Classifiers that share batches; finished ones are no longer computed.

    Args:
        folds: rows to train on.
        penalties: (n_folds, n_penalties).
        weights: initial weights, (n_models, …) each; penalties of a fold are adjacent.
    """

    def __init__(self, folds: Sequence[Fold], penalties: NDArray[np.float64], weights: list[Tensor]) -> None:
        device, count = weights[0].device, penalties.size
        self._folds = folds
        self._fold_of = torch.arange(len(folds), device=device).repeat_interleave(penalties.shape[1])
        self._penalties = torch.tensor(penalties.flatten(), dtype=torch.float32, device=device)
        self._weights = weights
        self._optimizer = torch.optim.Adam(weights, lr=RATE, fused=True)
        self._learning = torch.arange(count, device=device)
        self._failures = torch.zeros(count, dtype=torch.int64, device=device)
        self.accuracy = torch.full((count,), -1.0, dtype=torch.float64, device=device)
        self.best = [each.detach().clone() for each in weights]

    def learn(self, features: Tensor, classes: Tensor, tell: Tell) -> None:
        """Train all until none improves on dev."""
        device = features.device
        rows = np.unique(np.concatenate([fold.learn for fold in self._folds]))
        seen = torch.zeros(len(self._folds), len(features), device=device)
        for position, fold in enumerate(self._folds):
            seen[position, torch.from_numpy(fold.learn).to(device)] = 1
        share = float(seen.sum() / (len(self._folds) * len(rows)))
        random = np.random.RandomState(SEED)
        for passes in range(PASSES, MOST_PASSES + PASSES + 1, PASSES):
            for _ in range(PASSES):
                order = torch.from_numpy(rows[random.permutation(len(rows))]).to(device)
                for batch in torch.split(order, round(BATCH / share)):
                    self._step(features[batch], classes[batch], seen[:, batch])
            self._look(features, classes)
            tell(passes, len(self._learning))
            if not len(self._learning):
                break

    def _step(self, features: Tensor, classes: Tensor, seen: Tensor) -> None:
        """Train on one batch.

        Args:
            features: (n, d).
            classes: (n,).
            seen: 1 for the rows that a fold may see, (n_folds, n).
        """
        logits = _logits(self._weights, features)
        # Classes before classifiers: softmax over a last axis of size two takes ten times as long.
        wanted = classes[:, None].expand(logits.shape[:2])
        losses = functional.cross_entropy(logits.transpose(1, 2).contiguous(), wanted, reduction="none")
        # Each classifier's mean loss over the rows it sees, summed: gradients stay independent.
        share = (seen / seen.sum(dim=1, keepdim=True).clamp(min=1))[self._fold_of[self._learning]]
        self._optimizer.zero_grad()
        (losses * share.T).sum().backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            for each in self._weights:
                assert each.grad is not None  # noqa: S101 - after backward; this tells mypy
                each.grad.addcmul_(each, self._penalties[self._learning].view(-1, *[1] * (each.ndim - 1)))
        self._optimizer.step()

    @torch.no_grad()
    def _look(self, features: Tensor, classes: Tensor) -> None:
        """Score on dev, keep weights that improved, and drop classifiers that are finished."""
        accuracy = torch.empty(len(self._learning), dtype=torch.float64, device=features.device)
        folds = self._fold_of[self._learning]
        for fold in sorted(set(folds.tolist())):
            of_fold = folds == fold
            rows = torch.from_numpy(self._folds[fold].dev).to(features.device)
            found = _logits([each[of_fold] for each in self._weights], features[rows]).argmax(dim=2)
            accuracy[of_fold] = (found == classes[rows, None]).double().mean(dim=0)
        better = accuracy > self.accuracy[self._learning]
        self.accuracy[self._learning[better]] = accuracy[better]
        for known, now in zip(self.best, self._weights, strict=True):
            known[self._learning[better]] = now[better]
        self._failures[self._learning[~better]] += 1
        on = self._failures[self._learning] <= PATIENCE
        if not on.all():
            self._leave_out(on)

    def _leave_out(self, on: Tensor) -> None:
        """Continue with some of the classifiers still training.

        Args:
            on: which of them, (n_learning,).
        """
        self._learning = self._learning[on]
        states = [self._optimizer.state[each] for each in self._weights]
        self._weights = [each.detach()[on].requires_grad_() for each in self._weights]
        self._optimizer = torch.optim.Adam(self._weights, lr=RATE, fused=True)
        for each, state in zip(self._weights, states, strict=True):
            self._optimizer.state[each] = {
                name: known if name == "step" else known[on] for name, known in state.items()
            }


def _logits(weights: Sequence[Tensor], features: Tensor) -> Tensor:
    """Return the logits of all classifiers, (n, n_models, n_classes).

    Args:
        weights: (n_models, …) each.
        features: (n, d).
    """
    matrix, bias = weights[:2]
    found = functional.linear(features, matrix.flatten(0, 1), bias.flatten()).view(len(features), *bias.shape)
    if len(weights) == 2:
        return found
    return torch.einsum("nmh,mch->nmc", torch.sigmoid(found), weights[2]) + weights[3]


def _first_weights(features: Tensor, n_classes: int, hidden: int, count: int) -> list[Tensor]:
    """Return the initial weights of PyTorch's layers after seeding, the same for all classifiers."""
    d = features.shape[1]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        layers = [nn.Linear(d, hidden), nn.Linear(hidden, n_classes)] if hidden else [nn.Linear(d, n_classes)]
    plain = [part.detach() for layer in layers for part in (layer.weight, layer.bias)]
    return [part.to(features.device).repeat(count, *[1] * part.ndim).requires_grad_() for part in plain]
