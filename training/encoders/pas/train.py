"""Train an encoder with spans."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from training.data.parses import Frames
from training.encoders.pair_training import PairTraining
from training.encoders.pas.data import learnt_from, resolved
from training.encoders.pas.settings import PasSettings
from training.jobs import Source, TrainingJob

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.encoders.backbone import Backbone
    from training.encoders.pair_task import Prepared
    from training.encoders.structures import Structures

PasJob = TrainingJob[Source, PasSettings]


class PasTraining(PairTraining[PasSettings, Frames]):
    """Training with predicates and their arguments as structure; the twin has no spans."""

    lacking = "have no semantic roles and are trained on without spans; `facetflow rejects` says why"
    resolved = staticmethod(resolved)
    learnt_from = staticmethod(learnt_from)

    def read_structure(self) -> Frames | None:
        """Read frames."""
        return self.job.source.read_parses(Frames, self.data.texts) if self.settings.spans != "none" else None

    def start(self, device: str) -> "SentenceTransformer":
        """Add spans to the backbone's pooling."""
        from training.encoders.pas.encoder import start_model

        return start_model(self.plan.backbone, self.settings, self.structure, device)

    def facts(self, backbone: "Backbone", prepared: "Prepared") -> dict[str, Any]:
        """Count pairs and spans."""
        from training.modules.tagging_transformer import ROLES

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
