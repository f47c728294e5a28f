"""Task of an encoder with a graph for the loop: batches of judged pairs, three objectives, and dev scores."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from training.encoders.backbone import Backbone
from training.encoders.embedding import embed_together
from training.encoders.labels import judge_labels
from training.encoders.pair_task import PairTask, Prepared
from training.encoders.rgcn.data import Batch, PairTable
from training.encoders.rgcn.settings import RgcnSettings
from training.loop.settings import LoopSettings
from training.objectives.consistency import ConsistencyObjective
from training.objectives.info_nce import InfoNceObjective


class RgcnTask(PairTask[PairTable, RgcnSettings]):
    """Tune the last layers of a backbone, and train the graph above them.

    Args:
        backbone: the encoder.
        prepared: the pairs.
        settings: of the encoder, with labels filled in.
        teacher: embeddings of all sentences by the start model, (n_texts, t), for distillation; otherwise None.
    """

    def __init__(
        self,
        backbone: Backbone,
        prepared: Prepared[PairTable],
        settings: RgcnSettings,
        teacher: Tensor | None = None,
    ) -> None:
        super().__init__(backbone, prepared, settings, classifies=settings.objective == "softmax")
        self.info_nce = InfoNceObjective(settings.temperature)
        self.consistency = ConsistencyObjective()
        self.teacher = teacher

    def batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch; every epoch draws new hard negatives."""
        return self._batches(self.prepared.train, self.settings.loop, epoch)

    def count(self) -> int:
        """Return the number of batches of an epoch."""
        if self.settings.objective != "multiple_negatives":
            return super().count()
        pairs, size = len(self.prepared.train), self.settings.loop.batch_size
        return pairs // size + (pairs % size > 1)

    def _batches(self, pairs: PairTable, loop: LoopSettings, epoch: int) -> list[Batch]:
        random = np.random.default_rng((loop.seed, epoch, 1))
        found = [pairs.with_negatives(some, random) for some in pairs.order(self.prepared.tokens.lengths, loop, epoch)]
        if self.settings.objective != "multiple_negatives":
            return found
        # A single pair has no in-batch negatives.
        return [batch for batch in found if len(batch) > 1]

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of a batch; each sentence is embedded once, by one of the processes."""
        texts, places = np.unique(batch.sentences, return_inverse=True)
        embeddings = embed_together(self.backbone, self.prepared.tokens, texts)
        return {"loss": self._measured(self.prepared.train, batch, embeddings, places)["loss"]}

    def judge_pairs(self) -> dict[str, float]:
        """Return means over the dev pairs, in the same batches for every seed; empty if there are none."""
        dev = self.prepared.dev
        if not len(dev):
            return {}
        if self.classifier is not None:
            positive = self.settings.positive_label
            return judge_labels(self.backbone, self.prepared.tokens, dev, self.classifier, positive=positive)
        batches = self._batches(dev, self.settings.loop.model_copy(update={"seed": 0}), 0)
        if not batches:
            return {}
        texts = np.unique(np.concatenate([some.sentences for some in batches]))
        embeddings = torch.from_numpy(self.backbone.embed_many(self.prepared.tokens, texts)).to(self.backbone.device)
        sums: dict[str, float] = {}
        for batch in batches:
            places = np.searchsorted(texts, batch.sentences)
            for name, value in self._measured(dev, batch, embeddings, places).items():
                sums[name] = sums.get(name, 0.0) + len(batch) * value.item()
        return {name: value / sum(map(len, batches)) for name, value in sums.items()}

    def _measured(
        self, pairs: PairTable, batch: Batch, embeddings: Tensor, places: NDArray[np.int64]
    ) -> dict[str, Tensor]:
        """Return the loss of a batch.

        Args:
            pairs: table that the batch is from.
            batch: the pairs.
            embeddings: embeddings of sentences, (n, d).
            places: their positions for sentences a, b and hard negatives.
        """
        where = torch.from_numpy(places).to(embeddings.device)
        left, right = embeddings[where[: len(batch)]], embeddings[where[len(batch) : 2 * len(batch)]]
        if self.classifier is not None:
            targets = torch.from_numpy(batch.targets).to(embeddings.device)
            return {"loss": cross_entropy(self.classifier(left, right), targets)}
        if self.teacher is not None:
            said = (self.teacher[torch.from_numpy(some)] for some in (batch.first, batch.second))
            return {"loss": self.consistency(left, right, *(one.to(embeddings.device) for one in said))}
        masked = torch.from_numpy(pairs.masked(batch)).to(embeddings.device)
        return {"loss": self.info_nce(left, embeddings[where[len(batch) :]], masked)}
