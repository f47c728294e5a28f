"""Contrast pairs of many sentences, drawn evenly over the edits."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from features.contrasts.edits import EDITS, actor, name_place, voice
from features.contrasts.tree import Tree
from features.core.draws import share_of


class Contrast(NamedTuple):
    """Two sentences, and the edit that makes the second from the first."""

    sentence_a: str
    sentence_b: str
    edit: str


def draw_contrasts(
    trees: Sequence[Tree], each: int | None = None, edits: Collection[str] = tuple(EDITS)
) -> Iterator[Contrast]:
    """Draw contrast pairs.

    Sentences that have another voice are edited first by the other edits, so that a sentence stands beside both: other
    words with the same meaning, and the same words with another. Where arguments are swapped the sentence in the other
    voice stands beside that, too, and beside itself with arguments exchanged.

    Args:
        trees: trees of different sentences; those with several roots are left alone.
        each: sentences edited by each edit, at most; by default all that it can edit.
        edits: the edits to make.

    Yields:
        The pairs, edit by edit; for the same trees always the same.
    """
    held: defaultdict[str, set[str]] = defaultdict(set)
    for tree in trees:
        for position in range(len(tree)):
            if place := name_place(tree, position):
                held[place].add(tree.tokens[position])
        if acting := actor(tree):
            held[acting[0]].add(acting[1])
    names = {place: sorted(those) for place, those in held.items()}
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
                yield from (Contrast(other, one, name) for one in (edited, voice(tree, exchanged=True)) if one)
        if name == "voice":
            drawn.sort(key=lambda tree: tree.text not in voiced)
