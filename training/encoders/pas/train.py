"""Train an encoder with spans: a backbone, and the weighted sum of predicate-argument spans next to its pooling.

    spans = "tagged", …     TaggingTransformer ── Pooling ── SpanPooling: [pooling; spans]
    spans = "none"          Transformer ───────── Pooling

The twin without spans has only modules of sentence-transformers; the other is loaded by `facetflow.load_encoder`.
"""

from pathlib import Path
from typing import Any, cast

import polars as pl
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from features.core.draws import share_of
from features.core.errors import ModelError
from features.core.faults import NothingToLearn, OtherParser
from features.parsers.settings import SrlSettings
from training.data.labelled_pairs import LabelledPairs
from training.data.parses import Frames
from training.encoders.backbone import Backbone
from training.encoders.pair_task import Prepared
from training.encoders.pair_training import PairTraining, structured, transformer_and_pooling
from training.encoders.pas.settings import PasSettings
from training.encoders.structures import Structures
from training.jobs import Source, TrainingJob
from training.modules.parse import LabelNumbers, weights_of
from training.modules.span_pooling import SpanPooling
from training.modules.tagging_transformer import ROLES, TaggingTransformer

PasJob = TrainingJob[Source, PasSettings]


class PasTraining(PairTraining[PasSettings, Frames]):
    """Training with predicates and their arguments as structure; the twin has no spans."""

    reads = Frames
    lacking = "have no semantic roles and are trained on without spans; `facetflow rejects` says why"

    @staticmethod
    def learnt_from(data: LabelledPairs, settings: PasSettings) -> LabelledPairs:
        """Return the dev pairs and the requested share of the training pairs; settings with labels."""
        chosen = PairTraining.learnt_from(data, settings)
        if settings.training_share < 1:
            kept = [
                split != settings.splits[0] or share_of(f"{settings.loop.seed}/{pair}") < settings.training_share
                for pair, split in chosen.pairs.select("pair_id", "split").iter_rows()
            ]
            chosen = chosen.keep(pl.Series(kept, dtype=pl.Boolean))
        train = chosen.pairs.filter(split=settings.splits[0])
        if train["label"].n_unique() < 2:
            raise NothingToLearn(
                f"The {train.height:,} training pairs left by `training_share` = {settings.training_share:g} of the "
                f"encoder {settings.name!r} do not differ in their labels: raise it."
            )
        return chosen

    def start(self, device: str) -> SentenceTransformer:
        """Add spans to the backbone's pooling."""
        return start_model(self.plan.backbone, self.settings, self.structure, device)

    def facts(self, backbone: Backbone, prepared: Prepared) -> dict[str, Any]:
        """Count pairs and spans."""
        tagger, frames, sentences = None, self.structure, len(self.data.texts)
        if frames is not None:
            spans = cast("Structures", backbone.beside).counts(ROLES, sentences)
            tagger = {
                "identity": frames.parser,
                "weights": frames.weights,
                "predicates": frames.predicates_by,
                "sentences": sentences,
                "tagged": len(frames),
                "with_spans": int((spans > 0).sum()),
                "spans": int(spans.sum()),
            }
        return {"pairs": {"train": len(prepared.train), "dev": len(prepared.dev)}, "tagger": tagger}


def train(job: PasJob) -> Path:
    """Train an encoder, and return its folder; errors as in `PairTraining.run`."""
    return PasTraining(job).run()


def start_model(folder: Path, settings: PasSettings, frames: Frames | None, device: str) -> SentenceTransformer:
    """Return the encoder before training, a twin without frames; the seed of the loop initialises its new modules."""
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


def _tagging(folder: Path, settings: PasSettings, frames: Frames) -> TaggingTransformer:
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
