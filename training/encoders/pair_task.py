"""Task of the loop shared by encoders trained on judged pairs: parameters, dropout, and evaluation on dev.

A kind adds its batches, its losses, and its scores on the dev pairs.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from training.encoders.backbone import Backbone, Tokens
from training.encoders.labels import label_logits
from training.encoders.pair_table import PairTable
from training.encoders.ratings import PlacedRatings
from training.encoders.settings import BY_LOSS, PairSettings
from training.encoders.start import new_modules
from training.loop.task import Group, Judgement, decaying_matrices
from training.modules.calibration import Calibration, calibrate
from training.modules.pair_classifier import PairClassifier
from training.thresholds import LabelThreshold, best_f1, positive_of

Pairs = TypeVar("Pairs", bound=PairTable)
Settings = TypeVar("Settings", bound=PairSettings)


@dataclass(frozen=True, slots=True)
class Prepared(Generic[Pairs]):
    """Training data as the loop takes them; all share one list of sentences.

    Args:
        tokens: all sentences.
        train: pairs to train on.
        dev: pairs to choose the best model by; may be empty.
        ratings: human ratings to choose it by instead; None if the dev pairs decide.
    """

    tokens: Tokens
    train: Pairs
    dev: Pairs
    ratings: PlacedRatings | None = None


class PairTask(ABC, Generic[Pairs, Settings]):
    """Tune the last layers of a backbone, and train the new modules above them.

    Args:
        backbone: the encoder.
        prepared: the pairs.
        settings: of the encoder, with labels filled in.
        classifies: whether a classifier of pairs is trained as well.
    """

    unit = "pairs"

    def __init__(
        self, backbone: Backbone, prepared: Prepared[Pairs], settings: Settings, *, classifies: bool = True
    ) -> None:
        self.backbone, self.prepared, self.settings = backbone, prepared, settings
        self.new = nn.ModuleList(new_modules(backbone.model)).requires_grad_(requires_grad=True)
        self.classifier: PairClassifier | None = None
        new = {f"new.{name}": parameter for name, parameter in self.new.named_parameters()}
        if classifies:
            torch.manual_seed(settings.loop.seed)
            self.classifier = PairClassifier(backbone.dimension, settings.labels, settings.classifier)
            self.classifier.to(backbone.device)
            new |= {f"classifier.{name}": parameter for name, parameter in self.classifier.named_parameters()}
        factor = settings.new_learning_rate / settings.loop.learning_rate
        self.groups: Sequence[Group] = [
            *decaying_matrices(backbone.tuned_parameters()),
            *decaying_matrices(new, factor),
        ]

    @abstractmethod
    def batches(self, epoch: int) -> Sequence[Any]:
        """Return the batches of an epoch, each of `batch_size` pairs; one may have fewer."""

    def count(self) -> int:
        """Return the number of batches of an epoch."""
        return math.ceil(len(self.prepared.train) / self.settings.loop.batch_size)

    @abstractmethod
    def losses(self, batch: Any) -> dict[str, Tensor]:
        """Return the loss of a batch; each sentence is embedded once, by one of the processes."""

    @abstractmethod
    def judge_pairs(self) -> dict[str, float]:
        """Return scores on the dev pairs, including `loss` and those of `choose_by`; empty if there are no pairs."""

    def size(self, batch: Any) -> int:
        """Return the number of pairs."""
        return len(batch)

    def train(self) -> None:
        """Switch on dropout in the new modules, and in the tuned layers if the settings ask for it."""
        self.backbone.train()
        self.new.train()

    def eval(self) -> None:
        """Switch off dropout."""
        self.backbone.eval()
        self.new.eval()

    @torch.no_grad()
    def judge(self) -> Judgement | None:
        """Return the dev scores and, if ratings choose the model, the correlation with them."""
        self.eval()
        scores = self.judge_pairs()
        if self.prepared.ratings is None:
            by = self.settings.choose_by
            return Judgement(scores, value=-scores[by] if by == BY_LOSS else scores[by]) if scores else None
        found = self.prepared.ratings.score(self.backbone, self.prepared.tokens)
        return Judgement({"spearman": found, **scores}, value=found)

    def calibrate(self) -> Calibration | None:
        """Calibrate the probabilities of the trained classifier on the dev pairs, and choose its threshold by them.

        Returns:
            The calibration; None if there is no classifier, or too few dev pairs.
        """
        if self.classifier is None or not len(self.prepared.dev):
            return None
        logits, targets = label_logits(self.backbone, self.prepared.tokens, self.prepared.dev, self.classifier)
        self.classifier.calibration = calibrate(logits.double().numpy(), targets)
        labels = self.classifier.labels
        label = positive_of(labels, self.settings.positive_label) if len(labels) == 2 else None
        if label is not None and len(set(targets)) == 2:
            number = labels.index(label)
            scores = self.classifier.calibrated(logits.double()).softmax(dim=1)[:, number].numpy()
            self.classifier.threshold = LabelThreshold(label, best_f1(targets == number, scores), len(targets))
        return self.classifier.calibration
