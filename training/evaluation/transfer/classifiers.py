"""SentEval's protocol and its classifiers, trained for all folds and penalties of a task at once, on shared batches.

    one part            ten folds are scored in turn; within the other nine, ten folds choose the penalty
    train, test         ten folds of train choose the penalty
    train, dev, test    dev chooses

The scored classifier is trained on everything except the scored part and the part that its weights are chosen on: dev,
or a twentieth drawn from the rest.

    batch of rows   2 7 3 9 0 …                 one product for all classifiers of a block
    fold 1 sees     2   3 9 0 …  ×  1e-5        (classifiers · classes, d) @ (d, batch)
    fold 2 sees     2 7   9   …     … 1e-2

Each classifier is that of Conneau & Kiela (2018): PyTorch's initial weights, Adam with an L2 penalty, a dev evaluation
every four passes, and the weights that were best there. Rows that a fold may not see have no weight in its loss;
batches are enlarged so that a fold sees 64 rows of each on average. A single fold sees all rows; where its dev part is
given, every step is SentEval's. Where it is drawn (`draw_dev`), the rows are SentEval's but their order is not:
SentEval continues with the random state that drew them and keeps the order drawn; here the state is reset, and rows
are sorted.

Gradients are written out, and on a CPU a block of classifiers, small enough for a cache, does a whole pass before the
next one begins: with autograd and all classifiers in one block, training takes two to three times as long.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from features.parsers.onednn import Product, product_on
from training.progress import EVERY, log

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
HIDDEN = {"logistic regression": 0, "mlp": 128}
"""Classifier → units of its hidden layer."""
BATCH = 64
RATE = 1e-3
PASSES = 4
"""Passes between two dev evaluations (`epoch_size`)."""
PATIENCE = 5
"""Dev evaluations without improvement, in total, that are tolerated; the next one stops the training (`tenacity`)."""
MOST_PASSES = 200
SEED = 1111
"""SentEval's seed of weights, batches and folds, the same for all classifiers."""
_TOGETHER = 350_000  # parameters of a block, which with gradients and Adam's state take 6 MB
_PARAMETERS = 4_000_000  # of classifiers trained at once, on the same batches: with Adam's state they take 80 MB

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fold:
    """Positions of rows to train a classifier on, and of rows to choose its weights and penalty on, int64."""

    learn: Rows
    dev: Rows


@dataclass(frozen=True, slots=True)
class Fitted:
    """Trained classifiers, one per fold and penalty."""

    accuracy: NDArray[np.float64]  # on dev, (n_folds, n_penalties), in [0, 1]
    weights: tuple[Tensor, ...]  # (n_folds · n_penalties, …) each: matrix and bias of a layer, then of the next

    def predict(self, position: int, features: Tensor) -> NDArray[np.int64]:
        """Return the class of each row of features, (n, d), by one of the classifiers."""
        weights = [each[[position]] for each in self.weights]
        return np.asarray(_outputs(weights, features, product_on(features.device))[-1][0].argmax(0).cpu().numpy())


def draw_dev(rows: Rows) -> Fold:
    """Return a fold whose dev part, a twentieth and at least one row, is drawn as in SentEval, where none is given."""
    order = np.random.RandomState(SEED).permutation(len(rows))
    cut = max(1, int(0.05 * len(rows)))
    return Fold(rows[order[cut:]], rows[order[:cut]])


