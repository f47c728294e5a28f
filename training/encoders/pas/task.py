"""What an encoder with spans gives the loop: batches of judged pairs, cross-entropy, and what dev says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from training.encoders.backbone import Backbone, Tokens
from training.encoders.embedding import embed_together
from training.encoders.judged import Batch, PairTable
from training.encoders.judging import ChosenRatings
from training.encoders.labels import judge_labels
from training.encoders.pas.encoder import new_modules
from training.encoders.pas.settings import PasSettings
from training.loop.task import Group, Judgement, decaying_matrices
from training.modules.pair_classifier import PairClassifier


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is learnt from, as the loop takes it; all share one list of sentences.

    Args:
        tokens: all sentences.
        train: pairs to learn from.
        dev: pairs to choose the best model by; may be none.
        ratings: human ratings that it is chosen by instead; None where the dev pairs decide.
        places: position of each sentence, where there are ratings.
    """

    tokens: Tokens
    train: PairTable
    dev: PairTable
    ratings: ChosenRatings | None = None
    places: Mapping[str, int] = field(default_factory=dict)


class PasTask:
    """Tune the last layers of a backbone, and learn the weights of spans and the classifier above them.

    Args:
        backbone: the encoder.
        prepared: the pairs.
        settings: of the encoder; labels are named.
    """

    unit = "pairs"

    def __init__(self, backbone: Backbone, prepared: Prepared, settings: PasSettings) -> None:
        self.backbone, self.prepared, self.settings = backbone, prepared, settings
        self.new = nn.ModuleList(new_modules(backbone.model)).requires_grad_(requires_grad=True)
        torch.manual_seed(settings.loop.seed)
        self.classifier = PairClassifier(backbone.dimension, settings.labels, settings.classifier)
        self.classifier.to(backbone.device)
        new = {f"new.{name}": parameter for name, parameter in self.new.named_parameters()}
        new |= {f"classifier.{name}": parameter for name, parameter in self.classifier.named_parameters()}
        factor = settings.new_learning_rate / settings.loop.learning_rate
        self.groups: Sequence[Group] = [
            *decaying_matrices(backbone.tuned_parameters()),
            *decaying_matrices(new, factor),
        ]

    def batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch."""
        train = self.prepared.train
        return [train.batch(some) for some in train.order(self.prepared.tokens.lengths, self.settings.loop, epoch)]

    def size(self, batch: Batch) -> int:
        """Return the number of pairs."""
        return len(batch)

    def train(self) -> None:
        """Switch on the dropout of the layers, if it is wanted."""
        self.backbone.train()
        self.new.train()

    def eval(self) -> None:
        """Switch off dropout."""
        self.backbone.eval()
        self.new.eval()

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Return the cross-entropy of a batch; each sentence is embedded once, by one of the processes."""
        texts, places = np.unique(batch.sentences, return_inverse=True)
        embeddings = embed_together(self.backbone, self.prepared.tokens, texts)
        left, right = embeddings[torch.from_numpy(places).to(embeddings.device)].tensor_split(2)
        return {"loss": cross_entropy(self.classifier(left, right), torch.from_numpy(batch.targets).to(left.device))}

    @torch.no_grad()
    def judge(self) -> Judgement | None:
        """Return what the dev pairs say, and the correlation with ratings where these choose the model."""
        self.eval()
        scores = self._judge_pairs()
        chosen = self.settings.choose_by
        if self.prepared.ratings is None:
            if not scores:
                return None
            return Judgement(scores, value=-scores["loss"] if chosen == "loss" else scores[chosen])
        found = self.prepared.ratings.score(self._embed_texts)
        return Judgement({"spearman": found, **scores}, value=found)

    def _judge_pairs(self) -> dict[str, float]:
        """Return how well the labels of the dev pairs are told, nothing where there are none."""
        prepared, settings = self.prepared, self.settings
        return judge_labels(
            self.backbone, prepared.tokens, prepared.dev, self.classifier, positive=settings.positive_label
        )

    def _embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of some of the sentences, (n, d); every process embeds them all."""
        places = np.array([self.prepared.places[text] for text in texts], dtype=np.int64)
        return self.backbone.embed_many(self.prepared.tokens, places)
