"""How likely a word stands for a concept, estimated from all sentences by expectation maximisation.

IBM model 1 (Brown et al. 1993) with words as the source and nodes as the target, initialised by their string
similarity; frames count without their sense. All pairs of all sentences are one array, so an iteration is two sums.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import commonprefix

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.nodes import is_concept, split_sense
from training.parsers.amr.corpus import Sentence

_ITERATIONS = 5
_LIKENESS_WEIGHT = 30.0
_NO_WORD = 0.3  # weight of "stands for no word of the sentence"
_DOUBT = 8.0  # occurrences added to each word, so that rare ones are not trusted too early

CONFIDENT = 0.6
"""Similarity from which spelling alone decides."""
CERTAIN = 0.95

FUNCTION_WORDS = frozenset(
    """
    a an the to of in on at by is are was were be been being has have had do does did it its his her their our your
    my this that as with for from and or than he she they we i you who whose which what s t
    's , . ; : " ' ( ) - -- ? ! ` /
    """.split()  # noqa: SIM905 - three lines instead of sixty
)
"""Words that rarely carry a concept with another spelling."""

_ABSTRACT = ("-91", "-entity", "-quantity")

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about the words and nodes of one sentence, before they are aligned."""

    translation: Scores  # probability of the node's concept given the word, shape (n_nodes, n_words)
    likeness: Scores  # string similarity, shape (n_nodes, n_words)
    frequency: Scores  # share of each node's concept among all nodes, shape (n_nodes,)


def learn_translations(sentences: Sequence[Sentence]) -> list[Evidence]:
    """Return the evidence for each sentence, estimated from all of them."""
    words: dict[str, int] = {}
    labels: dict[str, int] = {}
    keys: dict[str, int] = {}
    of_words = [_number((word.text.lower() for word in sentence.words), words) for sentence in sentences]
    of_nodes = [_number(sentence.graph.nodes, labels) for sentence in sentences]
    word_names, label_names = list(words), list(labels)
    key_of_label = _number(map(_concept_key, label_names), keys)

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


def _concept_key(label: str) -> str:
    """Return the counted form of a label: frames without sense, unless the sense is 91, which makes them abstract."""
    return label if not is_concept(label) or label.endswith("-91") else split_sense(label)[0]


def _number(names: Iterable[str], ids: dict[str, int]) -> NDArray[np.int64]:
    return np.array([ids.setdefault(name, len(ids)) for name in names], np.int64)


def likeness(word: str, label: str) -> float:
    """Return how similar a word, in lower case, looks to the label of a node, in [0, 1].

    It is 1 for the lemma itself; 0 for constants, names, and abstract concepts, which no word spells.

    >>> likeness("boys", "boy") >= CONFIDENT, likeness("sees", "boy")
    (True, 0.0)
    """
    if not is_concept(label) or label.endswith(_ABSTRACT):
        return 0.0
    lemma, _ = split_sense(label)
    if word == lemma:
        return 1.0
    parts = lemma.split("-")
    return max(
        _of_part(word, part, first=number == 0) * (1.0 if number == 0 else 0.9) for number, part in enumerate(parts)
    )


def _of_part(word: str, part: str, *, first: bool) -> float:
    if word == part:
        return CERTAIN if len(part) > 2 or first else 0.5
    common = len(commonprefix([word, part]))  # noqa: RUF071 - letters are meant
    if common < 3:
        return 0.0
    long_enough = common >= len(part) - 2 or common >= 0.6 * len(word)
    score = 0.98 * common / max(len(part), len(word)) if long_enough else 0.0
    return max(score, CONFIDENT) if common >= len(part) - 1 else score
