"""Sentences and their targets as arrays for batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from features.parsers.embedded.inputs import (
    Ids,
    SentenceReader,
    TextIds,
    node_tensors,
    pad,
    padded_length,
    text_tensors,
)
from features.parsers.embedded.vocabulary import Vocabulary
from training.parsers.amr.corpus import Sentence
from training.parsers.amr.targets import Target

if TYPE_CHECKING:
    import torch

    from features.parsers.embedded.network import NodeTensors, TextTensors

IGNORED = -100
"""A class that losses ignore."""
_EDGE_MULTIPLE = 128


@dataclass(frozen=True, slots=True)
class Example:
    """A training sentence.

    Args:
        text: the sentence as numbers.
        labels: classes of primary, sense and wrapper, shape (n_words, 3).
        nodes: word, place and concept of each node, shape (n_nodes, 3).
        edges: source, target and class of the role, shape (n_edges, 3).
        root: node.
        share: average number of times per epoch.
    """

    text: TextIds
    labels: Ids
    nodes: Ids
    edges: Ids
    root: int
    share: float


class Gold(TypedDict):
    """The targets of a batch."""

    primaries: "torch.Tensor"  # (batch, n_words), IGNORED beyond the sentence
    senses: "torch.Tensor"  # (batch, n_words), IGNORED where there is no primary concept
    wrappers: "torch.Tensor"  # (batch, n_words), IGNORED beyond the sentence
    arcs: "torch.Tensor"  # (batch, n_nodes, n_nodes) 0 or 1
    edges: "torch.Tensor"  # (n_edges, 4) sentence, source, target, role; IGNORED role where padded
    root: "torch.Tensor"  # (batch,)


def make_example(sentence: Sentence, target: Target, reader: SentenceReader, vocabulary: Vocabulary) -> Example | None:
    """Return a training sentence; None where the labels cannot express its root or any of its nodes."""
    if target.root < 0:
        return None
    concepts = [vocabulary.concept_id(label) for label in target.labels]
    nodes = [(slot.word, slot.place, concept) for slot, concept in zip(target.slots, concepts, strict=True)]
    edges = [(source, goal, role) for source, role, goal in target.edges]
    return Example(
        text=reader.ids([word.text for word in sentence.words]),
        labels=np.array([target.primaries, target.senses, target.wrappers], np.int64).T,
        nodes=np.array(nodes, np.int64),
        edges=np.array(edges, np.int64).reshape(-1, 3),
        root=target.root,
        share=sentence.share,
    )


def collate(
    examples: Sequence[Example], special_primaries: int, device: "torch.device | str" = "cpu"
) -> tuple["TextTensors", "NodeTensors", Gold]:
    """Return a batch.

    Args:
        examples: of the batch.
        special_primaries: classes below this number have no sense.
        device: where to put it.
    """
    import torch

    text = text_tensors([example.text for example in examples], device)
    nodes = node_tensors([example.nodes for example in examples], device)
    labels = torch.from_numpy(pad([example.labels for example in examples], IGNORED)).to(device)
    primaries, senses, wrappers = labels.unbind(-1)
    width = nodes["node_mask"].shape[1]
    arcs = torch.zeros(len(examples), width, width)
    columns = []
    for number, example in enumerate(examples):
        arcs[number, example.edges[:, 0], example.edges[:, 1]] = 1
        columns.append(np.column_stack([np.full(len(example.edges), number), example.edges]))
    edges = np.concatenate(columns)
    padding = np.zeros((padded_length(len(edges), _EDGE_MULTIPLE) - len(edges), 4), np.int64)
    padding[:, 3] = IGNORED
    return (
        text,
        nodes,
        {
            "primaries": primaries,
            "senses": torch.where(primaries >= special_primaries, senses, IGNORED),
            "wrappers": wrappers,
            "arcs": arcs.to(device),
            "edges": torch.from_numpy(np.concatenate([edges, padding])).to(device),
            "root": torch.tensor([example.root for example in examples], device=device),
        },
    )
