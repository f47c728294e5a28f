"""Training of an encoder on judged pairs, shared by all kinds that add a structure of their sentences.

    judged pairs ─┬─ labels, checked ─────────┐
                  └─ structure of sentences ──┴─ backbone, word pieces ── loop ── encoder/

A kind defines which pairs it trains on, which structure of their sentences it reads, its model and its task; a twin
without the structure is trained in the same way.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import polars as pl

from features.core.faults import BackboneUnfit, NothingToLearn, NoTrainingData, SplitsOverlap, UnknownLabel
from features.core.wording import all_of
from training.data.labelled_pairs import LabelledPairs
from training.data.pair_tables import apart
from training.encoders.loading import load_encoder, transformer_folder
from training.encoders.ratings import ChosenRatings, chosen_ratings
from training.encoders.running import Learnt, TrainingPlan, corpora_of, train_once, write_encoder
from training.encoders.settings import BY_POSITIVE, EncoderSettings, PairSettings, check_corpora
from training.jobs import Source, TrainingJob
from training.progress import log

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import nn

    from training.encoders.backbone import Backbone, Tokens
    from training.encoders.pair_task import PairTable, PairTask, Prepared
    from training.encoders.structures import Structure
    from training.modules.structured_transformer import StructuredTransformer

SettingsT = TypeVar("SettingsT", bound=PairSettings)
StructureT = TypeVar("StructureT", bound="Structure")
TransformerT = TypeVar("TransformerT", bound="StructuredTransformer")


class PairTraining(ABC, Generic[SettingsT, StructureT]):
    """One training; a finished job does nothing."""

    reads: ClassVar[type[Any]]
    """What is read as structure of the sentences, unless the settings ask for a twin without."""
    lacking: ClassVar[str]
    """End of the log message on sentences without a structure."""

    settings: SettingsT
    """Settings of the encoder, with labels filled in."""
    data: LabelledPairs
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
        is_twin = self.reads.STAGE in settings.unread
        self.structure = None if is_twin else self.job.source.read_parses(self.reads, data.texts)
        self.ratings = chosen_ratings(self.job)
        digest = data.digest() + (f"+{self.structure.digest()}" if self.structure else "")
        self.plan = TrainingPlan.of(self.job, settings, digest, data.source, ratings=self.ratings, dropped=dropped)
        return train_once(self.plan, self._learn)

    @staticmethod
    @abstractmethod
    def resolved(data: LabelledPairs, settings: Any) -> Any:
        """Return the settings with the labels filled in; raise an error if they are wrong."""

    @staticmethod
    @abstractmethod
    def learnt_from(data: LabelledPairs, settings: Any) -> LabelledPairs:
        """Return the pairs to train on and to choose the best model by, from settings with labels."""

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

    def warn_of_little(self, train: "PairTable", dev: "PairTable") -> None:
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
        from training.encoders.learning import learn
        from training.encoders.pair_task import PairTable, Prepared
        from training.loop.machine import prepare_machine

        train, dev = (PairTable(self.data, split, self.settings) for split in self.settings.splits)
        self.warn_of_little(train, dev)
        ratings = self.ratings.among(self.data.texts) if self.ratings else None
        machine = prepare_machine(self.settings.loop, self.job.output)
        backbone, tokens = self._prepare(ratings.further if ratings else (), str(machine.device), machine.precision)
        backbone.keep_states(tokens, self.plan.shared)
        prepared = Prepared(tokens=tokens, train=train, dev=dev, ratings=ratings)
        about = f"{len(train)} training pairs, {len(dev)} dev pairs, {len(self.data.texts)} sentences"
        learn(self.plan, machine, self.make_task(backbone, prepared), self._complete, about=about)

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
        facts = {
            "corpora": corpora_of(self.plan, self.data.pairs),
            "calibration": calibration and asdict(calibration),
            "threshold": asdict(classifier.threshold) if classifier and classifier.threshold else None,
            "chosen_by": self.ratings.recorded() if self.ratings else {"set": None},
            **self.facts(task.backbone, task.prepared),
        }
        further = classifier.save if classifier else None
        write_encoder(self.plan, learnt, task.backbone, facts, further=further)


def training_labels(data: LabelledPairs, settings: EncoderSettings) -> dict[str, int]:
    """Return the labels of the training pairs, sorted, with their counts."""
    corpora = sorted(set(data.pairs["corpus"]))
    check_corpora(settings, corpora, "pairs with labels")
    of_corpora = data.pairs.filter(pl.col("corpus").is_in(list(settings.corpora or corpora)))
    of_train = of_corpora.filter(split=settings.splits[0])
    if not of_train.height:
        splits = ", ".join(sorted(set(of_corpora["split"])))
        raise NoTrainingData(
            f"No pair in the split {settings.splits[0]!r} has a label, which the encoder {settings.name!r} needs; "
            f"splits with such pairs: {splits}. Name one of these first in its `splits`."
        )
    return dict(of_train.group_by("label").len().sort("label").iter_rows())


def check_labels(labels: Sequence[str], known: Sequence[str], settings: EncoderSettings) -> None:
    """Check that every label occurs in the training pairs."""
    if unknown := [name for name in labels if name not in known]:
        raise UnknownLabel(
            f"`labels` of the encoder {settings.name!r} names {unknown[0]!r}, which no training pair has; there are: "
            f"{', '.join(known) or 'none'}."
        )


def classes_of(counts: Mapping[str, int], settings: PairSettings, remedy: str) -> tuple[str, ...]:
    """Return the labels that a classifier learns: those of the settings, or else all that training pairs have."""
    labels = tuple(counts)
    check_labels(settings.labels, labels, settings)
    if len(labels) == 1:
        have_the_same = "has the label" if counts[labels[0]] == 1 else "have the same label,"
        raise NothingToLearn(
            f"{all_of(counts[labels[0]], 'training pair')} {have_the_same} {labels[0]!r}: a classifier learns nothing "
            f"from it. {remedy}"
        )
    return settings.labels or labels


def found_positive(known: Sequence[str], settings: PairSettings) -> str:
    """Return which of the labels of the training pairs is the positive one."""
    label = settings.positive_among(known)
    if label is None:
        raise UnknownLabel(
            f"`positive_label` of the encoder {settings.name!r} is {settings.positive_label!r}, which no training pair "
            f"has; name one of: {', '.join(known)}."
        )
    if label != settings.positive_label:
        log.info("the positive label is %r: no pair has the label %r", label, settings.positive_label)
    return label


def check_dev(data: LabelledPairs, settings: EncoderSettings, positive: str) -> None:
    """Check that the dev pairs can choose a model by a score of `BY_POSITIVE`."""
    dev = data.pairs.filter(split=settings.splits[1])
    positives = dev.filter(label=positive).height
    if settings.choose_by in BY_POSITIVE and dev.height and positives in {0, dev.height}:
        raise NothingToLearn(
            f"Of the {dev.height:,} dev pairs {positives:,} have the label {positive!r}, so no model can be chosen by "
            f"`{settings.choose_by}`: give the encoder {settings.name!r} dev pairs of both kinds, or set "
            'choose_by = "loss".'
        )


def transformer_and_pooling(folder: Path, settings: PairSettings) -> "tuple[nn.Module, Any, int]":
    """Return the transformer of a backbone with the layers that it keeps, its pooling, and its maximum of tokens.

    A final normalisation is dropped: the modules that follow determine the length of embeddings.
    """
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.sentence_transformer.modules import Pooling

    from training.modules.layers import keep_layers

    plain = load_encoder(folder, device="cpu")
    first, *others = plain
    pooling = [module for module in others if isinstance(module, Pooling)]
    if len(pooling) != 1 or any(not isinstance(module, (Pooling, Normalize)) for module in others):
        made_of = ", ".join(type(module).__name__ for module in plain)
        raise BackboneUnfit(
            f"the backbone {settings.backbone!r} is made of {made_of}; an encoder of kind {settings.kind!r} needs one "
            "of a transformer and one pooling, such as all-MiniLM-L6-v2"
        )
    if settings.layers is not None:
        keep_layers(plain.transformers_model, settings.layers)
    return first, pooling[0], min(settings.max_tokens, int(plain.max_seq_length or settings.max_tokens))


def structured(kind: "type[TransformerT]", folder: Path, settings: PairSettings, **options: Any) -> "TransformerT":
    """Return the transformer of a backbone, with the layers that it keeps, as one of a kind that adds a structure."""
    subfolder = transformer_folder(folder)
    options["words_below"] = settings.words_below
    transformer: TransformerT = kind.load(
        str(folder), subfolder=subfolder, local_files_only=True, init_defaults=options
    )
    if settings.layers is not None:
        transformer.keep_layers(settings.layers)
    return transformer
