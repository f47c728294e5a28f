"""How likely a word stands for a concept, estimated from all sentences by expectation maximisation.

IBM model 1 (Brown et al. 1993) with words as the source and nodes as the target, initialised by their string
similarity; frames count without their sense. All pairs of all sentences are one array, so an iteration is two sums.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.nodes import is_concept, split_sense
from training.parsers.amr.corpus import Sentence
from training.parsers.amr.likeness import likeness

_ITERATIONS = 5
_LIKENESS_WEIGHT = 30.0
_NO_WORD = 0.3  # weight of "stands for no word of the sentence"
_DOUBT = 8.0  # occurrences added to each word, so that rare ones are not trusted too early

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about the words and nodes of one sentence, before they are aligned.

    Args:
        translation: probability of the node's concept given the word, shape (n_nodes, n_words).
        likeness: string similarity, shape (n_nodes, n_words).
        frequency: share of each node's concept among all nodes, shape (n_nodes,).
    """

    translation: Scores
    likeness: Scores
    frequency: Scores


def concept_key(label: str) -> str:
    """Return the counted form of a label: frames without sense, unless the sense is 91, which makes them abstract."""
    return label if not is_concept(label) or label.endswith("-91") else split_sense(label)[0]


def learn_translations(sentences: Sequence[Sentence]) -> list[Evidence]:
    """Return the evidence for each sentence, estimated from all of them."""
    words, labels = _Numbering(), _Numbering()
    of_words = [words.number(word.text.lower() for word in sentence.words) for sentence in sentences]
    of_nodes = [labels.number(sentence.graph.nodes) for sentence in sentences]
    keys = _Numbering()
    word_names, label_names = words.names(), labels.names()
    key_of_label = keys.number(map(concept_key, label_names))

    shapes = [(len(nodes), len(row)) for nodes, row in zip(of_nodes, of_words, strict=True)]
    word_column = np.concatenate([np.tile(row, len(nodes)) for nodes, row in zip(of_nodes, of_words, strict=True)])
    label_column = np.concatenate([np.repeat(nodes, len(row)) for nodes, row in zip(of_nodes, of_words, strict=True)])
    like_pairs, like_position = np.unique(word_column * len(label_names) + label_column, return_inverse=True)
    alike = np.array(
        [likeness(word_names[pair // len(label_names)], label_names[pair % len(label_names)]) for pair in like_pairs]
    )[like_position]

    pairs, position = np.unique(word_column * len(keys) + key_of_label[label_column], return_inverse=True)
    word_of_pair = pairs // len(keys)
    # A group is one node of one sentence: its words compete.
    group = np.repeat(np.arange(sum(n for n, _ in shapes)), np.repeat([w for _, w in shapes], [n for n, _ in shapes]))
    key_of_node = key_of_label[np.concatenate(of_nodes)]
    frequency = np.bincount(key_of_node, minlength=len(keys)) / len(key_of_node)
    occurrences = np.bincount(np.concatenate(of_words), minlength=len(words))

    best_alike = np.zeros(len(pairs))
    np.maximum.at(best_alike, position, alike)
    table = 1.0 + _LIKENESS_WEIGHT * best_alike**2
    table /= np.bincount(word_of_pair, table)[word_of_pair]
    for _ in range(_ITERATIONS):
        weights = table[position]
        total = np.bincount(group, weights) + _NO_WORD * frequency[key_of_node]
        counts = np.bincount(position, weights / total[group], minlength=len(pairs))
        table = counts / (occurrences[word_of_pair] + _DOUBT)

    probabilities = table[position].astype(np.float32)
    letters = alike.astype(np.float32)
    evidence, start, node_start = [], 0, 0
    for shape in shapes:
        end, node_end = start + shape[0] * shape[1], node_start + shape[0]
        evidence.append(
            Evidence(
                translation=probabilities[start:end].reshape(shape),
                likeness=letters[start:end].reshape(shape),
                frequency=frequency[key_of_node[node_start:node_end]].astype(np.float32),
            )
        )
        start, node_start = end, node_end
    return evidence


class _Numbering:
    """Numbers strings in order of first occurrence."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def names(self) -> list[str]:
        return list(self._ids)

    def number(self, names: Iterable[str]) -> NDArray[np.int64]:
        return np.array([self._ids.setdefault(name, len(self._ids)) for name in names], np.int64)
