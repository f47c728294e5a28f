"""Task of an encoder with a graph for the loop: batches of judged pairs, three objectives, and dev scores."""

import numpy as np
import torch
from torch import Tensor

from training.encoders.backbone import Backbone
from training.encoders.pair_task import Batch, PairTable, PairTask, Prepared
from training.encoders.rgcn.settings import RgcnSettings
from training.loop.settings import LoopSettings
from training.objectives import ConsistencyObjective, InfoNceObjective


class RgcnTask(PairTask[RgcnSettings]):
    """Tune the last layers of a backbone, and train the graph above them, by one of three objectives.

    For distillation, the teacher is the embeddings of all sentences by the start model, (n_texts, t).
    """

    def __init__(
        self, backbone: Backbone, prepared: Prepared, settings: RgcnSettings, teacher: Tensor | None = None
    ) -> None:
        super().__init__(backbone, prepared, settings, classifies=settings.objective == "softmax")
        self.info_nce = InfoNceObjective(settings.temperature)
        self.consistency = ConsistencyObjective()
        self.teacher = teacher

    def batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch; every epoch draws new hard negatives."""
        return self._batches(self.prepared.train, self.settings.loop, epoch)

    def _batches(self, pairs: PairTable, loop: LoopSettings, epoch: int) -> list[Batch]:
        random = np.random.default_rng((loop.seed, epoch, 1))
        order = pairs.order(self.prepared.tokens.lengths, loop, epoch)
        drawn = [pairs.batch(some, random) for some in order]
        # A single pair has no in-batch negatives.
        return [batch for batch in drawn if self.settings.objective != "multiple_negatives" or len(batch) > 1]

    def judge_pairs(self) -> dict[str, float]:
        """Return means over the dev pairs, in the same batches for every seed; empty if there are none."""
        dev = self.prepared.dev
        if self.classifier is not None or not len(dev):
            return super().judge_pairs()
        batches = self._batches(dev, self.settings.loop.model_copy(update={"seed": 0}), 0)
        if not batches:
            return {}
        texts = np.unique(np.concatenate([some.sentences for some in batches]))
        embeddings = torch.from_numpy(self.backbone.embed_many(self.prepared.tokens, texts)).to(self.backbone.device)
        total = 0.0
        for batch in batches:
            positions = torch.from_numpy(np.searchsorted(texts, batch.sentences)).to(embeddings.device)
            total += len(batch) * self.loss(batch, embeddings, positions).item()
        return {"loss": total / sum(map(len, batches))}

    def loss(self, batch: Batch, embeddings: Tensor, places: Tensor) -> Tensor:
        """Return the loss of a batch by the objective; arguments as in `PairTask.loss`."""
        left, right = embeddings[places[: len(batch)]], embeddings[places[len(batch) : 2 * len(batch)]]
        if self.classifier is not None:
            return self.classification_loss(batch, left, right)
        if self.teacher is not None:
            targets = (self.teacher[torch.from_numpy(side)].to(left.device) for side in (batch.first, batch.second))
            consistency: Tensor = self.consistency(left, right, *targets)
            return consistency
        masked = torch.from_numpy(batch.table.masked(batch)).to(left.device)
        loss: Tensor = self.info_nce(left, embeddings[places[len(batch) :]], masked)
        return loss
