"""Contrast pairs of many sentences: drawn evenly over the edits, and confirmed where graphs show the exchange.

A dog chased two cats.    Two cats were chased by a dog.    srl 1.00   the roles are kept
                          Two cats chased a dog.            srl 0.67   and exchanged: all three are kept
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from features.contrasts.edits import EDITS, actor, name_slot, voice
from features.contrasts.tree import Tree
from features.core.draws import share_of
from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph
from features.metrics.measurement import compare
from features.metrics.metric import Comparison


class Contrast(NamedTuple):
    """Two sentences, and the edit that makes the second from the first."""

    sentence_a: str
    sentence_b: str
    edit: str


def draw_contrasts(
    trees: Sequence[Tree], each: int | None = None, edits: Collection[str] = tuple(EDITS)
) -> Iterator[Contrast]:
    """Draw contrast pairs.

    Sentences that `voice` has edited come first in the other edits, so that one sentence is paired with other words of
    the same meaning and with the same words of another. Its other voice is paired with the swapped sentence, too, and
    with itself with arguments exchanged.

    Args:
        trees: trees of different sentences; those with several roots are left alone.
        each: sentences edited by each edit, at most; by default all that it can edit.
        edits: the edits to make.

    Yields:
        The pairs, edit by edit; for the same trees always the same.
    """
    fillers: defaultdict[str, set[str]] = defaultdict(set)
    for tree in trees:
        for position in range(len(tree)):
            if slot := name_slot(tree, position):
                fillers[slot].add(tree.tokens[position])
        if subject := actor(tree):
            fillers[subject[0]].add(subject[1])
    names = {slot: sorted(words) for slot, words in fillers.items()}
    simple = [tree for tree in trees if sum(map(int.__eq__, tree.heads, range(len(tree)))) == 1]
    drawn = sorted(simple, key=lambda tree: share_of(tree.text))
    voiced: dict[str, str] = {}
    for name, edit in EDITS.items():
        if name not in edits:
            continue
        count = 0
        for tree in drawn:
            if count == each:
                break
            edited = edit(tree, names)
            if edited is None or edited == tree.text:
                continue
            count += 1
            yield Contrast(tree.text, edited, name)
            if name == "voice":
                voiced[tree.text] = edited
            elif name == "swap" and (other := voiced.get(tree.text)):
                swaps = (edited, voice(tree, exchanged=True))
                yield from (Contrast(other, swapped, name) for swapped in swaps if swapped)
        if name == "voice":
            drawn.sort(key=lambda tree: tree.text not in voiced)


def triples(contrasts: Sequence[Contrast]) -> list[tuple[str, str, str]]:
    """Return the sentences that have both edits: sentence, in the other voice, with exchanged arguments."""
    voices: dict[str, str] = {}
    for pair in contrasts:
        if pair.edit == "voice":
            voices |= {pair.sentence_a: pair.sentence_b, pair.sentence_b: pair.sentence_a}
    swaps = [pair for pair in contrasts if pair.edit == "swap" and pair.sentence_a in voices]
    return [(pair.sentence_a, voices[pair.sentence_a], pair.sentence_b) for pair in swaps]


def confirmed(contrasts: Sequence[Contrast], graphs: Mapping[str, AmrGraph]) -> list[Contrast]:
    """Leave out each exchange of arguments whose graph keeps as many roles as that of the other voice, or more.

    It would teach the contrary of its edit: the verb was parsed as a noun, or the parser does not believe that a wall
    climbs a man. A sentence without any exchange left loses the pair with its other voice.

    Args:
        contrasts: pairs as `draw_contrasts` yields them.
        graphs: text → graph, for the sentences of `triples`; an exchange for which one is missing is left out.
    """
    drawn = triples(contrasts)
    compared = [triple for triple in drawn if all(text in graphs for text in triple)]
    positions = {
        text: position for position, text in enumerate(dict.fromkeys(text for triple in compared for text in triple))
    }
    batch = GraphBatch.of(graphs[text] for text in positions)
    first, voiced, swapped = (np.array([positions[triple[n]] for triple in compared], np.int64) for n in range(3))
    in_voice, in_swap = (
        compare(Comparison(batch, first, second), ["srl"])["srl"].to_numpy() for second in (voiced, swapped)
    )
    kept = {(compared[position][0], compared[position][2]) for position in np.flatnonzero(in_voice > in_swap)}
    refuted = {(text, swapped) for text, _, swapped in drawn} - kept
    with_swap, with_kept_swap = {text for text, _, _ in drawn}, {text for text, _ in kept}

    def stays(pair: Contrast) -> bool:
        if pair.edit == "voice":
            return with_swap.isdisjoint(pair[:2]) or not with_kept_swap.isdisjoint(pair[:2])
        return pair[:2] not in refuted

    return [pair for pair in contrasts if stays(pair)]
