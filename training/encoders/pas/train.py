"""Train an encoder with spans: a backbone, and the weighted sum of predicate-argument spans next to its pooling.

    spans = "tagged", …     TaggingTransformer ── Pooling ── SpanPooling: [pooling; spans]
    spans = "none"          Transformer ───────── Pooling

The twin without spans has only modules of sentence-transformers; the other is loaded by `facetflow.load_encoder`.
"""

from typing import Any, cast

import polars as pl
from torch import nn

from features.core.draws import share_of
from features.core.faults import NothingToLearn
from features.parsers.settings import SrlSettings
from training.data.labelled_pairs import LabelledPairs
from training.data.parses import Frames
from training.encoders.backbone import Backbone
from training.encoders.pair_task import Prepared
from training.encoders.pair_training import PairTraining
from training.encoders.pas.settings import PasSettings
from training.encoders.structures import Structures
from training.modules.parse import LabelNumbers
from training.modules.span_pooling import SpanPooling
from training.modules.spans import ROLES
from training.modules.tagging_transformer import TaggingTransformer


class PasTraining(PairTraining[PasSettings, Frames]):
    """Training with predicates and their arguments as structure; the twin has no spans."""

    reads = Frames

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
                    f"The training pairs of the encoder {settings.name!r} that `training_share` = "
                    f"{settings.training_share:g} leaves ({train.height:,}) do not differ in their labels: raise it."
                )
        return chosen

    def modules(self, transformer: nn.Module, pooling: Any) -> list[nn.Module]:
        """Add spans to the backbone's pooling, none for the twin."""
        settings, frames = self.settings, self.structure
        if frames is None:
            return [transformer, pooling]
        tagging = self._tagging(frames)
        spans = SpanPooling(
            int(tagging.get_embedding_dimension()),
            int(pooling.get_embedding_dimension()),
            len(LabelNumbers(tagging.structure.roles)),
            weights=settings.weights,
            pooled=settings.pooled,
        )
        return [tagging, pooling, spans]

    def _tagging(self, frames: Frames) -> TaggingTransformer:
        settings, by = self.settings, frames.predicates_by
        tagger = SrlSettings(
            model=settings.tagger or frames.tagger, predicates=by, tags=settings.tags, max_words=frames.max_words
        )
        return self.structured(
            TaggingTransformer,
            tagger=tagger.model,
            tagger_weights=self.digest_of_parser(frames, tagger, "tagger", lambda: frames.parser),
            roles=frames.roles,
            predicates=by,
            precision=frames.precision,
            tags=settings.tags,
            max_words=frames.max_words,
            drawn=settings.spans,
            harmed=settings.harmed,
            harm=settings.harm,
            seed=settings.loop.seed,
        )

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


train = PasTraining.run
