"""Train a semantic role tagger: `python -m training.parsers.srl.train --settings FILE.json`."""

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from features import models
from features.core.durable import sync_all
from features.core.faults import FileEmpty, NotThisModel
from features.parsers.devices import computes_in_bfloat16
from features.parsers.srl.archive import OWN_SECTION, VOCABULARY, base_weights, write_archive
from features.parsers.srl.frames import AnnotatedSentence, read_annotated
from features.parsers.srl.scoring import evaluate, score_with
from features.parsers.srl.tagger import SrlTagger
from features.parsers.wordpieces import Wordpieces
from training.jobs import read_parser_job
from training.loop import together
from training.loop.settings import decisive
from training.loop.task import Group, Judgement, decaying_matrices
from training.loop.together import all_processes, only_trainer
from training.markdown import render_card
from training.parsers.srl.examples import IGNORED, Example, batches, label_names, marked, stack, unmarked
from training.parsers.srl.settings import TaggerJob, TaggerSettings
from training.process import run_process
from training.progress import log
from training.runs import TRAINING_FILE, TRAINING_LOCK, finished_identity, flattened, is_done
from training.writing import require_writable, write_json, write_text

if TYPE_CHECKING:
    from features.parsers.srl.network import SrlBert
    from training.loop.machine import Machine

TAGGER = "tagger"
"""Folder of the finished tagger within the output."""

_MODULE = "training.parsers.srl.train"


def train(job: TaggerJob) -> Path:
    """Train a tagger, from a checkpoint in the output folder if there is one, and return the folder of the tagger.

    Dev has no influence where the last model is kept, as it is by default.
    """
    folder = models.locate(job.settings.backbone)
    identity = _identity(job, models.digest(folder))
    finished = job.output / TAGGER
    if is_done(finished, finished_identity(identity, job.settings)):
        log.info("%s is done already", finished)
        return finished
    require_writable(job.output)
    with only_trainer(job.output / TRAINING_LOCK), all_processes(job.settings.loop, _MODULE, job):
        _train(job, folder, identity)
    return finished


def _train(job: TaggerJob, folder: Path, identity: str) -> None:
    from training.loop.loop import Loop, Outcome
    from training.loop.machine import prepare_machine

    settings, source = job.settings, job.source
    sentences, dev = _read(source.train), _read(source.dev)
    labels = label_names(sentences)
    wordpieces = Wordpieces.of_vocabulary(folder / VOCABULARY, lowercase=True)
    with_mark = [each for sentence in sentences for each in marked(sentence, wordpieces, labels, settings.longest)]
    without_mark = [unmarked(sentence, wordpieces, settings.longest) for sentence in sentences]
    machine = prepare_machine(settings.loop, job.output)
    network = start_network(settings, folder, len(labels)).to(machine.device)

    def f1(current: "SrlBert") -> float:
        return score_with(_tagger(current, wordpieces, labels, settings), dev).total.f1

    task = TaggerTask(network, with_mark, without_mark, settings, machine, f1)
    described = flattened(settings.model_dump(mode="json"))
    loop = Loop(task, settings.loop, machine, folder=job.output, identity=identity, described=described)
    log.info("%d sentences, %d predicates, %d steps", len(sentences), len(with_mark), loop.total_steps)

    def write(outcome: Outcome) -> None:
        finished, base = job.output / TAGGER, models.MODELS.get(settings.backbone)
        report = {
            "identity": finished_identity(identity, settings),
            "settings": settings.model_dump(mode="json"),
            "train": {"file": source.train.name, "sentences": len(sentences), "predicates": len(with_mark)},
            "dev": {"file": source.dev.name, "sentences": len(dev), "predicates": sum(len(s.frames) for s in dev)},
            "licence": source.licence,
            "base_licence": base.licence if base else "not recorded",
            "base_digest": models.digest(folder),
            "steps": outcome.steps,
            "seconds": round(outcome.seconds),
            "scores": evaluate(_tagger(network, wordpieces, labels, settings), dev),
        }
        configuration = _configuration(network, settings)
        write_archive(finished, labels=labels, weights=network.state_dict(), configuration=configuration)
        learnt = {sentence.words for sentence in sentences}
        seen = sum(sentence.words in learnt for sentence in dev)
        write_text(finished / "README.md", render_card("training.parsers.srl/card.md", **report, seen=seen))
        sync_all(finished)  # before the record that says it is done
        write_json(finished / TRAINING_FILE, report)

    loop.run_and_write(write)


