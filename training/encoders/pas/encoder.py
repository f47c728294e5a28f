"""The encoder to train: a backbone, and the weighted sum of predicate-argument spans next to its pooling.

    spans = "tagged", …     TaggingTransformer ── Pooling ── SpanPooling: [pooling; spans]
    spans = "none"          Transformer ───────── Pooling

The twin without spans has only modules of sentence-transformers; the other is loaded by `facetflow.load_encoder`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from features.core.errors import ModelError
from features.core.faults import OtherParser
from features.parsers.settings import SrlSettings
from training.data.parses import Frames
from training.encoders.pas.settings import PasSettings
from training.encoders.start import structured, transformer_and_pooling

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import nn

    from training.modules.tagging_transformer import TaggingTransformer


def start_model(folder: Path, settings: PasSettings, frames: Frames | None, device: str) -> "SentenceTransformer":
    """Return the encoder before training, a twin without frames; the seed of the loop initialises its new modules."""
    from sentence_transformers import SentenceTransformer

    from training.modules.parse import LabelNumbers
    from training.modules.span_pooling import SpanPooling

    first, pooling, longest = transformer_and_pooling(folder, settings)
    modules: list[nn.Module] = [first, pooling]
    torch.manual_seed(settings.loop.seed)
    if frames is not None:
        transformer = _tagging(folder, settings, frames)
        spans = SpanPooling(
            int(transformer.get_embedding_dimension()),
            int(pooling.get_embedding_dimension()),
            len(LabelNumbers(transformer.roles)),
            weights=settings.weights,
            pooled=settings.pooled,
        )
        modules = [transformer, pooling, spans]
    model = SentenceTransformer(modules=modules, device=device)
    model.max_seq_length = longest
    return model


def _tagging(folder: Path, settings: PasSettings, frames: Frames) -> "TaggingTransformer":
    from training.modules.parse import weights_of
    from training.modules.tagging_transformer import TaggingTransformer

    name = settings.tagger or frames.tagger
    tagger = SrlSettings(model=name, predicates=frames.predicates_by, tags=settings.tags, max_words=frames.max_words)
    try:
        weights = weights_of(tagger)
    except ModelError as error:
        if settings.tagger:
            raise
        raise OtherParser(
            f"the semantic roles are by {frames.parser!r}, and the finished encoder tags with the same tagger, which "
            f"is not installed ({str(error).rstrip('.')}): pull it, or give its folder as `tagger` of the encoder "
            f"{settings.name!r}."
        ) from error
    if weights != frames.weights:
        raise OtherParser(
            f"the semantic roles are by {frames.parser!r} with the digest {frames.weights[:16]!r}, but the installed "
            f"tagger {name!r} has {weights[:16]!r}, with which the finished encoder would tag differently: give that "
            f"tagger as `tagger` of the encoder {settings.name!r}, or rebuild the roles with this one."
        )
    return structured(
        TaggingTransformer,
        folder,
        settings,
        tagger=name,
        tagger_weights=weights,
        roles=frames.roles,
        predicates=frames.predicates_by,
        precision=frames.precision,
        tags=settings.tags,
        max_words=frames.max_words,
        drawn=settings.spans,
        harmed=settings.harmed,
        harm=settings.harm,
        seed=settings.loop.seed,
    )