class _Block:
    """Classifiers of some folds, one for each penalty, (n_folds, n_penalties); finished ones are no longer computed."""

    def __init__(
        self, folds: Sequence[Fold], penalties: NDArray[np.float64], first: Sequence[Tensor], multiply: Product
    ) -> None:
        device, count = first[0].device, penalties.size
        self.folds = folds
        self._multiply = multiply
        self._fold_of = torch.arange(len(folds), device=device).repeat_interleave(penalties.shape[1])
        self._penalties = torch.tensor(penalties.flatten(), dtype=torch.float32, device=device)
        self._weights = [each.repeat(count, *[1] * each.ndim) for each in first]
        self._optimizer = torch.optim.Adam(self._weights, lr=RATE, fused=True)
        self._learning = torch.arange(count, device=device)
        self._failures = torch.zeros(count, dtype=torch.int64, device=device)
        self.accuracy = torch.full((count,), -1.0, dtype=torch.float64, device=device)
        self.best = [each.clone() for each in self._weights]

    @property
    def learning(self) -> int:
        """Number of classifiers still training."""
        return len(self._learning)

    def step(self, features: Tensor, wanted: Tensor, seen: Tensor) -> None:
        """Train on one batch of features, (n, d).

        `wanted`, (n_classes, n), is 1 for the class of each row; `seen`, (n_folds, n), for rows that a fold may see.
        """
        *hidden, logits = _outputs(self._weights, features, self._multiply)
        # Each classifier's loss is the mean over the rows it sees.
        share = (seen / seen.sum(dim=1, keepdim=True).clamp(min=1))[self._fold_of[self._learning]]
        errors = logits.softmax(dim=1).sub_(wanted).mul_(share[:, None])
        gradients = [errors.sum(dim=2)]
        if hidden:
            (units,) = hidden
            gradients.insert(0, errors @ units.transpose(1, 2))
            errors = (self._weights[2].transpose(1, 2) @ errors).mul_(units).mul_(1 - units)
            gradients.insert(0, errors.sum(dim=2))
        gradients.insert(0, self._multiply(errors.flatten(0, 1), features.T).view_as(self._weights[0]))
        penalties = self._penalties[self._learning]
        for each, gradient in zip(self._weights, gradients, strict=True):
            each.grad = gradient.addcmul_(each, penalties.view(-1, *[1] * (each.ndim - 1)))
        self._optimizer.step()

    def look(self, features: Tensor, classes: Tensor) -> None:
        """Score on dev, keep weights that improved, and drop classifiers that are finished."""
        accuracy = torch.empty(len(self._learning), dtype=torch.float64, device=features.device)
        folds = self._fold_of[self._learning]
        for fold in sorted(set(folds.tolist())):
            of_fold = folds == fold
            rows = torch.from_numpy(self.folds[fold].dev).to(features.device)
            logits = _outputs([each[of_fold] for each in self._weights], features[rows], self._multiply)[-1]
            accuracy[of_fold] = (logits.argmax(dim=1) == classes[rows]).double().mean(dim=1)
        better = accuracy > self.accuracy[self._learning]
        self.accuracy[self._learning[better]] = accuracy[better]
        for best, now in zip(self.best, self._weights, strict=True):
            best[self._learning[better]] = now[better]
        self._failures[self._learning[~better]] += 1
        on = self._failures[self._learning] <= PATIENCE
        if on.all():
            return
        self._learning = self._learning[on]
        states = [self._optimizer.state[each] for each in self._weights]
        self._weights = [each[on] for each in self._weights]
        self._optimizer = torch.optim.Adam(self._weights, lr=RATE, fused=True)
        for each, state in zip(self._weights, states, strict=True):
            self._optimizer.state[each] = {
                name: value if name == "step" else value[on] for name, value in state.items()
            }


@torch.no_grad()
def _learn(blocks: Sequence[_Block], features: Tensor, classes: Tensor, n_classes: int) -> Iterator[tuple[int, int]]:
    """Train blocks on shared batches; yield the passes done and the classifiers still training at each evaluation."""
    folds = [fold for block in blocks for fold in block.folds]
    rows = np.unique(np.concatenate([fold.learn for fold in folds]))
    seen = torch.zeros(len(folds), len(features), device=features.device)
    for position, fold in enumerate(folds):
        seen[position, torch.from_numpy(fold.learn).to(features.device)] = 1
    size = round(BATCH / float(seen.sum() / (len(folds) * len(rows))))
    sizes = [len(block.folds) for block in blocks]
    random = np.random.RandomState(SEED)
    for passes in range(PASSES, MOST_PASSES + PASSES + 1, PASSES):
        for _ in range(PASSES):
            order = torch.from_numpy(rows[random.permutation(len(rows))]).to(features.device)
            wanted = nn.functional.one_hot(classes[order], n_classes).T.float()
            rows_of, wanted_of = torch.split(features[order], size), torch.split(wanted, size, dim=1)
            for block, of_block in zip(blocks, torch.split(seen[:, order], sizes), strict=True):
                seen_of = torch.split(of_block, size, dim=1)
                for batch in zip(rows_of, wanted_of, seen_of, strict=True) if block.learning else ():
                    block.step(*batch)
        for block in blocks:
            block.look(features, classes)
        learning = sum(block.learning for block in blocks)
        yield passes, learning
        if not learning:
            break


def _outputs(weights: Sequence[Tensor], features: Tensor, multiply: Product) -> list[Tensor]:
    """Return the outputs of the layers of all classifiers for features, (n, d): of a hidden one, and the logits.

    They are (n_models, n_hidden, n) and (n_models, n_classes, n).
    """
    matrix, bias = weights[:2]
    outputs = multiply(matrix.flatten(0, 1), features).view(*bias.shape, len(features)).add_(bias[:, :, None])
    if len(weights) == 2:
        return [outputs]
    return [units := outputs.sigmoid_(), torch.baddbmm(weights[3][:, :, None], weights[2], units)]


