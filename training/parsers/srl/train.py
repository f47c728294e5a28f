"""Train a tagger: `python -m training.parsers.srl.train --train GOLD.conll.gz --dev GOLD.conll.gz --output FOLDER`."""

import argparse
import hashlib
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from features import models
from features.errors import InputError
from features.parsers.devices import computes_in_bfloat16
from features.parsers.srl.archive import OWN_SECTION, VOCABULARY, base_weights, write_archive
from features.parsers.srl.conll import AnnotatedSentence, read_annotated
from features.parsers.srl.evaluation import evaluate, score_with_gold_predicates
from features.parsers.srl.tagger import SrlTagger
from features.parsers.srl.wordpieces import Wordpieces
from training.parsers.srl.examples import label_names, marked, unmarked
from training.parsers.srl.model_card import write_card
from training.parsers.srl.settings import SrlTrainingSettings
from training.process import ERROR, begin, reported
from training.writing import write_json

if TYPE_CHECKING:
    from features.parsers.srl.network import SrlBert

TAGGER = "tagger"
"""Folder of the finished tagger within the output."""
REPORT = "training.json"

_LOG = logging.getLogger("training")
_NO_INFLUENCE = {"threads", "checkpoint_every", "log_every"}
_MAY_CHANGE = {"epochs", "falling"}  # until the learning rate falls; see `Loop`


def train(settings: SrlTrainingSettings, train_file: Path, dev_file: Path, output: Path, licence: str) -> Path:
    """Train a tagger, from a checkpoint in the output folder if there is one.

    Args:
        settings: how.
        train_file: gold frames to learn from, in the format of `features.parsers.srl.conll`.
        dev_file: gold frames to evaluate on; the last model is kept, so they choose nothing.
        output: folder of the checkpoint, the progress and the tagger.
        licence: of the gold frames, for the model card.

    Returns:
        Folder of the tagger. One that is there already and was made in this way is left as it is.

    Raises:
        InputError: a file cannot be read, or has no frame.
        ModelError: the base encoder is not on this machine.
        SettingsError: the folder holds another training.
    """
    import torch

    from training.loop import checkpoints
    from training.parsers.srl.loop import Loop, TrainingData

    folder = models.locate(settings.base)
    identity = _identity(settings, (train_file, dev_file), models.digest(folder))
    finished = output / TAGGER
    if _is_done(finished / REPORT, settings, identity):
        _LOG.info("%s is done already", finished)
        return finished
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    sentences, dev = _read(train_file), _read(dev_file)
    labels = label_names(sentences)
    wordpieces = Wordpieces(folder / VOCABULARY, lowercase=True)
    data = TrainingData(
        [example for sentence in sentences for example in marked(sentence, wordpieces, labels, settings.longest)],
        [unmarked(sentence, wordpieces, settings.longest) for sentence in sentences],
    )
    network = start_network(settings, folder, len(labels))
    output.mkdir(parents=True, exist_ok=True)

    def score(current: "SrlBert") -> dict[str, Any]:
        counts = score_with_gold_predicates(_tagger(current, wordpieces, labels), dev).total
        return {"gold_predicates": {"f1": round(counts.f1, 4)}}

    loop = Loop(network, data, settings, folder=output, identity=identity, evaluate=score)
    _LOG.info("%d sentences, %d predicates, %d steps", len(sentences), len(data.marked), loop.steps)
    seconds = loop.run()
    report = {
        "identity": identity,
        "settings": settings.model_dump(mode="json"),
        "train": {"file": train_file.name, "sentences": len(sentences), "predicates": len(data.marked)},
        "dev": {"file": dev_file.name, "sentences": len(dev), "predicates": sum(len(s.frames) for s in dev)},
        "licence": licence,
        "base_licence": models.MODELS[settings.base].licence if settings.base in models.MODELS else "not recorded",
        "base_digest": models.digest(folder),
        "steps": loop.steps,
        "seconds": round(seconds),
        "scores": evaluate(_tagger(network, wordpieces, labels), dev),
    }
    write_archive(
        finished, labels=labels, weights=network.state_dict(), configuration=_configuration(network, settings)
    )
    (finished / "README.md").write_text(write_card(report), encoding="utf-8")
    write_json(finished / REPORT, report)
    (output / checkpoints.FILE_NAME).unlink(missing_ok=True)
    return finished


