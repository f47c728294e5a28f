"""Everything before the first step: read, align, count labels, and turn sentences into arrays for batches."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np
import torch
from torch import Tensor

from features.core.faults import FileEmpty, TooFewTexts
from features.core.files import open_text
from features.core.wording import counted
from features.parsers.embedded.inputs import SentenceReader, TextIds, node_tensors, pad, padded_length, text_tensors
from features.parsers.embedded.network import NodeTensors, TextTensors
from features.parsers.embedded.vocabulary import SPECIAL_PRIMARIES, Vocabulary
from training.parsers.amr.alignment import Alignment, learn_translations
from training.parsers.amr.corpus import Report, Sentence, held_out_keys, read_source, read_training
from training.parsers.amr.settings import GraphSources
from training.parsers.amr.targets import Target, anchor, count_vocabulary, make_target
from training.progress import log

IGNORED = -100
"""A class that losses ignore."""
_EDGE_MULTIPLE = 128
_ROLESET = re.compile(r"([a-z][a-z-]*)-(\d\d+)\b")


@dataclass(frozen=True, slots=True)
class Example:
    """A training sentence."""

    text: TextIds  # the sentence as numbers
    target: Target  # with a root
    share: float  # average number of times per epoch


@dataclass(frozen=True, slots=True)
class PreparedGraphs:
    """The prepared data of a training."""

    vocabulary: Vocabulary  # labels counted on the training sentences
    train: list[Example]  # examples to train on
    dev: list[Example]  # examples to measure progress on
    dev_sentences: list[Sentence]  # the sentences of dev, each once, with their graphs
    reports: list[Report]  # report on each source


def prepare(source: GraphSources, reader: SentenceReader, *, max_words: int) -> PreparedGraphs:
    """Read and align all sentences of a training; those longer than `max_words` are left out."""
    scored = [file for files in source.evaluations.values() for file in files]
    held_out = held_out_keys(source.held_out, [*source.dev, *scored])
    train, reports = read_training(source.train, held_out, max_words=max_words)
    dev = list({sentence.text: sentence for file in source.dev for sentence in read_source(file)}.values())
    dev = [sentence for sentence in dev if 0 < len(sentence.words) <= max_words]
    if not train or not dev:
        raise TooFewTexts(f"there are {len(train)} sentences to train on and {len(dev)} of dev; give some of each")
    sentences = [*train, *dev]
    evidence = learn_translations(sentences)
    anchored = [
        anchor(sentence, Alignment(sentence.graph, sentence.words, concepts), concepts)
        for sentence, concepts in zip(sentences, evidence, strict=True)
    ]
    log.info("aligned %d sentences", len(sentences))
    vocabulary = count_vocabulary(anchored[: len(train)], read_frames(source.frames))
    targets = [make_target(example, vocabulary) for example in anchored]

    def examples(some: slice) -> list[Example]:
        return [
            Example(reader.ids([word.text for word in sentence.words]), target, sentence.share)
            for sentence, target in zip(sentences[some], targets[some], strict=True)
            if target.root >= 0  # else the labels cannot express it
        ]

    prepared = PreparedGraphs(vocabulary, examples(slice(len(train))), examples(slice(len(train), None)), dev, reports)
    if not prepared.train or not prepared.dev:
        raise TooFewTexts(
            f"the labels of {counted(len(train), 'sentence')} to train on are too rare to learn; give more"
        )
    return prepared


def read_frames(path: Path | None) -> dict[str, list[str]]:
    """Read the senses of each lemma from a PropBank list of frames; empty without one."""
    frames: dict[str, list[str]] = {}
    if path is None:
        return frames
    with open_text(path) as lines:
        for line in lines:
            roleset = _ROLESET.match(line)
            if roleset and roleset[2] not in frames.setdefault(roleset[1], []):
                frames[roleset[1]].append(roleset[2])
    if not frames:
        raise FileEmpty(f"the file {str(path)!r} lists no roleset; expected lines that start like 'abandon-01'")
    return frames


class Gold(TypedDict):
    """The targets of a batch."""

    primaries: Tensor  # (batch, n_words), IGNORED beyond the sentence
    senses: Tensor  # (batch, n_words), IGNORED where there is no primary concept
    wrappers: Tensor  # (batch, n_words), IGNORED beyond the sentence
    arcs: Tensor  # (batch, n_nodes, n_nodes) 0 or 1
    edges: Tensor  # (n_edges, 4) sentence, source, target, role; IGNORED role where padded
    root: Tensor  # (batch,)


def collate(examples: Sequence[Example], device: torch.device) -> tuple[TextTensors, NodeTensors, Gold]:
    """Return a batch; special primary classes have no sense."""
    targets = [example.target for example in examples]
    labels = torch.from_numpy(pad([target.labels for target in targets], IGNORED)).to(device)
    primaries, senses, wrappers = labels.unbind(-1)
    nodes = node_tensors([target.nodes for target in targets], device)
    width = nodes["node_mask"].shape[1]
    arcs = torch.zeros(len(examples), width, width)
    columns = []
    for number, target in enumerate(targets):
        arcs[number, target.edges[:, 0], target.edges[:, 1]] = 1
        columns.append(np.column_stack([np.full(len(target.edges), number), target.edges]))
    edges = np.concatenate(columns)
    padding = np.zeros((padded_length(len(edges), _EDGE_MULTIPLE) - len(edges), 4), np.int64)
    padding[:, 3] = IGNORED
    gold: Gold = {
        "primaries": primaries,
        "senses": torch.where(primaries >= len(SPECIAL_PRIMARIES), senses, IGNORED),
        "wrappers": wrappers,
        "arcs": arcs.to(device),
        "edges": torch.from_numpy(np.concatenate([edges, padding])).to(device),
        "root": torch.tensor([target.root for target in targets], device=device),
    }
    return text_tensors([example.text for example in examples], device), nodes, gold
