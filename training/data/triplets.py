"""Triplets of texts: an anchor, a positive that shares its label, and a negative that does not.

    aspect country       anchor  Post (China, courier)     positive  Tower (China, steel)
                                                           negative  Parcelia (France, courier): alike in all else

A pure function of labels, seed and epoch: the same rows give the same triplets, in any order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray

from training.data.shared_labels import How, SharedLabels
from training.types import Positions

_TRIES = 8  # draws before all candidates are listed


@dataclass(frozen=True, slots=True)
class Triplets:
    """Texts by their positions, (n,) each: anchors, others that share a label with them, and others that do not."""

    anchors: Positions
    positives: Positions  # each is another text that shares a label with its anchor
    negatives: Positions  # each shares a label in none of the aspects, or, for `all` of them, not in every one
    counts: Mapping[str, int]  # of texts that share their labels with no other (`alone`), or all (`without_negative`)

    def __len__(self) -> int:
        return len(self.anchors)


class TripletMaker:
    """Draws triplets for one aspect, for all of several, or for any of them.

    Texts without a training label are in no triplet. `every` has labels that are not trained on as well (rare ones,
    further aspects): a text that shares one with an anchor cannot be its negative, and one that shares a label in
    another aspect, or in some but not all, is a preferred negative if `other_aspects`.
    """

    def __init__(
        self,
        labels: pl.DataFrame,
        aspects: Sequence[str],
        how: How,
        *,
        every: pl.DataFrame,
        n_texts: int,
        other_aspects: bool = True,
    ) -> None:
        self.shared = SharedLabels(every, aspects, how, n_texts)
        self._groups = _Groups(_keys(labels, aspects, how))
        self.texts = self._groups.texts
        near = every.filter(pl.col("text").is_in(pl.Series(self.texts).implode()))
        # For `all` of several aspects, texts that share some are near; otherwise texts that share another aspect.
        further = (
            aspects
            if how == "all" and len(aspects) > 1
            else [aspect for aspect in near["aspect"].unique().sort() if aspect not in aspects]
        )
        self._near = _Groups(_keys(near, further, "any")) if other_aspects and further else None

    def draw(self, *, seed: int, epoch: int, each: int = 1) -> Triplets:
        """Draw triplets, `each` with each text as anchor; they may repeat if there are few candidates."""
        random = np.random.default_rng((seed, epoch))
        usable = self._groups.in_company
        anchors = np.repeat(usable, each)
        positives = self._groups.draw(anchors, random)
        negatives = self._negatives(anchors, random)
        has_negative = negatives >= 0
        without = len(np.unique(anchors[~has_negative]))
        counts = {"alone": len(self.texts) - len(usable), "without_negative": without}
        return Triplets(anchors[has_negative], positives[has_negative], negatives[has_negative], counts)

    def _negatives(self, anchors: Positions, random: np.random.Generator) -> Positions:
        """Return a negative of each anchor, a near one where there is one, -1 where there is none at all."""
        negatives = np.full(len(anchors), -1, dtype=np.int64)
        for near in (None,) if self._near is None else (self._near, None):
            is_open = negatives < 0
            positions = np.flatnonzero(is_open if near is None else is_open & np.isin(anchors, near.in_company))
            for _ in range(_TRIES):
                if not len(positions):
                    break
                some = anchors[positions]
                drawn = random.choice(self.texts, len(some)) if near is None else near.draw(some, random)
                good = ~self.shared.pairs(some, drawn)
                negatives[positions[good]] = drawn[good]
                positions = positions[~good]
            for anchor in np.unique(anchors[positions]):
                candidates = self.texts if near is None else near.fellows(anchor)
                left = candidates[~self.shared.matrix(np.array([anchor]), candidates)[0]]
                if len(left):
                    mine = positions[anchors[positions] == anchor]
                    negatives[mine] = random.choice(left, len(mine))
        return negatives


class _Groups:
    """Groups of texts with a common key, for draws: each row, `text` and `key`, is a text in a group."""

    def __init__(self, rows: pl.DataFrame) -> None:
        keys, numbers = np.unique(rows["key"].to_numpy(), return_inverse=True)
        texts = rows["text"].to_numpy()
        order = np.lexsort((texts, numbers))
        self._members, groups = texts[order], numbers[order]
        self._sizes = np.bincount(groups, minlength=len(keys))
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)])[:-1]
        # Rows in groups of at least two texts, sorted by text.
        rows_in_company = np.flatnonzero(self._sizes[groups] > 1)
        self._by_text = rows_in_company[np.argsort(self._members[rows_in_company], kind="stable")]
        self._groups = groups
        self._sorted = self._members[self._by_text]
        self.texts = np.unique(texts)
        self.in_company = np.unique(self._sorted)  # texts that share a group with another

    def draw(self, texts: Positions, random: np.random.Generator) -> Positions:
        """Return for each text another one from one of its groups; groups are equally likely."""
        first, last = (np.searchsorted(self._sorted, texts, side) for side in ("left", "right"))
        rows = self._by_text[random.integers(first, last)]
        groups = self._groups[rows]
        other = random.integers(0, self._sizes[groups] - 1)
        own = rows - self._starts[groups]
        members: Positions = self._members[self._starts[groups] + other + (other >= own)]
        return members

    def fellows(self, text: int) -> Positions:
        """Return the texts that share a group with a text."""
        first, last = (np.searchsorted(self._sorted, text, side) for side in ("left", "right"))
        groups = self._groups[self._by_text[first:last]]
        members = [self._members[self._starts[g] : self._starts[g] + self._sizes[g]] for g in groups]
        return np.setdiff1d(np.concatenate(members), [text])


def _keys(labels: pl.DataFrame, aspects: Sequence[str], how: How) -> pl.DataFrame:
    """Return each text with its keys: its labels, or for `all` of several aspects each combination of them."""
    of_aspects = labels.filter(pl.col("aspect").is_in(list(aspects))).select("text", "aspect", "label").unique()
    if how == "any" or len(aspects) == 1:
        return of_aspects.select("text", key=pl.concat_str("aspect", pl.lit("\0"), "label"))
    keys = [of_aspects.filter(aspect=aspect).select("text", key="label") for aspect in aspects]
    joined = pl.concat_str("key", "key_right", separator="\0")
    return reduce(lambda left, right: left.join(right, on="text").select("text", key=joined), keys)


def in_batch_mask(shared: SharedLabels, anchors: Positions, candidates: Positions) -> NDArray[np.bool_]:
    """Return which candidates are the anchor itself or share a label with it, (n_anchors, n_candidates): no negatives.

    The first candidates are the positives in the order of the anchors; an anchor's own positive is False.
    """
    mask: NDArray[np.bool_] = shared.matrix(anchors, candidates) | (anchors[:, None] == candidates[None, :])
    mask[np.arange(len(anchors)), np.arange(len(anchors))] = False
    return mask


def same_text_mask(anchors: Positions, candidates: Positions) -> NDArray[np.bool_]:
    """Return which candidates are the anchor itself or repeat its positive, (n_anchors, n_candidates).

    All others are negatives whatever their labels, as in multiple negatives ranking. Arguments as for `in_batch_mask`.
    """
    own = np.arange(len(anchors))
    mask: NDArray[np.bool_] = (anchors[:, None] == candidates) | (candidates[own][:, None] == candidates)
    mask[own, own] = False
    return mask