@dataclass(frozen=True, slots=True)
class Predictions:
    """Ascending positions of the scored items, their predicted classes, (n_scored,), and the penalties chosen."""

    rows: Rows
    classes: NDArray[np.int64]
    penalties: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Learner:
    """Trains one classifier on one task."""

    features: Tensor  # of all items, float32, (n_items, d)
    classes: Rows  # of all items, (n_items,), from 0 without gaps
    hidden: int  # units of the hidden layer; 0 for logistic regression
    name: str  # of the task and the classifier, for the log

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.max()) + 1

    def predict(self, parts: Sequence[Rows], folds: int) -> Predictions:
        """Return the predictions for the last part: of all items, train and test, or train, dev and test."""
        if len(parts) == 3:
            train, dev, test = parts
            fold = Fold(train, dev)
            return self._scored([fold], [test], [self._choose([[fold]])[0]])
        if len(parts) == 2:
            train, test = parts
            return self._scored([draw_dev(train)], [test], self._choose([self._folds(train, folds)]))
        outer = self._folds(parts[0], folds)
        chosen = self._choose([self._folds(fold.learn, folds) for fold in outer])
        return self._scored([draw_dev(fold.learn) for fold in outer], [fold.dev for fold in outer], chosen)

    def _choose(self, groups: Sequence[Sequence[Fold]]) -> list[float]:
        folds = [fold for group in groups for fold in group]
        at_once = max(1, _PARAMETERS // (len(PENALTIES) * self.features.shape[1] * (self.hidden or self.n_classes)))
        penalties = np.tile(PENALTIES, (len(folds), 1))
        fitted = []
        for start in range(0, len(folds), at_once):
            part = slice(start, start + at_once)
            which = f"folds {start + 1} to {min(start + at_once, len(folds))} of {len(folds)}"
            fitted.append(self.fit(folds[part], penalties[part], which))
        accuracy = np.concatenate([each.accuracy for each in fitted])
        chosen, start = [], 0
        for group in groups:
            # Rounded as in SentEval: of equal means the smallest penalty is taken.
            means = np.round(100 * accuracy[start : start + len(group)].mean(axis=0), 2)
            chosen.append(PENALTIES[int(means.argmax())])
            start += len(group)
        return chosen

    def _scored(self, folds: Sequence[Fold], parts: Sequence[Rows], penalties: Sequence[float]) -> Predictions:
        fitted = self.fit(folds, np.array(penalties)[:, None])
        predicted = [fitted.predict(at, self.features[torch.from_numpy(part)]) for at, part in enumerate(parts)]
        rows, classes = np.concatenate(parts), np.concatenate(predicted)
        order = np.argsort(rows)
        return Predictions(rows[order], classes[order], tuple(penalties))

    def fit(self, folds: Sequence[Fold], penalties: NDArray[np.float64], which: str = "all folds") -> Fitted:
        """Train a classifier for each fold and L2 penalty, (n_folds, n_penalties); `which` folds is for the log."""
        device, first = self.features.device, self._first_weights()
        multiply, classes = product_on(device), torch.from_numpy(self.classes).to(device)
        size = max(1, _TOGETHER // (penalties.shape[1] * sum(each.numel() for each in first)))
        if device.type != "cpu":
            size = len(folds)  # a GPU is faster with few large products
        parts = [slice(start, start + size) for start in range(0, len(folds), size)]
        blocks = [_Block(folds[part], penalties[part], first, multiply) for part in parts]
        logged = time.monotonic()
        for passes, learning in _learn(blocks, self.features, classes, self.n_classes):
            if time.monotonic() - logged >= EVERY:
                logged = time.monotonic()
                still = f"{learning} of {penalties.size} classifiers still improve"
                log.info("training %s: %s, pass %d, %s", self.name, which, passes, still)
        accuracy = torch.cat([block.accuracy for block in blocks]).cpu().numpy()
        best = tuple(torch.cat(weights) for weights in zip(*[block.best for block in blocks], strict=True))
        return Fitted(accuracy.reshape(penalties.shape), best)

    def _first_weights(self) -> list[Tensor]:
        sizes = [self.features.shape[1], *([self.hidden] if self.hidden else []), self.n_classes]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            layers = [nn.Linear(*both) for both in pairwise(sizes)]
        return [part.detach().to(self.features.device) for layer in layers for part in (layer.weight, layer.bias)]

    def _folds(self, rows: Rows, folds: int) -> list[Fold]:
        from sklearn.model_selection import StratifiedKFold

        splitter = StratifiedKFold(folds, shuffle=True, random_state=SEED)
        with warnings.catch_warnings():
            # A class with fewer members than folds is missing from some folds, which is fine.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return [Fold(rows[learn], rows[dev]) for learn, dev in splitter.split(rows, self.classes[rows])]
