"""Which labelled texts belong together: for each aspect, and for each pair of aspects.

    text   country   industry         country   A B share a label            among     A B C D
    A      France    banks            both      A B share one in each                  A B D      (C has no industry)
    B      France    banks            any       A B D share one in either              A B D
    C      France    –
    D      Japan     banks

Labels are only meaningful within their corpus, so each corpus is scored by itself. A text without a label in an aspect
is neither a query nor a candidate there: whether it belongs is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from training.data.labelled_texts import LabelledTexts
from training.data.shared_labels import AspectLabels, SharedLabels

Way = Literal["one", "both", "any"]
"""Which labels two texts must share: of one aspect, of both aspects, of at least one of the two."""


@dataclass(frozen=True, slots=True)
class Group:
    """Texts of a corpus, and the labels by which two of them belong together."""

    name: str  # such as `country`, `country and industry`; prefixed with the corpus where there are several
    corpus: str  # corpus of the texts
    way: Way  # one aspect, both or any of two
    texts: NDArray[np.int64]  # their positions among all texts, (n_texts,), ascending; each has a label in each aspect
    shared: SharedLabels  # which of these texts share a label, by their positions in `texts`
    having: Mapping[str, int]  # aspect → number of texts of the corpus with a label in it

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def labels(self) -> dict[str, AspectLabels]:
        """Aspect → labels of these texts."""
        return self.shared.labels

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects whose labels count."""
        return tuple(self.labels)

    def relevant(self, some: slice) -> NDArray[np.bool_]:
        """Return which texts are relevant to each of some texts, (n_some, n_texts); none to itself."""
        return self.shared.relevant(np.arange(len(self)), some)

    @property
    def lacks(self) -> str:
        """Why these texts cannot be scored, as a clause; empty where they can."""
        if not len(self):
            return "no text has labels in both aspects"
        if len(self) == 1:
            return "only one text has a label, so there is none to find"
        everywhere = {aspect: labels.frequencies == len(self) for aspect, labels in self.labels.items()}
        common = {a: self.labels[a].names[int(of_all.argmax())] for a, of_all in everywhere.items() if of_all.any()}
        if common and (self.way != "both" or len(common) == len(self.labels)):
            label = next(iter(common.values()))
            return f"all {len(self):,} texts have the label {label!r}, so every ranking of them is right"
        if self.way == "both" and common:
            ((aspect, label),) = common.items()
            (other,) = self.labels.keys() - {aspect}
            # Else it is another question: among the texts with that label.
            if self.having[other] == len(self):
                return (
                    f"all {len(self):,} texts have the label {label!r} in {aspect}, so the same ones belong together "
                    f"as by {other} alone"
                )
        if not self._has_relevant():
            what = "a label in both aspects" if self.way == "both" else "a label"
            return f"no two of {len(self):,} texts share {what}, so there is none to find"
        return ""

    def _has_relevant(self) -> bool:
        if self.way == "both":
            first, second = self.labels.values()
            return bool((first.matrix.T @ second.matrix > 1).nnz)  # texts with a label of each
        return any((labels.frequencies > 1).any() for labels in self.labels.values())


def groups_of(data: LabelledTexts) -> list[Group]:
    """Return each aspect of each corpus, then each pair of its aspects, combined in both ways."""
    corpora = data.corpora
    groups: list[Group] = []
    for corpus in corpora:
        rows = data.labels.filter(pl.col("corpus") == corpus)
        aspects = sorted(rows["aspect"].unique())
        before = f"{corpus}: " if len(corpora) > 1 else ""
        groups += [_group(rows, f"{before}{aspect}", corpus, "one", (aspect,)) for aspect in aspects]
        for first, second in combinations(aspects, 2):
            groups += [
                _group(rows, f"{before}{first} {word} {second}", corpus, way, (first, second))
                for way, word in (("both", "and"), ("any", "or"))
            ]
    return groups


def _group(rows: pl.DataFrame, name: str, corpus: str, way: str, aspects: tuple[str, ...]) -> Group:
    having = {aspect: np.unique(rows.filter(aspect=aspect)["text"].to_numpy()) for aspect in aspects}
    texts = reduce(np.intersect1d, having.values())
    kept = rows.filter(pl.col("text").is_in(texts.tolist()))
    placed = kept.with_columns(text=np.searchsorted(texts, kept["text"].to_numpy()))
    shared = SharedLabels(placed, aspects, "all" if way == "both" else "any", len(texts))
    counts = {aspect: len(positions) for aspect, positions in having.items()}
    return Group(name, corpus, way, texts, shared, counts)  # type: ignore[arg-type]
