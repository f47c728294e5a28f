"""Train an encoder with a graph: a backbone, the graph over its word vectors, and their combination.

    graph = true     ParsingTransformer ── Pooling ── GraphPooling ── NodeCombination: LayerNorm([u₁; u₂])
    graph = false    Transformer ───────── Pooling ── LayerNorm(u₁)

The twin without graph has only modules of sentence-transformers; the other is loaded by `facetflow.load_encoder`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import LayerNorm
from torch import Tensor

from features.core.errors import ModelError
from features.core.faults import OtherParser
from features.parsers.dependencies import load
from features.parsers.settings import DependencySettings
from training.data.parses import Parses
from training.encoders.backbone import Backbone, Tokens
from training.encoders.pair_task import PairTable, Prepared
from training.encoders.pair_training import PairTraining, structured, transformer_and_pooling
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.rgcn.task import RgcnTask
from training.jobs import Source, TrainingJob
from training.modules.graph_pooling import GraphPooling, NodeCombination
from training.modules.parse import LabelNumbers, same_weights, weights_of
from training.modules.parsing_transformer import ParsingTransformer

RgcnJob = TrainingJob[Source, RgcnSettings]


class RgcnTraining(PairTraining[RgcnSettings, Parses]):
    """Training with dependency trees as structure; the twin has no graph."""

    reads = Parses
    lacking = "have no dependency tree and are trained on without one (`facetflow rejects` says why)"

    def warn_of_little(self, train: PairTable, dev: PairTable) -> None:
        """Warn also of missing hard negatives, and of a dev pair with no other of its batch to be told from."""
        super().warn_of_little(train, dev)
        train.warn_of_no_negatives(self.settings)
        if len(dev) == 1 and self.settings.objective == "multiple_negatives":
            self.warn_of_dev("only one dev pair, with none to be told from,")

    def start(self, device: str) -> SentenceTransformer:
        """Add a graph to the backbone."""
        return start_model(self.plan.backbone, self.settings, self.structure, device)

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


def train(job: RgcnJob) -> Path:
    """Train an encoder, and return its folder; errors as in `PairTraining.run`."""
    return RgcnTraining(job).run()


def _teacher(backbone: Backbone, tokens: Tokens) -> Tensor:
    """Return the start model's embeddings of all sentences, before training, (n_texts, t)."""
    model = SentenceTransformer(modules=list(backbone.model)[:2], device=str(backbone.device))
    start = Backbone(model, backbone.settings, backbone.precision)
    start.states = backbone.states
    return torch.from_numpy(start.embed_many(tokens, np.arange(len(tokens.lengths))))


def start_model(folder: Path, settings: RgcnSettings, parses: Parses | None, device: str) -> SentenceTransformer:
    """Return the encoder before training, a twin without parses; the seed of the loop initialises its new modules."""
    first, pooling, longest = transformer_and_pooling(folder, settings)
    sentence_width = int(pooling.get_embedding_dimension())
    torch.manual_seed(settings.loop.seed)
    if parses is None:
        modules = [first, pooling, LayerNorm(sentence_width)]
    else:
        transformer = _parsing(folder, settings, parses)
        labels = 1 if settings.relations == "one" else len(LabelNumbers(transformer.labels))
        graph = GraphPooling(
            int(transformer.get_embedding_dimension()),
            labels,
            width=settings.width,
            layers=settings.graph_layers,
            bases=None if settings.bases == "full" else settings.bases,
            dropout=settings.graph_dropout,
            direction=settings.direction,
        )
        modules = [transformer, pooling, graph, NodeCombination(sentence_width, settings.width)]
    model = SentenceTransformer(modules=modules, device=device)
    model.max_seq_length = longest
    return model


def _parsing(folder: Path, settings: RgcnSettings, parses: Parses) -> ParsingTransformer:
    name = settings.parser or parses.pipeline
    try:
        parser = load(DependencySettings(model=name))
    except ModelError as error:
        if settings.parser:
            raise
        raise OtherParser(
            f"the trees are by {parses.parser!r}, and the finished encoder parses with the same pipeline, which is not "
            f"installed ({str(error).rstrip('.')}): pull it, or give its folder as `parser` of the encoder "
            f"{settings.name!r}."
        ) from error
    if parser.name != parses.parser:
        raise OtherParser(
            f"the trees are by {parses.parser!r}, but the installed pipeline {name!r} is {parser.name!r}, with which "
            "the finished encoder would parse differently: pull the same version, or rebuild the trees with this one."
        )
    if not same_weights(here := weights_of(DependencySettings(model=name)), parses.weights):
        raise OtherParser(
            f"the trees are by {parses.parser!r} with the digest {parses.weights[:16]!r}, but the pipeline {name!r} of "
            f"the same name and version has the digest {here[:16]!r}, with which the finished encoder would parse "
            "differently: give the folder that `model` under [dependencies] named as `parser` of the encoder "
            f"{settings.name!r}, or rebuild the trees with this one."
        )
    return structured(
        ParsingTransformer,
        folder,
        settings,
        parser=name,
        parser_identity=parser.name,
        parser_weights=here,
        labels=parser.labels,
        max_words=parses.max_words,
        random_trees=settings.loop.seed if settings.trees == "random" else None,
    )
