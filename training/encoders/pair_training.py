"""Training of an encoder on judged pairs, shared by all kinds that add a structure of their sentences.

    judged pairs ─┬─ labels, checked ─────────┐
                  └─ structure of sentences ──┴─ backbone, word pieces ── loop ── encoder/

A kind defines which pairs it trains on, which structure of their sentences it reads, its model and its task; a twin
without the structure is trained in the same way.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from features.core.faults import SplitsOverlap
from training.data.labelled_pairs import LabelledPairs
from training.data.pair_tables import apart
from training.encoders.pair_table import PairTable
from training.encoders.plan import TrainingPlan
from training.encoders.ratings import ChosenRatings, chosen_ratings
from training.encoders.running import corpora_of, train_once, write_encoder
from training.encoders.settings import PairSettings
from training.jobs import Source, TrainingJob
from training.progress import log

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.encoders.backbone import Backbone, Tokens
    from training.encoders.learning import Learnt
    from training.encoders.pair_task import PairTask, Prepared
    from training.encoders.structures import Structure

SettingsT = TypeVar("SettingsT", bound=PairSettings)
StructureT = TypeVar("StructureT", bound="Structure")


class PairTraining(ABC, Generic[SettingsT, StructureT]):
    """One training; a finished job does nothing."""

    lacking: ClassVar[str]
    """End of the log message on sentences without a structure."""
    resolved: ClassVar["staticmethod[[Any, Any], Any]"]
    """Data and settings → settings with the labels filled in; raises an error if they are wrong."""
    learnt_from: ClassVar["staticmethod[[Any, Any], Any]"]
    """Data and settings → the pairs to train on and to choose the best model by."""

    settings: SettingsT
    """Settings of the encoder, with labels filled in."""
    data: "LabelledPairs"
    """Pairs to train on and to choose the best model by."""
    structure: StructureT | None
    """Structure of their sentences; None for a twin without."""
    ratings: ChosenRatings | None
    """Ratings to choose the best model by instead of the dev pairs."""
    plan: TrainingPlan

    def __init__(self, job: TrainingJob[Source, SettingsT]) -> None:
        self.job = job

    def run(self) -> Path:
        """Train an encoder, from a checkpoint in the run's folder if there is one, and return its folder."""
        data = self.job.source.read(LabelledPairs)
        settings: SettingsT = self.resolved(data, self.job.settings)
        data = data.select(corpora=settings.corpora)
        kept = apart(data, settings.splits[0])
        dropped = len(data) - len(kept)
        data = self.learnt_from(kept, settings)
        if settings.splits[0] not in set(data.pairs["split"]):
            raise SplitsOverlap(
                f"All pairs of the split {settings.splits[0]!r} that the encoder {settings.name!r} could learn from "
                "are also in another split: check `files` of the corpora."
            )
        self.settings, self.data = settings, data
        self.structure = self.read_structure()
        self.ratings = chosen_ratings(self.job)
        digest = data.digest() + (f"+{self.structure.digest()}" if self.structure else "")
        self.plan = TrainingPlan.of(self.job, settings, digest, data.source, ratings=self.ratings, dropped=dropped)
        return train_once(self.job, self.plan, self._learn)

    @abstractmethod
    def read_structure(self) -> StructureT | None:
        """Return the structure of the sentences; None for a twin without."""

    @abstractmethod
    def start(self, device: str) -> "SentenceTransformer":
        """Return the encoder before training."""

    @abstractmethod
    def facts(self, backbone: "Backbone", prepared: "Prepared") -> dict[str, Any]:
        """Return the part of training.json that only this kind has."""

    def make_task(self, backbone: "Backbone", prepared: "Prepared") -> "Callable[[SettingsT], PairTask[Any]]":
        """Return a factory that makes the task from settings; called before training."""
        from training.encoders.pair_task import PairTask

        return lambda settings: PairTask(backbone, prepared, settings)

    def warn_of_little(self, train: PairTable, dev: PairTable) -> None:
        """Warn when there are too few pairs to learn much from, or to choose the model by."""
        size = self.settings.loop.batch_size
        if len(train) < size:
            log.warning("few pairs to train on: %d, less than one batch (%d)", len(train), size)
        if not len(dev):
            self.warn_of_dev("no dev pairs")

    def warn_of_dev(self, there: str) -> None:
        """Warn that there are too few dev pairs, unless ratings choose the model."""
        if not self.ratings:
            split = self.settings.splits[1]
            log.warning("%s (split %r) to choose the best model by: the last one is kept", there, split)

    def _learn(self) -> None:
        from training.encoders.frozen_states import SharedStates
        from training.encoders.learning import learn
        from training.encoders.pair_task import Prepared
        from training.loop.machine import prepare_machine

        train, dev = (PairTable(self.data, split, self.settings) for split in self.settings.splits)
        self.warn_of_little(train, dev)
        ratings = self.ratings.among(self.data.texts) if self.ratings else None
        machine = prepare_machine(self.settings.loop, self.job.output)
        backbone, tokens = self._prepare(ratings.further if ratings else (), str(machine.device), machine.precision)
        shared = SharedStates(self.job.shared, self.plan.backbone_digest) if self.job.shared else None
        backbone.keep_states(tokens, shared)
        prepared = Prepared(tokens=tokens, train=train, dev=dev, ratings=ratings)
        about = f"{len(train)} training pairs, {len(dev)} dev pairs, {len(self.data.texts)} sentences"
        make_task = self.make_task(backbone, prepared)
        learn(self.plan, machine, self.job.output, make_task, self._complete, about=about)

    def _prepare(self, further: Sequence[str], device: str, precision: Any) -> "tuple[Backbone, Tokens]":
        """Return the backbone to tune, and the word pieces of all sentences, those of the ratings last."""
        from training.encoders.backbone import Backbone
        from training.encoders.structures import read_sentences

        texts = self.data.texts
        backbone = Backbone(self.start(device), self.settings, precision)
        if self.structure is None:
            return backbone, backbone.tokenize([*texts, *further], max_tokens=self.settings.max_tokens)
        if missing := len(texts) - len(self.structure):
            log.warning("%s of %s sentences %s", f"{missing:,}", f"{len(texts):,}", self.lacking)
        transformer: Any = backbone.model[0]
        tokens, backbone.beside = read_sentences(transformer, texts, self.structure, further)
        return backbone, tokens

    def _complete(self, learnt: "Learnt[PairTask[Any]]") -> None:
        from training.modules.calibration import NEEDED

        task = learnt.task
        task.eval()
        calibration, classifier = task.calibrate(), task.classifier
        if calibration:
            log.info("its probabilities %s", calibration.told)
            if calibration.doubt:
                log.warning("%s", calibration.doubt)
        elif classifier:
            log.warning("its probabilities may be too high or too low: calibrating them takes %s", NEEDED)
        threshold = classifier.threshold if classifier else None
        facts = {
            "corpora": corpora_of(self.data.pairs, self.settings, self.job.licences),
            "calibration": calibration and asdict(calibration),
            "threshold": threshold.recorded() if threshold else None,
            "chosen_by": self.ratings.recorded() if self.ratings else {"set": None},
            **self.facts(task.backbone, task.prepared),
        }
        head = classifier.save if classifier else None
        write_encoder(self.job, self.plan, learnt, task.backbone, facts, head=head)
