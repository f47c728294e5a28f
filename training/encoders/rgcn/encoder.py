"""The encoder to train: a backbone, the graph over its word vectors, and their combination.

    graph = true     ParsingTransformer ── Pooling ── GraphPooling ── NodeCombination: LayerNorm([u₁; u₂])
    graph = false    Transformer ───────── Pooling ── LayerNorm(u₁)

The twin without graph has only modules of sentence-transformers; the other is loaded by `facetflow.load_encoder`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from features.core.errors import ModelError
from features.core.faults import OtherParser
from training.data.parses import Parses
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.start import structured, transformer_and_pooling

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.modules.parsing_transformer import ParsingTransformer


def start_model(
    folder: Path, settings: RgcnSettings, parses: Parses | None, device: str, *, weights: str = ""
) -> "SentenceTransformer":
    """Return the encoder before training, a twin without parses; the seed of the loop initialises its new modules."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import LayerNorm

    from training.modules.graph_pooling import GraphPooling, NodeCombination
    from training.modules.parse import LabelNumbers

    first, pooling, longest = transformer_and_pooling(folder, settings)
    sentence_width = int(pooling.get_embedding_dimension())
    torch.manual_seed(settings.loop.seed)
    if parses is None:
        modules = [first, pooling, LayerNorm(sentence_width)]
    else:
        transformer = _parsing(folder, settings, parses, weights)
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


def _parsing(folder: Path, settings: RgcnSettings, parses: Parses, weights: str) -> "ParsingTransformer":
    from features.parsers.dependencies import load
    from features.parsers.settings import DependencySettings
    from training.modules.parse import same_weights, weights_of
    from training.modules.parsing_transformer import ParsingTransformer

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
    if not same_weights(here := weights_of(DependencySettings(model=name)), weights):
        raise OtherParser(
            f"the trees are by {parses.parser!r} with the digest {weights[:16]!r}, but the pipeline {name!r} of the "
            f"same name and version has the digest {here[:16]!r}, with which the finished encoder would parse "
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
