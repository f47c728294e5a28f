"""From aligned graphs to targets of the network: labels of words, edges between their nodes, and the root."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.parsers.embedded.inputs import Ids
from features.parsers.embedded.nodes import is_concept, is_constant, is_name, split_sense, value_of
from features.parsers.embedded.vocabulary import (
    INSIDE,
    NAME,
    NOTHING,
    NUMBER,
    SPECIAL_CONCEPTS,
    SPECIAL_PRIMARIES,
    STRING,
    Vocabulary,
    dropped,
    is_script,
    script_between,
)
from features.parsers.embedded.words import number_at
from training.parsers.amr.alignment import Alignment, Evidence
from training.parsers.amr.corpus import Sentence

_COPY = "~0"
_FIRST_SENSE = "01"


@dataclass(frozen=True, slots=True)
class WordNodes:
    """The nodes of one word: the one that the word itself names, if any, and the others, sorted by label."""

    primary: int | None
    wrapper: list[int]


@dataclass(frozen=True, slots=True)
class Anchored:
    """An aligned sentence: its nodes by word."""

    sentence: Sentence  # the sentence
    by_word: list[WordNodes]  # nodes of each word
    names: frozenset[int]  # nodes of names that are spelt in the text
    inside: frozenset[int]  # words of such a name after its first


@dataclass(frozen=True, slots=True)
class Target:
    """The targets of a sentence, int64."""

    labels: Ids  # classes of primary, sense (0 where there is no primary concept) and wrapper, (n_words, 3)
    nodes: Ids  # word, place and concept of each node that the labels can express, (n_nodes, 3)
    edges: Ids  # source and target, rows of `nodes`, and class of the role, (n_edges, 3)
    root: int  # row of `nodes`; -1 where the labels cannot express it


def anchor(sentence: Sentence, alignment: Alignment, evidence: Evidence) -> Anchored:
    """Choose for each word the node that the word itself names; the others become its wrapper."""
    by_word: list[list[int]] = [[] for _ in sentence.words]
    for node, word in enumerate(alignment.word):
        by_word[word].append(node)
    labels = sentence.graph.nodes

    def belongs(node: int) -> float:
        """Return how strongly the node belongs to its word."""
        if node in alignment.spans:
            return 100.0
        if is_name(labels[node]):
            return 50.0
        if alignment.certainty[node] >= 0.5:
            return 10 + alignment.certainty[node]
        translation = evidence.translation[node, alignment.word[node]]
        return min(9.0, float(translation / (evidence.frequency[node] + 1e-3)) / 1000)

    rows = []
    for nodes in by_word:
        primary = max(nodes, key=belongs) if nodes else None
        rows.append(WordNodes(primary, sorted((node for node in nodes if node != primary), key=labels.__getitem__)))
    inside = {word for first, last in alignment.spans.values() for word in range(first + 1, last + 1)}
    return Anchored(sentence, rows, frozenset(alignment.spans), frozenset(inside))


def count_vocabulary(anchored: Sequence[Anchored], frames: Mapping[str, Sequence[str]]) -> Vocabulary:
    """Return the labels that are frequent enough to be trained on."""
    lemmas_of_script: dict[str, set[str]] = defaultdict(set)
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    senses: Counter[str] = Counter()
    wrappers: Counter[tuple[str, ...]] = Counter()
    roles: Counter[str] = Counter()
    concepts: Counter[str] = Counter()
    own: list[tuple[str, str]] = []  # word and lemma of each primary concept that is not copied
    for example in anchored:
        labels = example.sentence.graph.nodes
        concepts.update(labels)
        roles.update(role for _, role, _ in example.sentence.graph.edges)
        for position, nodes in enumerate(example.by_word):
            wrappers[tuple(labels[node] for node in nodes.wrapper)] += 1
            if nodes.primary is None:
                continue
            lemma, sense = _primary_of(example, position, nodes.primary)
            senses[sense] += 1
            seen[lemma][sense] += 1
            if lemma in SPECIAL_PRIMARIES:
                continue
            word = example.sentence.words[position].text.lower()
            own.append((word, lemma))
            script = script_between(word, lemma) if is_concept(lemma) else None
            if script:
                lemmas_of_script[script].add(lemma)
    scripts = {script for script, lemmas in lemmas_of_script.items() if _is_general(script, len(lemmas))}
    lexicon = Counter(
        lemma for word, lemma in own if not is_concept(lemma) or script_between(word, lemma) not in scripts
    )
    return Vocabulary(
        primaries=[*SPECIAL_PRIMARIES, *sorted(scripts), *_frequent(lexicon, 2)],
        senses=["", *(sense for sense in _frequent(senses, 5) if sense)],
        wrappers=[(), *(wrapper for wrapper, count in wrappers.most_common() if wrapper and count >= 2)],
        roles=_frequent(roles, 5),
        concepts=[*SPECIAL_CONCEPTS, *_frequent(concepts, 3)],
        seen={lemma: dict(counts) for lemma, counts in seen.items()},
        frames=frames,
    )


def make_target(example: Anchored, vocabulary: Vocabulary) -> Target:
    """Return the labels of a sentence; what they cannot express is left out."""
    sentence = example.sentence
    labels = sentence.graph.nodes
    primaries, senses, wrappers = ([0] * len(sentence.words) for _ in range(3))
    slots: list[tuple[int, int]] = []
    kept: list[int] = []
    for position, nodes in enumerate(example.by_word):
        if position in example.inside:
            primaries[position] = vocabulary.ids["primaries"][INSIDE]
        elif nodes.primary is not None:
            primary = _primary_class(example, position, nodes.primary, vocabulary)
            if primary is not None:
                primaries[position], senses[position] = primary
                slots.append((position, 0))
                kept.append(nodes.primary)
        wrapper = _known_part(nodes.wrapper, labels, vocabulary)
        wrappers[position] = vocabulary.ids["wrappers"][tuple(labels[node] for node in wrapper)]
        slots += [(position, part) for part in range(1, len(wrapper) + 1)]
        kept += wrapper
    place_of = {node: position for position, node in enumerate(kept)}
    roles = vocabulary.ids["roles"]
    edges = [
        (place_of[source], place_of[target], roles[role])
        for source, role, target in sentence.graph.edges
        if source in place_of and target in place_of and role in roles
    ]
    kept_nodes = [(*slot, vocabulary.concept_id(labels[node])) for slot, node in zip(slots, kept, strict=True)]
    return Target(
        labels=np.array([primaries, senses, wrappers], np.int64).T,
        nodes=np.array(kept_nodes, np.int64).reshape(-1, 3),
        edges=np.array(edges, np.int64).reshape(-1, 3),
        root=place_of.get(sentence.graph.root, -1),
    )


def _primary_of(example: Anchored, position: int, node: int) -> tuple[str, str]:
    """Return lemma and sense of a primary node, or the special label that copies it from the text."""
    label = example.sentence.graph.nodes[node]
    if node in example.names:
        return NAME, ""
    if is_constant(label):
        spellings = [word.text for word in example.sentence.words]
        if number_at(spellings, position) == value_of(label).strip('"'):
            return NUMBER, ""
        if value_of(label).lower() == f'"{spellings[position].lower()}"':
            return STRING, ""
    return split_sense(label)


def _primary_class(example: Anchored, position: int, node: int, vocabulary: Vocabulary) -> tuple[int, int] | None:
    lemma, sense = _primary_of(example, position, node)
    ids, senses = vocabulary.ids["primaries"], vocabulary.ids["senses"]
    sense_class = senses.get(sense, senses.get(_FIRST_SENSE, 0))
    if lemma in SPECIAL_PRIMARIES:
        return ids[lemma], sense_class
    script = script_between(example.sentence.words[position].text.lower(), lemma) if is_concept(lemma) else None
    if script in ids:
        return ids[script], sense_class
    if lemma in ids:
        return ids[lemma], sense_class
    if is_name(lemma):
        return ids[NAME], sense_class  # a name with another spelling: the text is closest
    if is_concept(lemma) and _COPY in ids:
        return ids[_COPY], sense_class
    return None


def _known_part(wrapper: list[int], labels: Sequence[str], vocabulary: Vocabulary) -> list[int]:
    wrappers = vocabulary.ids["wrappers"]
    while tuple(labels[node] for node in wrapper) not in wrappers:
        shorter = [wrapper[:left_out] + wrapper[left_out + 1 :] for left_out in range(len(wrapper))]
        wrapper = next((part for part in shorter if tuple(labels[node] for node in part) in wrappers), shorter[-1])
    return wrapper


def _is_general(script: str, lemmas: int) -> bool:
    """Return whether a script is a general rule: the more letters it drops, the more common it must be."""
    return is_script(script) and lemmas >= 8 and dropped(script) <= 6 and (dropped(script) < 4 or lemmas > 25)


def _frequent(counts: Counter[str], least: int) -> list[str]:
    return [label for label, count in counts.most_common() if count >= least and label != NOTHING]
