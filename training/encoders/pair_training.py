"""Training of an encoder on judged pairs, shared by all kinds that add a structure of their sentences.

    judged pairs ─┬─ labels, checked ─────────┐
                  └─ structure of sentences ──┴─ backbone, word pieces ── loop ── encoder/

A kind defines which pairs it trains on, which structure of their sentences it reads, its model and its task; a twin
without the structure is trained in the same way.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Normalize
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import nn

from features.core.errors import ModelError
from features.core.faults import ModelUnfit, OtherParser, SplitsOverlap
from features.core.wording import counted
from features.parsers.sentence_encoder import FULL_PRECISION
from features.parsers.settings import DependencySettings, SrlSettings
from training.data.labelled_pairs import LabelledPairs
from training.data.pair_tables import apart
from training.data.parses import Frames, Parses
from training.encoders.backbone import Backbone, Tokens
from training.encoders.learning import learn
from training.encoders.loading import load_encoder, transformer_folder
from training.encoders.pair_task import PairTable, PairTask, Prepared
from training.encoders.running import Learnt, TrainingPlan, corpora_of, train_once, write_encoder
from training.encoders.settings import PairSettings, check_dev, training_labels
from training.encoders.structures import read_sentences
from training.jobs import Source, TrainingJob
from training.loop.machine import prepare_machine
from training.modules.calibration import NEEDED
from training.modules.layers import keep_layers
from training.modules.parse import differs, weights_of
from training.modules.structured_transformer import StructuredTransformer
from training.progress import log

SettingsT = TypeVar("SettingsT", bound=PairSettings)
StructureT = TypeVar("StructureT", bound=Parses | Frames)
TransformerT = TypeVar("TransformerT", bound=StructuredTransformer)


@dataclass(frozen=True)
class PairTraining(ABC, Generic[SettingsT, StructureT]):
    """A training on judged pairs, with the structure of their sentences."""

    reads: ClassVar[type[Any]]
    """What is read as structure of the sentences, unless the settings ask for a twin without."""

    plan: TrainingPlan
    settings: SettingsT  # settings of the encoder, with labels filled in
    data: LabelledPairs  # pairs to train on and to choose the best model by
    structure: StructureT | None  # structure of their sentences; None for a twin without

    @classmethod
    def run(cls, job: TrainingJob[Source, SettingsT]) -> Path:
        """Train an encoder, from a checkpoint in the run's folder if there is one, and return its folder."""
        data = job.source.read(LabelledPairs)
        settings = job.settings.with_labels(training_labels(data, job.settings))
        kept, dropped = apart(data, settings.splits[0], settings.corpora)
        data = cls.learnt_from(kept, settings)
        is_twin = cls.reads.STAGE in settings.unread
        structure = None if is_twin else job.source.read_parses(cls.reads, data.texts)
        digest = data.digest() + (f"+{structure.digest()}" if structure else "")
        plan = TrainingPlan.of(job, settings, digest, data.source, dropped)
        return train_once(plan, cls(plan, settings, data, structure)._learn)

    @staticmethod
    def learnt_from(data: LabelledPairs, settings: Any) -> LabelledPairs:
        """Return the pairs to train on and to choose the best model by, from settings with labels."""
        chosen = data.select(splits=settings.splits, corpora=settings.corpora, labels=settings.learnt_labels)
        check_dev(chosen, settings)
        left = chosen.pairs.filter(split=settings.splits[0])["label"]
        if left.n_unique() < (2 if settings.classifies else 1):
            others = f", but for {len(left):,} of one label" if len(left) else ""
            raise SplitsOverlap(
                f"All pairs of the split {settings.splits[0]!r} that the encoder {settings.name!r} could learn from "
                f"are also in another split{others}: check `files` of the corpora."
            )
        return chosen

    @abstractmethod
    def modules(self, transformer: nn.Module, pooling: Any) -> list[nn.Module]:
        """Return the modules of the encoder before training, from the transformer and the pooling of its backbone."""

    @abstractmethod
    def facts(self, backbone: Backbone, prepared: Prepared) -> dict[str, Any]:
        """Return the part of training.json that only this kind has."""

    def structured(self, kind: type[TransformerT], **options: Any) -> TransformerT:
        """Return the transformer of the backbone, with the layers that it keeps, as one that adds a structure."""
        folder, settings = self.plan.backbone, self.settings
        options["words_below"] = settings.words_below
        transformer: TransformerT = kind.load(
            str(folder),
            subfolder=transformer_folder(folder),
            local_files_only=True,
            model_kwargs=FULL_PRECISION,
            init_defaults=options,
        )
        if settings.layers is not None:
            transformer.keep_layers(settings.layers)
        return transformer

    def digest_of_parser(
        self,
        parses: Parses | Frames,
        parser: DependencySettings | SrlSettings,
        option: str,
        identity: Callable[[], str],
    ) -> str:
        """Return the digest of the parser of the finished encoder, if it is the one that made the parses.

        The option of the encoder may name it; the identity is as in the column `parser`.
        """
        by, named = f"the {parses.WHAT} are by", f"`{option}` of the encoder {self.settings.name!r}"
        try:
            difference = differs(parses.parser, parses.weights, identity(), parser)
        except ModelError as error:
            if getattr(self.settings, option):
                raise
            raise OtherParser(
                f"{by} {parses.parser!r}, and the finished encoder parses with the same, which is not installed "
                f"({str(error).rstrip('.')}): pull it, or give its folder as {named}."
            ) from error
        if difference:
            raise OtherParser(
                f"{by} {difference}, with which the finished encoder would parse differently: pull that one, give its "
                f"folder as {named}, or build them again with this one."
            )
        return weights_of(parser)

    def make_task(self, backbone: Backbone, prepared: Prepared) -> Callable[[SettingsT], PairTask[Any]]:
        """Return a factory that makes the task from settings; called before training."""
        return lambda settings: PairTask(backbone, prepared, settings)

    def warn_of_little(self, train: PairTable, dev: PairTable) -> None:
        """Warn when there are too few pairs to learn much from, or to choose the model by."""
        size = self.settings.loop.batch_size
        if len(train) < size:
            log.warning("few pairs to train on: %d, less than one batch (%d)", len(train), size)
        if not len(dev):
            labels = [label for label in self.settings.learnt_labels if label != self.settings.hard_label]
            self.warn_of_dev(f"no dev pairs with the label {' or '.join(labels)}" if labels else "no dev pairs")

    def warn_of_dev(self, lack: str) -> None:
        """Warn that there are too few dev pairs, unless ratings choose the model."""
        if not self.plan.ratings:
            split = self.settings.splits[1]
            log.warning("%s (split %r) to choose the best model by: the last one is kept", lack, split)

    def _learn(self) -> None:
        train, dev = (PairTable(self.data, split, self.settings) for split in self.settings.splits)
        self.warn_of_little(train, dev)
        ratings = self.plan.ratings.among(self.data.texts) if self.plan.ratings else None
        machine = prepare_machine(self.settings.loop, self.plan.job.output)
        backbone, tokens = self._prepare(ratings.further if ratings else (), str(machine.device), machine.precision)
        backbone.keep_states(tokens, self.plan.shared)
        prepared = Prepared(tokens=tokens, train=train, dev=dev, ratings=ratings)
        pairs = f"{counted(len(train), 'training pair')}, {counted(len(dev), 'dev pair')}"
        about = f"{pairs}, {len(self.data.texts):,} sentences, {backbone.computing}"
        learn(self.plan, machine, self.make_task(backbone, prepared), self._complete, about=about)

    def _prepare(self, further: Sequence[str], device: str, precision: torch.dtype) -> tuple[Backbone, Tokens]:
        """Return the backbone to tune, and the word pieces of all sentences, those of the ratings last."""
        texts = self.data.texts
        backbone = Backbone(self.start(device), self.settings, precision)
        if self.structure is None:
            return backbone, backbone.tokenize([*texts, *further])
        if missing := len(texts) - len(self.structure):
            log.warning(
                "%s of %s sentences have no %s and are trained on without them (`facetflow rejects` says why)",
                *(f"{missing:,}", f"{len(texts):,}", self.reads.WHAT),
            )
        transformer: Any = backbone.model[0]
        tokens, backbone.beside = read_sentences(transformer, texts, self.structure, further)
        return backbone, tokens

    def start(self, device: str) -> SentenceTransformer:
        """Return the encoder before training; the seed of the loop initialises its new modules.

        A final normalisation is dropped: the modules that follow determine the length of embeddings.
        """
        settings = self.settings
        plain = load_encoder(self.plan.backbone, device="cpu")
        first, *others = plain
        pooling = [module for module in others if isinstance(module, Pooling)]
        if len(pooling) != 1 or any(not isinstance(module, (Pooling, Normalize)) for module in others):
            made_of = ", ".join(type(module).__name__ for module in plain)
            raise ModelUnfit(
                f"the backbone {settings.backbone!r} is made of {made_of}; an encoder of kind {settings.kind!r} needs "
                "one of a transformer and one pooling, such as all-MiniLM-L6-v2"
            )
        if settings.layers is not None:
            keep_layers(plain.transformers_model, settings.layers)
        torch.manual_seed(settings.loop.seed)
        model = SentenceTransformer(modules=self.modules(first, pooling[0]), device=device)
        model.max_seq_length = min(settings.max_tokens, int(plain.max_seq_length or settings.max_tokens))
        return model

    def _complete(self, learnt: Learnt[PairTask[Any]]) -> None:
        task = learnt.task
        task.eval()
        calibration, classifier = task.calibrate(), task.classifier
        if calibration:
            log.info("its probabilities %s", calibration.clause)
            if calibration.doubt:
                log.warning("%s", calibration.doubt)
        elif classifier:
            log.warning("its probabilities may be too high or too low: calibrating them takes %s", NEEDED)
        facts = {
            "corpora": corpora_of(self.plan, self.data.pairs),
            "calibration": calibration and asdict(calibration),
            "threshold": asdict(classifier.threshold) if classifier and classifier.threshold else None,
            **self.facts(task.backbone, task.prepared),
        }
        further = classifier.save if classifier else None
        write_encoder(self.plan, learnt, task.backbone, facts, further=further)
