"""What an encoder with a graph gives the loop: batches of judged pairs, three objectives, and what dev says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from training.encoders.backbone import Backbone, Tokens
from training.encoders.embedding import embed_together
from training.encoders.judging import ChosenRatings
from training.encoders.labels import judge_labels
from training.encoders.rgcn.data import Batch, PairTable
from training.encoders.rgcn.encoder import new_modules
from training.encoders.rgcn.settings import RgcnSettings
from training.loop.task import Group, Judgement, decaying_matrices
from training.modules.pair_classifier import PairClassifier
from training.objectives.consistency import ConsistencyObjective
from training.objectives.info_nce import InfoNceObjective


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is learnt from, as the loop takes it; all share one list of sentences.

    Args:
        tokens: all sentences.
        train: pairs to learn from.
        dev: pairs to choose the best model by; may be none.
        teacher: embeddings of all sentences by the start model, (n_texts, t), where they are to be kept.
        ratings: human ratings that it is chosen by instead; None where its loss on the dev pairs decides.
        places: position of each sentence, where there are ratings.
    """

    tokens: Tokens
    train: PairTable
    dev: PairTable
    teacher: Tensor | None = None
    ratings: ChosenRatings | None = None
    places: Mapping[str, int] = field(default_factory=dict)


class RgcnTask:
    """Tune the last layers of a backbone, and learn the graph above them.

    Args:
        backbone: the encoder.
        prepared: the pairs.
        settings: of the encoder; labels are named.
    """

    unit = "pairs"

    def __init__(self, backbone: Backbone, prepared: Prepared, settings: RgcnSettings) -> None:
        self.backbone, self.prepared, self.settings = backbone, prepared, settings
        self.info_nce = InfoNceObjective(settings.temperature)
        self.consistency = ConsistencyObjective()
        self.new = nn.ModuleList(new_modules(backbone.model)).requires_grad_(requires_grad=True)
        self.classifier: PairClassifier | None = None
        new = {f"new.{name}": parameter for name, parameter in self.new.named_parameters()}
        if settings.objective == "softmax":
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
        """Return the batches of an epoch; every epoch draws hard negatives of its own."""
        return self._batches(self.prepared.train, epoch)

    def _batches(self, pairs: PairTable, epoch: int) -> list[Batch]:
        loop = self.settings.loop
        random = np.random.default_rng((loop.seed, epoch, 1))
        found = pairs.order(self.prepared.tokens.lengths, loop, epoch)
        return [pairs.with_negatives(some, random) for some in found]

    def size(self, batch: Batch) -> int:
        """Return the number of pairs."""
        return len(batch)

    def train(self) -> None:
        """Switch on the dropout of what learns: that of the graph, and that of the layers if it is wanted."""
        self.backbone.train()
        self.new.train()

    def eval(self) -> None:
        """Switch off dropout."""
        self.backbone.eval()
        self.new.eval()

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of a batch; each sentence is embedded once, by one of the processes."""
        texts, places = np.unique(batch.sentences, return_inverse=True)
        embeddings = embed_together(self.backbone, self.prepared.tokens, texts)
        return {"loss": self._measured(self.prepared.train, batch, embeddings, places)["loss"]}

    @torch.no_grad()
    def judge(self) -> Judgement | None:
        """Return the dev scores and, where ratings choose the model, the correlation with them."""
        self.eval()
        scores = self._judge_pairs()
        if self.prepared.ratings is None:
            chosen = self.settings.choose_by
            return Judgement(scores, value=-scores["loss"] if chosen == "loss" else scores[chosen]) if scores else None
        found = self.prepared.ratings.score(self._embed_texts)
        return Judgement({"spearman": found, **scores}, value=found)

    def _judge_pairs(self) -> dict[str, float]:
        """Return means over the dev pairs, nothing where there are none."""
        dev = self.prepared.dev
        if not len(dev):
            return {}
        if self.classifier is not None:
            positive = self.settings.positive_label
            return judge_labels(self.backbone, self.prepared.tokens, dev, self.classifier, positive=positive)
        batches = self._batches(dev, 0)
        texts = np.unique(np.concatenate([some.sentences for some in batches]))
        embeddings = torch.from_numpy(self.backbone.embed_many(self.prepared.tokens, texts)).to(self.backbone.device)
        sums: dict[str, float] = {}
        for batch in batches:
            places = np.searchsorted(texts, batch.sentences)
            for name, value in self._measured(dev, batch, embeddings, places).items():
                sums[name] = sums.get(name, 0.0) + len(batch) * value.item()
        return {name: value / len(dev) for name, value in sums.items()}

    def _measured(
        self, pairs: PairTable, batch: Batch, embeddings: Tensor, places: NDArray[np.int64]
    ) -> dict[str, Tensor]:
        """Return the loss of a batch.

        Args:
            pairs: that the batch is of.
            batch: the pairs.
            embeddings: of sentences, (n, d).
            places: of sentences a, b and the hard negatives in them.
        """
        where = torch.from_numpy(places).to(embeddings.device)
        left, right = embeddings[where[: len(batch)]], embeddings[where[len(batch) : 2 * len(batch)]]
        if self.classifier is not None:
            targets = torch.from_numpy(batch.targets).to(embeddings.device)
            return {"loss": cross_entropy(self.classifier(left, right), targets)}
        if self.prepared.teacher is not None:
            said = (self.prepared.teacher[torch.from_numpy(some)] for some in (batch.first, batch.second))
            return {"loss": self.consistency(left, right, *(one.to(embeddings.device) for one in said))}
        masked = torch.from_numpy(pairs.masked(batch)).to(embeddings.device)
        return {"loss": self.info_nce(left, embeddings[where[len(batch) :]], masked)}

    def _embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of some of the sentences, (n, d); every process embeds them all."""
        places = np.array([self.prepared.places[text] for text in texts], dtype=np.int64)
        return self.backbone.embed_many(self.prepared.tokens, places)
