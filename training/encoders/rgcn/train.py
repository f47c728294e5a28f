"""Train an encoder with a graph."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from training.data.parses import Parses
from training.encoders.pair_table import PairTable
from training.encoders.pair_training import PairTraining
from training.encoders.rgcn.data import learnt_from, resolved
from training.encoders.rgcn.settings import RgcnSettings
from training.jobs import Source, TrainingJob

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

    from training.encoders.backbone import Backbone, Tokens
    from training.encoders.pair_task import Prepared
    from training.encoders.rgcn.task import RgcnTask

RgcnJob = TrainingJob[Source, RgcnSettings]


class RgcnTraining(PairTraining[RgcnSettings, Parses]):
    """Training with dependency trees as structure; the twin has no graph."""

    lacking = "have no dependency tree and are trained on without one (`facetflow rejects` says why)"
    resolved = staticmethod(resolved)
    learnt_from = staticmethod(learnt_from)

    def read_structure(self) -> Parses | None:
        """Read trees."""
        return self.job.source.read_parses(Parses, self.data.texts) if self.settings.graph else None

    def warn_of_little(self, train: PairTable, dev: PairTable) -> None:
        """Warn also of missing hard negatives, and of a dev pair with no other of its batch to be told from."""
        super().warn_of_little(train, dev)
        train.warn_of_no_negatives(self.settings)
        if len(dev) == 1 and self.settings.objective == "multiple_negatives":
            self.warn_of_dev("only one dev pair, with none to be told from,")

    def start(self, device: str) -> "SentenceTransformer":
        """Add a graph to the backbone."""
        from training.encoders.rgcn.encoder import start_model

        weights = self.job.source.tree_weights() if self.structure else ""
        return start_model(self.plan.backbone, self.settings, self.structure, device, weights=weights)

    def make_task(self, backbone: "Backbone", prepared: "Prepared") -> "Callable[[RgcnSettings], RgcnTask]":
        """Embed the sentences by the start model if the objective is distillation."""
        from training.encoders.rgcn.task import RgcnTask

        distils = self.settings.objective == "distillation"
        teacher = _teacher(backbone, prepared.tokens) if distils else None
        return lambda settings: RgcnTask(backbone, prepared, settings, teacher)

    def facts(self, backbone: "Backbone", prepared: "Prepared") -> dict[str, Any]:
        """Count pairs and trees."""
        train, parses, sentences = prepared.train, self.structure, len(self.data.texts)
        return {
            "pairs": {"train": len(train), "dev": len(prepared.dev), "with_hard": train.with_hard},
            "parser": parses and {"identity": parses.parser, "trees": len(parses), "sentences": sentences},
        }


def train(job: RgcnJob) -> Path:
    """Train an encoder, and return its folder; errors as in `PairTraining.run`."""
    return RgcnTraining(job).run()


def _teacher(backbone: "Backbone", tokens: "Tokens") -> "Tensor":
    """Return the start model's embeddings of all sentences, before training, (n_texts, t)."""
    import torch
    from sentence_transformers import SentenceTransformer

    from training.encoders.backbone import Backbone

    model = SentenceTransformer(modules=list(backbone.model)[:2], device=str(backbone.device))
    start = Backbone(model, backbone.settings, backbone.precision)
    start.states = backbone.states
    return torch.from_numpy(start.embed_many(tokens, np.arange(len(tokens.lengths))))
