"""Task of an encoder with spans for the loop: batches of judged pairs, cross-entropy, and dev scores."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from training.encoders.embedding import embed_together
from training.encoders.labels import judge_labels
from training.encoders.pair_table import Batch, PairTable
from training.encoders.pair_task import PairTask
from training.encoders.pas.settings import PasSettings
from training.modules.pair_classifier import PairClassifier


class PasTask(PairTask[PairTable, PasSettings]):
    """Tune the last layers of a backbone, and train the weights of spans and the classifier above them.

    Arguments as in `PairTask`.
    """

    classifier: PairClassifier

    def batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch."""
        train = self.prepared.train
        return [train.batch(some) for some in train.order(self.prepared.tokens.lengths, self.settings.loop, epoch)]

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Return the cross-entropy of a batch; each sentence is embedded once, by one of the processes."""
        texts, places = np.unique(batch.sentences, return_inverse=True)
        embeddings = embed_together(self.backbone, self.prepared.tokens, texts)
        left, right = embeddings[torch.from_numpy(places).to(embeddings.device)].tensor_split(2)
        return {"loss": cross_entropy(self.classifier(left, right), torch.from_numpy(batch.targets).to(left.device))}

    def judge_pairs(self) -> dict[str, float]:
        """Return classification scores on the dev pairs; empty if there are none."""
        prepared, settings = self.prepared, self.settings
        return judge_labels(
            self.backbone, prepared.tokens, prepared.dev, self.classifier, positive=settings.positive_label
        )