class TaggerTask:
    """Train the network on sequences with a marked predicate, and on some of those without; `f1` is that on dev."""

    unit = "sequences"

    def __init__(
        self,
        network: "SrlBert",
        marked: Sequence[Example],
        unmarked: Sequence[Example],
        settings: TaggerSettings,
        machine: "Machine",
        f1: Callable[["SrlBert"], float],
    ) -> None:
        self._network, self._settings, self._machine, self._f1 = network, settings, machine, f1
        self._marked, self._unmarked = marked, unmarked
        learnt = {name: weight for name, weight in network.named_parameters() if weight.requires_grad}
        encoder = {name: weight for name, weight in learnt.items() if name.startswith("bert_model.")}
        heads = {name: weight for name, weight in learnt.items() if name not in encoder}
        factor = settings.head_learning_rate / settings.loop.learning_rate
        self.groups: Sequence[Group] = [*decaying_matrices(encoder), *decaying_matrices(heads, factor)]

    def batches(self, epoch: int) -> list[list[Example]]:
        """Return the batches of an epoch: all marked sequences, and a share of the others."""
        seed = self._settings.loop.seed
        random = np.random.default_rng((seed, epoch, 1))
        count = round(self._settings.unmarked * len(self._unmarked))
        chosen = random.permutation(len(self._unmarked))[:count]
        examples = [*self._marked, *(self._unmarked[i] for i in chosen)]
        lengths = np.array([len(example) for example in examples], np.int64)
        order = batches(lengths, batch_pieces=self._settings.loop.batch_size, seed=(seed, epoch))
        return [[examples[i] for i in batch] for batch in order]

    def train(self) -> None:
        """Switch on dropout."""
        self._network.train()

    def losses(self, batch: Sequence[Example]) -> dict[str, Tensor]:
        """Return the weighted sum, and the losses of tags and predicates; each process computes its share."""
        # A process without a share takes a sequence without a target: all processes must communicate.
        nothing = np.full(len(batch[0]), IGNORED, np.int64)
        mine = together.share(batch) or [replace(batch[0], tags=nothing, predicates=nothing)]
        device, precision = self._machine.device, self._machine.precision
        ids, types, mask, tags, predicates = (torch.from_numpy(rows).to(device) for rows in stack(mine))
        assert self._network.predicate_layer is not None  # noqa: S101 - a training starts with one
        with torch.autocast(device.type, precision, enabled=precision != torch.float32):
            states = self._network.encode(ids, types, mask)
            tag_logits = self._network.tag_projection_layer(states)
            predicate_logits = self._network.predicate_layer(states)
        of_tags = _mean(nn.functional.cross_entropy, tag_logits.float().flatten(0, 1), tags.flatten())
        binary = nn.functional.binary_cross_entropy_with_logits
        of_predicates = _mean(binary, predicate_logits.float().flatten(), predicates.flatten().float())
        loss = of_tags + self._settings.predicate_weight * of_predicates
        return {"loss": loss, "tags": of_tags, "predicates": of_predicates}

    def judge(self) -> Judgement:
        """Return the F1 of arguments on dev, with predicates given."""
        f1 = self._f1(self._network)
        return Judgement({"f1": round(f1, 4)}, value=f1)


def _mean(loss: Callable[..., Tensor], logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss over the targets of all processes; 0 where a batch has none."""
    labelled = targets != IGNORED
    mean = loss(logits[labelled], targets[labelled]) if bool(labelled.any()) else logits.sum() * 0
    return together.over_all(mean, labelled.sum())


def start_network(settings: TaggerSettings, folder: Path, n_labels: int) -> "SrlBert":
    """Return the network that a training starts from: the base encoder with new projections to BIO tags.

    A folder that holds no BERT is a ModelError.
    """
    from features.parsers.srl.network import SrlBert, encoder_config

    weights = base_weights(folder)
    try:
        config = encoder_config(weights, json.loads((folder / "config.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise NotThisModel(
            f"The folder {str(folder)!r} holds no BERT encoder ({error!r}); give one such as 'all-MiniLM-L6-v2'."
        ) from error
    torch.manual_seed(settings.loop.seed)
    network = SrlBert(config, n_labels, finds_predicates=True, dropout=settings.dropout)
    initial = network.state_dict()
    network.load_state_dict({**initial, **{name: weights[name] for name in weights if name in initial}})
    # Not shipped, so not changed; fused attention has a slow backward pass on a CPU.
    embeddings = network.bert_model.embeddings
    for frozen in (embeddings.word_embeddings, embeddings.position_embeddings):
        frozen.weight.requires_grad = False
    network.bert_model.set_attn_implementation("eager")
    for layer in network.bert_model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = settings.encoder_dropout
    return network


def _tagger(network: "SrlBert", wordpieces: Wordpieces, labels: Sequence[str], settings: TaggerSettings) -> SrlTagger:
    bfloat16 = computes_in_bfloat16(settings.loop.precision, next(network.parameters()).device.type)
    return SrlTagger(network.eval(), wordpieces, labels, exact=True, bfloat16=bfloat16)


def _configuration(network: "SrlBert", settings: TaggerSettings) -> dict[str, Any]:
    described = network.bert_model.config.to_dict()
    sizes = (
        *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"),
        *("max_position_embeddings", "type_vocab_size", "hidden_act", "layer_norm_eps"),
    )
    return {
        "dataset_reader": {"type": "srl", "bert_model_name": "bert-base-uncased"},
        "model": {
            "type": "srl_bert",
            "bert_model": {name: described[name] for name in sizes},
            "embedding_dropout": settings.dropout,
        },
        OWN_SECTION: {"base": settings.backbone, "predicate_threshold": 0.5, "exact_decoding": True},
    }


def _read(path: Path) -> list[AnnotatedSentence]:
    sentences = [sentence for sentence in read_annotated(path) if sentence.reject is None]
    if not any(sentence.frames for sentence in sentences):
        raise FileEmpty(f"The file {str(path)!r} has no frame to train on.")
    return sentences


def _identity(job: TaggerJob, base: str) -> str:
    """Return a hash of everything that affects the result except the epochs, which may change while it is stopped."""
    chosen = flattened(decisive(job.settings, exclude=frozenset({"backbone"})))
    del chosen["loop.epochs"]
    files = (job.source.train, job.source.dev)
    content = [chosen, base, *(models.digest(file) for file in files if file.is_file())]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    about = "Train a semantic role tagger from a TrainingJob as JSON; see training.parsers.srl.settings."
    return run_process(_MODULE, about, lambda path: train(read_parser_job(TaggerJob, path)), arguments)


if __name__ == "__main__":
    sys.exit(main())
