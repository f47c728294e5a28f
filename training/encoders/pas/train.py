"""Train an encoder with spans in a separate process: `python -m training.encoders.pas.train --settings FILE`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from training.data.labelled_pairs import LabelledPairs
from training.data.parses import Frames
from training.encoders.pair_table import PairTable
from training.encoders.pair_training import Material, PairTraining
from training.encoders.pas.data import learnt_from, resolved
from training.encoders.pas.model_card import write_card
from training.encoders.pas.settings import PasSettings
from training.jobs import Source, TrainingJob, read_job
from training.process import run_process

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.encoders.backbone import Backbone
    from training.encoders.pair_task import Prepared
    from training.encoders.pas.task import PasTask
    from training.encoders.structures import Structures

PasJob = TrainingJob[Source, PasSettings]
MODULE = "training.encoders.pas.train"


class PasTraining(PairTraining[PasSettings, Frames, PairTable]):
    """Training with predicates and their arguments as structure; the twin has no spans."""

    module = MODULE
    lacking = "have no semantic roles and are trained on without spans; `facetflow rejects` says why"
    resolved = staticmethod(resolved)
    learnt_from = staticmethod(learnt_from)
    card = staticmethod(write_card)

    def read_structure(self, texts: Sequence[str], settings: PasSettings) -> Frames | None:
        """Read frames."""
        return self.job.source.read_parses(Frames, texts) if settings.spans != "none" else None

    def table(self, data: LabelledPairs, split: str, settings: PasSettings) -> PairTable:
        """Take all pairs of the split."""
        return PairTable(data, split, settings.labels)

    def start(self, material: Material[PasSettings, Frames], device: str) -> "SentenceTransformer":
        """Add spans to the backbone's pooling."""
        from training.encoders.pas.encoder import start_model

        return start_model(material.backbone, material.settings, material.structure, device)

    def make_task(
        self, backbone: "Backbone", prepared: "Prepared[PairTable]", settings: PasSettings
    ) -> "Callable[[PasSettings], PasTask]":
        """Train a classifier of pairs."""
        from training.encoders.pas.task import PasTask

        return lambda settings: PasTask(backbone, prepared, settings)

    def facts(
        self, material: Material[PasSettings, Frames], backbone: "Backbone", prepared: "Prepared[PairTable]"
    ) -> dict[str, Any]:
        """Count pairs and spans."""
        frames = material.structure
        return {
            "pairs": {"train": len(prepared.train), "dev": len(prepared.dev)},
            "tagger": frames and _tagger(frames, backbone, len(material.data.texts)),
        }


def train(job: PasJob) -> Path:
    """Train an encoder, and return its folder; errors as in `PairTraining.run`.

    Args:
        job: the job.
    """
    return PasTraining(job).run()


def _tagger(frames: Frames, backbone: "Backbone", sentences: int) -> dict[str, Any]:
    """Return the entry of training.json on the tagger and its spans."""
    from training.modules.frames import ROLES

    spans = cast("Structures", backbone.beside).counts(ROLES, sentences)
    return {
        "identity": frames.parser,
        "weights": frames.weights,
        "predicates": frames.predicates_by,
        "sentences": sentences,
        "tagged": len(frames),
        "with_spans": int((spans > 0).sum()),
        "spans": int(spans.sum()),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    about = "Train an encoder with predicate-argument spans: TrainingJob as JSON."
    return run_process(MODULE, about, lambda path: train(read_job(PasJob, path)), arguments)


if __name__ == "__main__":
    sys.exit(main())
