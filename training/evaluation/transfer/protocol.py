"""SentEval's protocol: what classifiers are trained on, what the penalty is chosen on, and what is scored.

    one part            ten folds are scored in turn; within the other nine, ten folds choose the penalty
    train, test         ten folds of train choose the penalty
    train, dev, test    dev chooses

The scored classifier is trained on everything except the scored part and the part that its weights are chosen on: dev,
or a twentieth drawn from the rest.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from features.core.faults import TooFewTexts
from features.corpora.classified import ClassTask
from training.evaluation.transfer.classifiers import SEED, Fitted, Fold, draw_dev, fit
from training.progress import EVERY, log

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
HIDDEN = {"logistic regression": 0, "mlp": 128}
"""Classifier → units of its hidden layer."""
_PARAMETERS = 4_000_000  # of classifiers trained at once, on the same batches: with Adam's state they take 80 MB

Rows = NDArray[np.int64]


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
    classes: Rows  # of all items, (n_items,), from 0
    n_classes: int  # number of classes
    hidden: int  # units of the hidden layer; 0 for logistic regression
    name: str  # of the task and the classifier, for the log

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
        parts = [slice(start, start + at_once) for start in range(0, len(folds), at_once)]
        accuracy = np.concatenate(
            [self._fit(folds[part], penalties[part], part.start, len(folds)).accuracy for part in parts]
        )
        chosen, start = [], 0
        for group in groups:
            # Rounded as in SentEval: of equal means the smallest penalty is taken.
            means = np.round(100 * accuracy[start : start + len(group)].mean(axis=0), 2)
            chosen.append(PENALTIES[int(means.argmax())])
            start += len(group)
        return chosen

    def _scored(self, folds: Sequence[Fold], parts: Sequence[Rows], penalties: Sequence[float]) -> Predictions:
        fitted = self._fit(folds, np.array(penalties)[:, None], 0, len(folds))
        predicted = [fitted.predict(at, 0, self.features[torch.from_numpy(part)]) for at, part in enumerate(parts)]
        rows, classes = np.concatenate(parts), np.concatenate(predicted)
        order = np.argsort(rows)
        return Predictions(rows[order], classes[order], tuple(penalties))

    def _fit(self, folds: Sequence[Fold], penalties: NDArray[np.float64], before: int, total: int) -> Fitted:
        told = time.monotonic()

        def tell(passes: int, learning: int) -> None:
            nonlocal told
            if time.monotonic() - told >= EVERY:
                told = time.monotonic()
                log.info(
                    "training %s: folds %d to %d of %d, pass %d, %d of %d classifiers still improve",
                    *(self.name, before + 1, before + len(folds), total, passes, learning, penalties.size),
                )

        return fit(
            self.features,
            torch.from_numpy(self.classes).to(self.features.device),
            folds,
            penalties,
            n_classes=self.n_classes,
            hidden=self.hidden,
            tell=tell,
        )

    def _folds(self, rows: Rows, folds: int) -> list[Fold]:
        from sklearn.model_selection import StratifiedKFold

        splitter = StratifiedKFold(folds, shuffle=True, random_state=SEED)
        with warnings.catch_warnings():
            # A class with fewer members than folds is missing from some folds, which is fine.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return [Fold(rows[learn], rows[dev]) for learn, dev in splitter.split(rows, self.classes[rows])]


def require_enough(task: ClassTask, folds: int) -> None:
    """Refuse a task that is too small for cross-validation."""
    parts = task.parts
    if len(parts) == 3:
        return
    labels = [label for label, split in zip(task.labels, task.splits, strict=True) if split == parts[0]]
    largest = max(labels.count(label) for label in set(labels))
    within = largest if len(parts) == 2 else largest - -(-largest // folds)
    if within < folds:
        raise TooFewTexts(
            f"the largest class of the evaluation set {task.name!r} has {largest:,} texts to train on, too few for "
            f"{folds} folds: give more texts, or set `folds` under [transfer] to a smaller number."
        )