def start_network(settings: SrlTrainingSettings, folder: Path, n_labels: int) -> "SrlBert":
    """Return the network that a training starts from: the base encoder with new projections.

    Args:
        settings: seed and both dropouts.
        folder: of the base encoder.
        n_labels: number of BIO tags.
    """
    import torch

    from features.parsers.srl.network import SrlBert, encoder_config

    weights = base_weights(folder)
    described = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    torch.manual_seed(settings.seed)
    network = SrlBert(encoder_config(weights, described), n_labels, finds_predicates=True, dropout=settings.dropout)
    known = network.state_dict()
    network.load_state_dict({**known, **{name: weights[name] for name in weights if name in known}})
    # Not shipped, so not changed; the fused attention is slow backwards on a CPU.
    for table in (network.bert_model.embeddings.word_embeddings, network.bert_model.embeddings.position_embeddings):
        table.weight.requires_grad = False
    network.bert_model.set_attn_implementation("eager")
    for layer in network.bert_model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = settings.encoder_dropout
    return network


def _tagger(network: "SrlBert", wordpieces: Wordpieces, labels: Sequence[str]) -> SrlTagger:
    bfloat16 = computes_in_bfloat16("auto", next(network.parameters()).device.type)
    return SrlTagger(network.eval(), wordpieces, labels, exact=True, bfloat16=bfloat16)


def _configuration(network: "SrlBert", settings: SrlTrainingSettings) -> dict[str, Any]:
    """Return the content of config.json: what AllenNLP reads, and what only we do."""
    described = network.bert_model.config.to_dict()
    sizes = (
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
        "type_vocab_size",
        "hidden_act",
        "layer_norm_eps",
    )
    return {
        "dataset_reader": {"type": "srl", "bert_model_name": "bert-base-uncased"},
        "model": {
            "type": "srl_bert",
            "bert_model": {name: described[name] for name in sizes},
            "embedding_dropout": settings.dropout,
        },
        OWN_SECTION: {"base": settings.base, "predicate_threshold": 0.5, "exact_decoding": True},
    }


def _read(path: Path) -> list[AnnotatedSentence]:
    sentences = [sentence for sentence in read_annotated(path) if sentence.reject is None]
    if not any(sentence.frames for sentence in sentences):
        raise InputError(f"The file {str(path)!r} has no frame to learn from.")
    return sentences


def _is_done(report: Path, settings: SrlTrainingSettings, identity: str) -> bool:
    if not report.is_file():
        return False
    known = json.loads(report.read_text(encoding="utf-8"))
    same = all(known["settings"][name] == getattr(settings, name) for name in _MAY_CHANGE)
    return bool(same and known["identity"] == identity)


def _identity(settings: SrlTrainingSettings, files: Sequence[Path], base: str) -> str:
    """Return a hash of all that decides the result up to the fall of the learning rate."""
    decisive = settings.model_dump(mode="json", exclude=_NO_INFLUENCE | _MAY_CHANGE)
    content = [decisive, base, *(models.digest(file) for file in files if file.is_file())]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Train a tagger of semantic roles; progress goes to standard error."""
    parser = argparse.ArgumentParser(prog="python -m training.parsers.srl.train", description=main.__doc__)
    parser.add_argument("--train", type=Path, required=True, help="gold frames, CoNLL-2005 columns, .gz too")
    parser.add_argument("--dev", type=Path, required=True, help="likewise, to evaluate on")
    parser.add_argument("--output", type=Path, required=True, help="folder; go on there after an interruption")
    parser.add_argument("--licence", default="not stated", help="of the gold frames, for the model card")
    for name, field in SrlTrainingSettings.model_fields.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default=None, help=f"default: {field.default}")
    options = vars(parser.parse_args(arguments))
    begin()
    files = {name: options.pop(name) for name in ("train", "dev", "output", "licence")}
    try:
        settings = SrlTrainingSettings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        sys.stderr.write(f"{ERROR}--{first['loc'][0]} is wrong: {first['msg']}\n")
        return 1
    return reported(lambda: train(settings, files["train"], files["dev"], files["output"], files["licence"]))


if __name__ == "__main__":
    sys.exit(main())
