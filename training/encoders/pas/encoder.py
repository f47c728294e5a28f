"""The encoder to train: a backbone, and the weighted sum of predicate-argument spans next to its pooling.

    spans = "tagged", …     TaggingTransformer ── Pooling ── SpanPooling: [pooling; spans]
    spans = "none"          Transformer ───────── Pooling

The twin without spans has only modules of sentence-transformers; the other is loaded by `facetflow.load_encoder`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from features.core.errors import ModelError
from features.core.faults import OtherParser
from features.parsers.settings import SrlSettings
from training.data.parses import Frames
from training.encoders.pas.settings import PasSettings
from training.encoders.start import transformer_and_pooling, transformer_place

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import nn

    from training.modules.tagging_transformer import TaggingTransformer


def start_model(folder: Path, settings: PasSettings, frames: Frames | None, device: str) -> "SentenceTransformer":
    """Return the encoder before training; the seed of the loop initialises its new modules.

    Args:
        folder: folder of the backbone.
        settings: settings of the spans, and the maximum sentence length.
        frames: frames to train on; None without spans.
        device: torch device.

    Raises:
        ModelError: the backbone is unsuitable, or the tagger of the frames is not installed.
    """
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
    """Return the backbone's transformer as one that tags with the tagger of the frames."""
    from training.modules.parser_weights import weights_of
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
    options: dict[str, Any] = {
        "tagger": name,
        "tagger_weights": weights,
        "roles": frames.roles,
        "predicates": frames.predicates_by,
        "precision": frames.precision,
        "tags": settings.tags,
        "max_words": frames.max_words,
        "words_below": settings.words_below,
        "drawn": settings.spans,
        "harmed": settings.harmed,
        "harm": settings.harm,
        "seed": settings.loop.seed,
    }
    found: TaggingTransformer = TaggingTransformer.load(
        str(folder), subfolder=transformer_place(folder), local_files_only=True, init_defaults=options
    )
    if settings.layers is not None:
        found.keep_layers(settings.layers)
    return found
