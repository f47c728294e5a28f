"""Task of the loop for encoders trained on judged pairs: batches, a classifier above new modules, its dev scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from training.data.labelled_pairs import LabelledPairs
from training.data.triplets import same_text_mask
from training.encoders.backbone import Backbone, Tokens
from training.encoders.embedding import embed_together
from training.encoders.ratings import ChosenRatings
from training.encoders.settings import BY_LOSS, PairSettings
from training.loop.batches import epoch_batches
from training.loop.settings import LoopSettings
from training.loop.task import Group, Judgement, decaying_matrices
from training.modules.calibration import Calibration, calibrate
from training.modules.pair_classifier import PairClassifier
from training.progress import log
from training.thresholds import LabelThreshold, best_f1, positive_of
from training.types import Positions

Settings = TypeVar("Settings", bound=PairSettings)


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of a step, by their positions."""

    first: Positions  # sentences a, (b,)
    second: Positions  # sentences b, (b,)
    targets: NDArray[np.int64]  # number of each pair's label among those of the classifier; -1 for none, (b,)
    hard: Positions  # hard negatives of some sentences a, (h,); h may be 0
    table: "PairTable"  # the pairs that these are from

    def __len__(self) -> int:
        return len(self.first)

    @property
    def sentences(self) -> Positions:
        """All sentences: a, b, then hard negatives."""
        return np.concatenate([self.first, self.second, self.hard])


