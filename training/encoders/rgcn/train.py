"""Train an encoder with a graph: a backbone, the graph over its word vectors, and their combination.

    graph = true     ParsingTransformer ── Pooling ── GraphPooling ── NodeCombination: LayerNorm([u₁; u₂])
    graph = false    Transformer ───────── Pooling ── LayerNorm(u₁)

The twin without graph has only modules of sentence-transformers; the other is loaded by `facetflow.load_encoder`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import LayerNorm
from torch import Tensor, nn

from features.parsers.dependencies import load
from features.parsers.settings import DependencySettings
from training.data.parses import Parses
from training.encoders.backbone import Backbone, Tokens
from training.encoders.pair_task import Batch, PairTable, PairTask, Prepared
from training.encoders.pair_training import PairTraining
from training.encoders.rgcn.settings import RgcnSettings
from training.modules.graph_pooling import GraphPooling, NodeCombination
from training.modules.parse import LabelNumbers
from training.modules.parsing_transformer import ParsingTransformer
from training.objectives import consistency_loss, info_nce_loss


class RgcnTask(PairTask[RgcnSettings]):
    """Tune the last layers of a backbone, and train the graph above them, by one of three objectives.

    For distillation, the teacher is the embeddings of all sentences by the start model, (n_texts, t).
    """

    def __init__(
        self, backbone: Backbone, prepared: Prepared, settings: RgcnSettings, teacher: Tensor | None = None
    ) -> None:
        super().__init__(backbone, prepared, settings)
        self.teacher = teacher

    def judge_pairs(self) -> dict[str, float]:
        """Return means over the dev pairs, in the same batches for every seed; empty if there are none."""
        dev = self.prepared.dev
        if self.classifier is not None or not len(dev):
            return super().judge_pairs()
        batches = dev.batches(self.prepared.tokens.lengths, self.settings.loop.model_copy(update={"seed": 0}), 0)
        if not batches:
            return {}
        texts = np.unique(np.concatenate([some.sentences for some in batches]))
        embeddings = torch.from_numpy(self.backbone.embed_many(self.prepared.tokens, texts)).to(self.backbone.device)
        total = 0.0
        for batch in batches:
            positions = torch.from_numpy(np.searchsorted(texts, batch.sentences)).to(embeddings.device)
            total += len(batch) * self.loss(batch, embeddings, positions).item()
        return {"loss": total / sum(map(len, batches))}

    def loss(self, batch: Batch, embeddings: Tensor, positions: Tensor) -> Tensor:
        """Return the loss of a batch by the objective; arguments as in `PairTask.loss`."""
        left, right = embeddings[positions[: len(batch)]], embeddings[positions[len(batch) : 2 * len(batch)]]
        if self.classifier is not None:
            return self.classification_loss(batch, left, right)
        if self.teacher is not None:
            targets = (self.teacher[torch.from_numpy(side)].to(left.device) for side in (batch.first, batch.second))
            return consistency_loss(left, right, *targets)
        masked = torch.from_numpy(batch.table.masked(batch)).to(left.device)
        return info_nce_loss(left, embeddings[positions[len(batch) :]], masked, self.settings.temperature)


class RgcnTraining(PairTraining[RgcnSettings, Parses]):
    """Training with dependency trees as structure; the twin has no graph."""

    reads = Parses

    def warn_of_little(self, train: PairTable, dev: PairTable) -> None:
        """Warn also of missing hard negatives, and of a dev pair with no other of its batch to be told from."""
        super().warn_of_little(train, dev)
        train.warn_of_no_negatives(self.settings)
        if len(dev) == 1 and self.settings.objective == "multiple_negatives":
            self.warn_of_dev("only one dev pair, with none to be told from,")

    def modules(self, transformer: nn.Module, pooling: Any) -> list[nn.Module]:
        """Add a graph to the backbone, or a LayerNorm alone for the twin."""
        settings, sentence_width = self.settings, int(pooling.get_embedding_dimension())
        if self.structure is None:
            return [transformer, pooling, LayerNorm(sentence_width)]
        parsing = self._parsing(self.structure)
        graph = GraphPooling(
            int(parsing.get_embedding_dimension()),
            width=settings.width,
            labels=1 if settings.relations == "one" else len(LabelNumbers(parsing.structure.labels)),
            layers=settings.graph_layers,
            bases=None if settings.bases == "full" else settings.bases,
            dropout=settings.graph_dropout,
            direction=settings.direction,
        )
        return [parsing, pooling, graph, NodeCombination(sentence_width, settings.width)]

    def _parsing(self, parses: Parses) -> ParsingTransformer:
        of_parser = DependencySettings(model=self.settings.parser or parses.pipeline)
        digest = self.digest_of_parser(parses, of_parser, "parser", lambda: load(of_parser).name)
        return self.structured(
            ParsingTransformer,
            parser=of_parser.model,
            parser_identity=parses.parser,
            parser_weights=digest,
            labels=load(of_parser).labels,
            max_words=parses.max_words,
            random_trees=self.settings.loop.seed if self.settings.trees == "random" else None,
        )

    def make_task(self, backbone: Backbone, prepared: Prepared) -> Callable[[RgcnSettings], RgcnTask]:
        """Embed the sentences by the start model if the objective is distillation."""
        distils = self.settings.objective == "distillation"
        teacher = _teacher(backbone, prepared.tokens) if distils else None
        return lambda settings: RgcnTask(backbone, prepared, settings, teacher)

    def facts(self, backbone: Backbone, prepared: Prepared) -> dict[str, Any]:
        """Count pairs and trees."""
        train, parses, sentences = prepared.train, self.structure, len(self.data.texts)
        return {
            "pairs": {"train": len(train), "dev": len(prepared.dev), "with_hard": train.with_hard},
            "parser": parses and {"identity": parses.parser, "trees": len(parses), "sentences": sentences},
        }


train = RgcnTraining.run


def _teacher(backbone: Backbone, tokens: Tokens) -> Tensor:
    """Return the start model's embeddings of all sentences, before training, (n_texts, t)."""
    model = SentenceTransformer(modules=list(backbone.model)[:2], device=str(backbone.device))
    start = Backbone(model, backbone.settings, backbone.precision)
    start.states = backbone.states
    return torch.from_numpy(start.embed_many(tokens, np.arange(len(tokens.lengths))))
