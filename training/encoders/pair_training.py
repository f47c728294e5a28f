"""Training of an encoder on judged pairs, shared by all kinds that add a structure of their sentences.

    judged pairs ─┬─ labels, checked ─────────┐
                  └─ structure of sentences ──┴─ backbone, word pieces ── loop ── encoder/

A kind defines which pairs it trains on, which structure of their sentences it reads, its model and its task; a twin
without the structure is trained in the same way.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from features import models
from features.core.faults import SplitsOverlap
from training.data.apart import apart
from training.data.labelled_pairs import LabelledPairs
from training.encoders.label_checks import warn_of_few, warn_of_no_dev
from training.encoders.pair_table import PairTable
from training.encoders.plan import TrainingPlan
from training.encoders.ratings import ChosenRatings, chosen_ratings
from training.encoders.running import corpora_of, report_of, train_once, write_encoder
from training.encoders.settings import PairSettings
from training.jobs import Source, TrainingJob
from training.runs import ENCODER
from training.writing import writing

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.encoders.backbone import Backbone, Tokens
    from training.encoders.learning import Learnt
    from training.encoders.pair_task import PairTask, Prepared
    from training.encoders.structures import Structure

_log = logging.getLogger("training")


SettingsT = TypeVar("SettingsT", bound=PairSettings)
StructureT = TypeVar("StructureT", bound="Structure")
PairsT = TypeVar("PairsT", bound=PairTable)


@dataclass(frozen=True, slots=True)
class Material(Generic[SettingsT, StructureT]):
    """Inputs of a training.

    Args:
        settings: of the encoder, with labels filled in.
        data: pairs to train on and to choose the best model by.
        structure: of their sentences; None for a twin without.
        ratings: ratings to choose the best model by instead of the dev pairs.
        backbone: folder of the backbone.
    """

    settings: SettingsT
    data: "LabelledPairs"
    structure: StructureT | None
    ratings: ChosenRatings | None
    backbone: Path


class PairTraining(ABC, Generic[SettingsT, StructureT, PairsT]):
    """One training.

    Args:
        job: the job. A finished job does nothing.
    """

    module: ClassVar[str]
    """Module to run in each process."""
    lacking: ClassVar[str]
    """End of the log message on sentences without a structure."""
    resolved: ClassVar["staticmethod[[Any, Any], Any]"]
    """Data and settings → settings with the labels filled in; raises an error if they are wrong."""
    learnt_from: ClassVar["staticmethod[[Any, Any], Any]"]
    """Data and settings → the pairs to train on and to choose the best model by."""
    card: ClassVar["staticmethod[[Mapping[str, Any]], str]"]
    """Content of training.json → the README.md of the encoder."""

    def __init__(self, job: TrainingJob[Source, SettingsT]) -> None:
        self.job = job

    def run(self) -> Path:
        """Train an encoder, from a checkpoint in the run's folder if there is one.

        Returns:
            Folder of the encoder.

        Raises:
            InputError: when there are no pairs to train on, no structure of their sentences, or only one label.
            SettingsError: when a corpus or a label does not exist, or the folder holds another training.
            ModelError: when the backbone or the parser is missing or unsuitable.
            RunError: when a loss is not finite, another process trains in the folder, or it cannot be written.
        """
        job = self.job
        data = job.source.read(LabelledPairs)
        settings: SettingsT = self.resolved(data, job.settings)
        data = data.select(corpora=settings.corpora)
        kept = apart(data, settings.splits[0])
        dropped = len(data) - len(kept)
        data = self.learnt_from(kept, settings)
        if settings.splits[0] not in set(data.pairs["split"]):
            raise SplitsOverlap(
                f"All pairs of the split {settings.splits[0]!r} that the encoder {settings.name!r} could learn from "
                "are also in another split: check `files` of the corpora."
            )
        structure = self.read_structure(data.texts, settings)
        ratings = chosen_ratings(job)
        folder = models.locate(settings.backbone, job.base)
        plan = TrainingPlan(
            settings,
            data_digest=data.digest() + (f"+{structure.digest()}" if structure else ""),
            backbone_digest=models.digest(folder),
            source=data.source,
            ratings_digest=ratings.digest if ratings else "",
            dropped=dropped,
        )
        material = Material(settings, data, structure, ratings, folder)
        return train_once(job, plan, self.module, lambda: self._learn(plan, material))

    @abstractmethod
    def read_structure(self, texts: Sequence[str], settings: SettingsT) -> StructureT | None:
        """Return the structure of sentences; None for a twin without."""

    @abstractmethod
    def table(self, data: "LabelledPairs", split: str, settings: SettingsT) -> PairsT:
        """Return the pairs of a split as the task takes them."""

    @abstractmethod
    def start(self, material: Material[SettingsT, StructureT], device: str) -> "SentenceTransformer":
        """Return the encoder before training."""

    @abstractmethod
    def make_task(
        self, backbone: "Backbone", prepared: "Prepared[PairsT]", settings: SettingsT
    ) -> "Callable[[SettingsT], PairTask[PairsT, Any]]":
        """Return a factory that makes the task from settings; called before training."""

    @abstractmethod
    def facts(
        self, material: Material[SettingsT, StructureT], backbone: "Backbone", prepared: "Prepared[PairsT]"
    ) -> dict[str, Any]:
        """Return the part of training.json that only this kind has."""

    def least_dev(self, settings: SettingsT) -> int:
        """Return how many dev pairs can choose a model."""
        return 1

    def warn_of_little(self, train: PairsT, settings: SettingsT) -> None:
        """Warn when there are too few pairs to learn much from."""
        warn_of_few(len(train), settings)

    def _learn(self, plan: TrainingPlan, material: Material[SettingsT, StructureT]) -> None:
        """Train the encoder of a plan and write it."""
        from training.encoders.frozen_states import SharedStates
        from training.encoders.learning import learn
        from training.encoders.pair_task import Prepared
        from training.loop.machine import prepare_machine

        settings, data = material.settings, material.data
        train, dev = (self.table(data, split, settings) for split in settings.splits)
        self.warn_of_little(train, settings)
        ratings = material.ratings.among(data.texts) if material.ratings else None
        if not ratings:
            warn_of_no_dev(len(dev), self.least_dev(settings), settings)
        machine = prepare_machine(settings.loop, self.job.output)
        backbone, tokens = self._prepare(
            material, ratings.further if ratings else (), str(machine.device), machine.precision
        )
        backbone.keep_states(tokens, SharedStates.of(self.job.shared, plan.backbone_digest))
        prepared = Prepared(tokens=tokens, train=train, dev=dev, ratings=ratings)
        learn(
            plan,
            machine,
            self.job.output,
            self.make_task(backbone, prepared, settings),
            lambda learnt: self._complete(plan, material, learnt),
            about=f"{len(train)} training pairs, {len(dev)} dev pairs, {len(data.texts)} sentences",
        )

    def _prepare(
        self, material: Material[SettingsT, StructureT], further: Sequence[str], device: str, precision: Any
    ) -> "tuple[Backbone, Tokens]":
        """Return the backbone to tune, and the word pieces of all sentences, those of the ratings last."""
        from training.encoders.backbone import Backbone
        from training.encoders.structures import read_sentences

        texts, structure = material.data.texts, material.structure
        backbone = Backbone.of(self.start(material, device), material.settings, precision)
        if structure is None:
            return backbone, backbone.tokenize([*texts, *further], max_tokens=material.settings.max_tokens)
        if missing := len(texts) - len(structure):
            _log.warning("%s of %s sentences %s", f"{missing:,}", f"{len(texts):,}", self.lacking)
        transformer: Any = backbone.model[0]
        tokens, backbone.beside = read_sentences(transformer, texts, structure, further)
        return backbone, tokens

    def _complete(
        self,
        plan: TrainingPlan,
        material: Material[SettingsT, StructureT],
        learnt: "Learnt[PairTask[PairsT, Any]]",
    ) -> None:
        """Write the encoder of a finished training."""
        from training.modules.calibration import NEEDED

        task = learnt.task
        task.eval()
        calibration = task.calibrate()
        if calibration:
            _log.info("its probabilities %s", calibration.told)
            if calibration.doubt:
                _log.warning("%s", calibration.doubt)
        elif task.classifier:
            _log.warning("its probabilities may be too high or too low: calibrating them takes %s", NEEDED)
        threshold = task.classifier.threshold if task.classifier else None
        report: dict[str, Any] = report_of(plan, task.backbone, learnt) | {
            "corpora": corpora_of(material.data.pairs, material.settings, self.job.licences),
            "calibration": calibration.recorded() if calibration else None,
            "threshold": threshold.recorded() if threshold else None,
            "chosen_by": material.ratings.recorded() if material.ratings else {"set": None},
            **self.facts(material, task.backbone, task.prepared),
        }
        folder = self.job.output / ENCODER
        head = task.classifier.save if task.classifier else None
        with writing(folder):
            write_encoder(task.backbone.model, report, folder, card=self.card(report), head=head)
        _log.info("%s is done: %.0f pairs/s", folder, learnt.outcome.per_second)