class PairTable:
    """The pairs of one split, as a step takes them; those of the `hard_label` are hard negatives of the others."""

    def __init__(self, data: LabelledPairs, split: str, settings: PairSettings) -> None:
        of_split = (data.pairs["split"] == split).to_numpy()
        self.first, self.second = data.first[of_split], data.second[of_split]
        self.targets = data.targets(settings.labels)[of_split]
        self.n_texts = len(data.texts)
        self._hard_of: dict[int, list[int]] = {}
        self._contrasts = settings.hard_label is not None
        if self._contrasts:
            contradicts = data.pairs["label"].to_numpy()[of_split] == settings.hard_label
            pairs = zip(self.first[contradicts].tolist(), self.second[contradicts].tolist(), strict=True)
            for text, other in pairs:
                self._hard_of.setdefault(text, []).append(other)
            self.first, self.second, self.targets = (
                column[~contradicts] for column in (self.first, self.second, self.targets)
            )
        self._positive = np.unique(self.first * self.n_texts + self.second)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)

    @property
    def with_hard(self) -> int:
        """Number of pairs whose sentence a has a hard negative."""
        return sum(text in self._hard_of for text in self.first.tolist())

    def batch(self, pairs: Positions, random: np.random.Generator) -> Batch:
        """Return some pairs as a batch, with a hard negative drawn at `random` for each sentence a that has any."""
        first = self.first[pairs]
        choices = [self._hard_of[text] for text in first.tolist() if text in self._hard_of]
        hard = np.array([some[random.integers(len(some))] for some in choices], dtype=np.int64)
        return Batch(first, self.second[pairs], self.targets[pairs], hard, self)

    def batches(self, lengths: NDArray[np.int64], loop: LoopSettings, epoch: int) -> list[Batch]:
        """Return the batches of an epoch (from 0), by the tokens of each sentence, (n_texts,); hard negatives are new.

        One batch may have fewer pairs, but where pairs are told from the others of theirs, none has only one.
        """
        random = np.random.default_rng((loop.seed, epoch, 1))
        longer = np.maximum(lengths[self.first], lengths[self.second])
        alone = np.arange(len(self), dtype=np.int64)
        order = epoch_batches(alone, longer, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)
        drawn = [self.batch(some, random) for some in order]
        return [batch for batch in drawn if not self._contrasts or len(batch) > 1]

    def masked(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which candidates (all b, then hard negatives) must not be negatives of an anchor, (b, b + h).

        They are the anchor itself, further occurrences of its positive, and its other positives.
        """
        candidates = np.concatenate([batch.second, batch.hard])
        masked = np.isin(batch.first[:, None] * self.n_texts + candidates[None, :], self._positive)
        masked |= same_text_mask(batch.first, candidates)
        own = np.arange(len(batch))
        masked[own, own] = False
        return masked

    def warn_of_no_negatives(self, settings: PairSettings) -> None:
        """Warn when there are no hard negatives and the objective would use them."""
        label = settings.hard_label
        if label is None or self.with_hard:
            return
        if self._hard_of:
            log.warning(
                "no training pair with the label %r shares its sentence a with a pair to train on: there are no hard "
                "negatives",
                label,
            )
        else:
            log.warning("no training pair has the `negative_label` %r: there are no hard negatives", label)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Training data as the loop takes them; all share one list of sentences."""

    tokens: Tokens  # all sentences
    train: PairTable  # pairs to train on
    dev: PairTable  # pairs to choose the best model by; may be empty
    ratings: ChosenRatings | None = None  # human ratings to choose it by instead; None if the dev pairs decide


class PairTask(Generic[Settings]):
    """Tune the last layers of a backbone, and train the new modules and a classifier above them by cross-entropy.

    A kind with other objectives replaces `loss` and `judge_pairs`, and may do without a classifier.
    """

    unit = "pairs"

    def __init__(self, backbone: Backbone, prepared: Prepared, settings: Settings) -> None:
        self.backbone, self.prepared, self.settings = backbone, prepared, settings
        self.new = nn.ModuleList(list(backbone.model)[2:])  # those after transformer and pooling
        self.new.requires_grad_(requires_grad=True)
        self.classifier: PairClassifier | None = None
        new = {f"new.{name}": parameter for name, parameter in self.new.named_parameters()}
        if settings.classifies:
            torch.manual_seed(settings.loop.seed)
            self.classifier = PairClassifier(backbone.dimension, settings.labels, settings.classifier)
            self.classifier.to(backbone.device)
            new |= {f"classifier.{name}": parameter for name, parameter in self.classifier.named_parameters()}
        factor = settings.new_learning_rate / settings.loop.learning_rate
        self.groups: Sequence[Group] = [
            *decaying_matrices(backbone.tuned_parameters()),
            *decaying_matrices(new, factor),
        ]

    def batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch, as of `PairTable`."""
        return self.prepared.train.batches(self.prepared.tokens.lengths, self.settings.loop, epoch)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of a batch; each sentence is embedded once, by one of the processes."""
        texts, positions = np.unique(batch.sentences, return_inverse=True)
        embeddings = embed_together(self.backbone, self.prepared.tokens, texts)
        return {"loss": self.loss(batch, embeddings, torch.from_numpy(positions).to(embeddings.device))}

    def loss(self, batch: Batch, embeddings: Tensor, positions: Tensor) -> Tensor:
        """Return the loss of a batch, a scalar."""
        left, right = embeddings[positions].tensor_split(2)
        return self.classification_loss(batch, left, right)

    def classification_loss(self, batch: Batch, left: Tensor, right: Tensor) -> Tensor:
        """Return the cross-entropy of a batch, a scalar, from the embeddings of both sides, (b, d)."""
        assert self.classifier is not None  # noqa: S101 - a kind without one has another loss
        return cross_entropy(self.classifier(left, right), torch.from_numpy(batch.targets).to(left.device))

    def judge_pairs(self) -> dict[str, float]:
        """Return `loss`, `accuracy` and the scores of `separation_scores` on the dev pairs; empty if there are none."""
        if self.classifier is None or not len(self.prepared.dev):
            return {}
        logits, numbers = self._dev_logits(self.classifier)
        targets = torch.from_numpy(numbers)
        scores = {
            "loss": cross_entropy(logits, targets).item(),
            "accuracy": (logits.argmax(dim=1) == targets).float().mean().item(),
        }
        if self.settings.positive_label not in self.classifier.labels:
            return scores
        number = self.classifier.labels.index(self.settings.positive_label)
        return scores | separation_scores(numbers == number, logits.double().softmax(dim=1)[:, number].numpy())

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
        scores, by, ratings = self.judge_pairs(), self.settings.choose_by, self.prepared.ratings
        if ratings is None:
            return Judgement(scores, value=-scores[by] if by == BY_LOSS else scores[by]) if scores else None
        correlation = ratings.score(self.backbone.embed_many(self.prepared.tokens, ratings.positions))
        return Judgement({"spearman": correlation, **scores}, value=correlation)

    @torch.no_grad()
    def calibrate(self) -> Calibration | None:
        """Calibrate the probabilities of the trained classifier on the dev pairs, and choose its threshold by them."""
        if self.classifier is None or not len(self.prepared.dev):
            return None
        logits, targets = self._dev_logits(self.classifier)
        self.classifier.calibration = calibrate(logits.double().numpy(), targets)
        labels = self.classifier.labels
        label = positive_of(labels, self.settings.positive_label) if len(labels) == 2 else None
        if label is not None and len(set(targets)) == 2:
            number = labels.index(label)
            scores = self.classifier.calibrated(logits.double()).softmax(dim=1)[:, number].numpy()
            self.classifier.threshold = LabelThreshold(label, best_f1(targets == number, scores), len(targets))
        return self.classifier.calibration

    def _dev_logits(self, classifier: PairClassifier) -> tuple[Tensor, NDArray[np.int64]]:
        """Return the logits of the dev pairs, (n_pairs, n_labels), and the numbers of their labels, (n_pairs,)."""
        dev = self.prepared.dev
        texts, positions = np.unique(np.concatenate([dev.first, dev.second]), return_inverse=True)
        embeddings = torch.from_numpy(self.backbone.embed_many(self.prepared.tokens, texts)).to(self.backbone.device)
        left, right = embeddings[torch.from_numpy(positions).to(embeddings.device)].tensor_split(2)
        return classifier(left, right).float().cpu(), dev.targets


def separation_scores(positive: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> dict[str, float]:
    """Return how well the probabilities of being positive separate positive pairs from the others, (n_pairs,) each.

    That is `f1` at the best threshold and `average_precision`, in [0, 1]; empty if all pairs are positive, or none is;
    NaN if a probability is.
    """
    if positive.all() or not positive.any():
        return {}
    if np.isnan(probabilities).any():
        return {"f1": np.nan, "average_precision": np.nan}
    precision, recall, _ = precision_recall_curve(positive, probabilities)
    f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(np.float64).tiny)
    return {"f1": float(f1.max()), "average_precision": float(average_precision_score(positive, probabilities))}
