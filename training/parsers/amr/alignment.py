"""Align every node of a graph with one word of its sentence; several nodes may share a word.

1. names with the words that spell them, numbers and strings with the words of that value;
2. nodes whose spelling or translation is unambiguous;
3. the others where spelling, translation and the words of their neighbours in the graph agree best;
4. abstract concepts (date-entity, the type of a name) with the word of a certain child;
5. the remaining nodes with the word of the neighbour that explains them best.

How likely a word stands for a concept is estimated from all sentences by expectation maximisation: IBM model 1 (Brown
et al. 1993) with words as the source and nodes as the target, initialised by their string similarity; frames count
without their sense. All pairs of all sentences are one array, so an iteration is two sums.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import commonprefix

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.nodes import FlatGraph, is_concept, is_constant, is_name, split_sense, value_of
from features.parsers.embedded.words import Word, number_at
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

    ends, node_ends = np.cumsum([n * w for n, w in shapes])[:-1], np.cumsum([n for n, _ in shapes])[:-1]
    translations, likenesses = (np.split(part.astype(np.float32), ends) for part in (table[position], alike))
    frequencies = np.split(frequency[key_of_node].astype(np.float32), node_ends)
    return [
        Evidence(translation.reshape(shape), likeness.reshape(shape), frequency)
        for shape, translation, likeness, frequency in zip(shapes, translations, likenesses, frequencies, strict=True)
    ]


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
        _likeness(word, part, first=number == 0) * (1.0 if number == 0 else 0.9) for number, part in enumerate(parts)
    )


def _likeness(word: str, part: str, *, first: bool) -> float:
    if word == part:
        return CERTAIN if len(part) > 2 or first else 0.5
    common = len(commonprefix([word, part]))  # noqa: RUF071 - letters are meant
    if common < 3:
        return 0.0
    long_enough = common >= len(part) - 2 or common >= 0.6 * len(word)
    score = 0.98 * common / max(len(part), len(word)) if long_enough else 0.0
    return max(score, CONFIDENT) if common >= len(part) - 1 else score


_QUANTITY = ("unit", "quant")
_DECIDING_ROLES = {
    "date-entity": ("month", "weekday", "year", "day", "dayperiod", "season", "decade", "century", "mod", "time"),
    "monetary-quantity": _QUANTITY,
    "temporal-quantity": _QUANTITY,
    "distance-quantity": _QUANTITY,
    "mass-quantity": _QUANTITY,
    "ordinal-entity": ("value",),
    "percentage-entity": ("value",),
    "string-entity": ("value",),
    "url-entity": ("value",),
    "email-address-entity": ("value",),
    "phone-number-entity": ("value",),
    "rate-entity-91": ("ARG2", "ARG1", "ARG4", "ARG3"),
}
"""Abstract concepts, and the roles whose child decides on the word; the first one present counts."""

_SPELT_NAME, _SPELT_VALUE = 2.0, 1.5
_SIGNS = ("-", "+")
"""Constants that are not aligned with signs in the text: `:polarity -` is a *not*, not a hyphen."""
_MARGIN = 1.5
_EXPLAINED = 2.5
"""Penalty of a word that spells another node: if 22 *people* are killed, *killed* does not name a person."""
_LEAST_TRANSLATION = 2e-4


class Alignment:
    """Aligns the nodes of a graph with the words of its sentence, at least one; evidence as of `learn_translations`."""

    def __init__(self, graph: FlatGraph, words: Sequence[Word], evidence: Evidence) -> None:
        n = len(graph.nodes)
        self._nodes, self._evidence = graph.nodes, evidence
        self._spelling = [word.text for word in words]
        self._lower = [word.text.lower() for word in words]
        self._children: list[list[tuple[str, int]]] = [[] for _ in range(n)]
        self._neighbours: list[list[int]] = [[] for _ in range(n)]
        for source, role, target in graph.edges:
            self._children[source].append((role, target))
            self._neighbours[source].append(target)
            self._neighbours[target].append(source)
        self._taken: dict[int, set[str]] = defaultdict(set)
        self.word = [-1] * n  # position of the word of each node
        self.spans: dict[int, tuple[int, int]] = {}  # first and last word of the names that are spelt in the text
        # String similarity of word and node; above 1 for names and values that are spelt out.
        self.certainty = [0.0] * n
        self._spelt()
        self._lexical()
        self._structural()
        self._leftover()

    def _spelt(self) -> None:
        for node, label in enumerate(self._nodes):
            if is_name(label):
                span = _spelt_at(self._lower, value_of(label))
                if span and label not in self._taken[span[0]]:
                    self.spans[node] = span
                    self._put(node, span[0], _SPELT_NAME)
            elif is_constant(label) and value_of(label) not in _SIGNS:
                value = value_of(label).strip('"')
                for position, lower in enumerate(self._lower):
                    same = lower == value.lower() or number_at(self._spelling, position) == value
                    if same and label not in self._taken[position]:
                        self._put(node, position, _SPELT_VALUE)
                        break

    def _lexical(self) -> None:
        scores, translation = self._scores()
        likeness = self._evidence.likeness
        doubtful = []
        for node in self._open():
            if self._abstract(node):
                continue
            row = self._free(node, scores[node])
            first, *others = np.argsort(-row, kind="stable")[:2].tolist()
            sure = likeness[node, first] >= CONFIDENT or translation[node, first] > 0.3
            if sure and (not others or row[first] - row[others[0]] > _MARGIN):
                self._put(node, first, float(likeness[node, first]))
            else:
                doubtful.append(node)
        doubtful.sort(key=lambda node: -sum(self.word[other] >= 0 for other in self._neighbours[node]))
        for node in doubtful:
            row = self._free(node, scores[node]) - _EXPLAINED * self._explained()
            best = int((row + self._nearness(node)).argmax())
            if row[best] >= np.log(_LEAST_TRANSLATION) or likeness[node, best] >= 0.5:
                self._put(node, best, float(likeness[node, best]))

    def _structural(self) -> None:
        scores, translation = self._scores()
        for _ in range(4):  # a type above a date above a month: no deeper in practice
            for node in self._open():
                word = self._word_of_deciding_child(node)
                if word < 0 and self._abstract(node):
                    best = int(self._free(node, scores[node]).argmax())
                    if translation[node, best] > np.exp(-4):
                        word = best
                        self.certainty[node] = float(self._evidence.likeness[node, best])
                if word >= 0:
                    self._put(node, word, self.certainty[node])

    def _leftover(self) -> None:
        translation = self._evidence.translation
        while True:
            before = len(self._open())
            for node in self._open():
                placed = [other for other in self._neighbours[node] if self.word[other] >= 0]
                free = [other for other in placed if self._nodes[node] not in self._taken[self.word[other]]]
                children = {child for _, child in self._children[node]}
                if placed:
                    likely = {other: float(translation[node, self.word[other]]) for other in placed}
                    best = max(
                        free or placed, key=lambda other: (likely[other] > 1e-3, other in children, likely[other])
                    )
                    self._put(node, self.word[best], 0.0)
            if len(self._open()) == before:
                break
        for node in self._open():
            self._put(node, 0, 0.0)

    def _open(self) -> list[int]:
        return [node for node, word in enumerate(self.word) if word < 0]

    def _put(self, node: int, word: int, certainty: float) -> None:
        self.word[node] = word
        self.certainty[node] = certainty
        self._taken[word].add(self._nodes[node])

    def _abstract(self, node: int) -> bool:
        return self._nodes[node] in _DECIDING_ROLES or any(role == "name" for role, _ in self._children[node])

    def _scores(self) -> tuple[Scores, Scores]:
        """Return how well each word suits each node, and the translations with those of function words discounted."""
        likeness, translation = self._evidence.likeness, self._evidence.translation
        function = np.array([word in FUNCTION_WORDS for word in self._lower])
        lent = function & (likeness < CONFIDENT) & (translation < 0.15)
        inside = np.zeros(len(self._lower), bool)
        for first, last in self.spans.values():
            inside[first + 1 : last + 1] = True
        scores = np.log(translation + 1e-7) + 8 * likeness + 8 * (likeness >= CERTAIN) - 4 * lent - 4 * inside
        return scores.astype(np.float32), np.where(lent, 0.02 * translation, translation)

    def _free(self, node: int, row: Scores) -> Scores:
        """Return the scores, lowered out of reach for words that already have this concept."""
        taken = [self._nodes[node] in self._taken[position] for position in range(len(row))]
        free: Scores = np.where(taken, np.float32(-1e4), row)
        return free

    def _explained(self) -> Scores:
        """Return 1 for words that spell a node already aligned with them, otherwise 0."""
        explained = np.zeros(len(self._lower), np.float32)
        for word, certainty in zip(self.word, self.certainty, strict=True):
            if word >= 0 and certainty >= CONFIDENT:
                explained[word] = 1
        return explained

    def _nearness(self, node: int) -> Scores:
        placed = np.array([self.word[other] for other in self._neighbours[node] if self.word[other] >= 0])
        if not len(placed):
            return np.full(len(self._lower), -0.45, np.float32)
        distance = np.abs(np.arange(len(self._lower))[:, None] - placed).min(1)
        bonus: Scores = (1.5 * (distance == 0) - 0.15 * np.minimum(distance, 12)).astype(np.float32)
        return bonus

    def _word_of_deciding_child(self, node: int) -> int:
        for role in ("name", *_DECIDING_ROLES.get(self._nodes[node], ())):
            for other, child in self._children[node]:
                if other == role and self.word[child] >= 0:
                    return self.word[child]
        return -1


def _spelt_at(words: Sequence[str], operands: str) -> tuple[int, int] | None:
    wanted = operands.lower().replace(" ", "").replace('"', "")
    for first in range(len(words) if wanted else 0):
        spelt = ""
        for last in range(first, len(words)):
            spelt += words[last]
            if spelt == wanted:
                return first, last
            if not wanted.startswith(spelt):
                break
    return None
