"""Which labelled texts belong together: for each aspect, and for each pair of aspects.

    text   country   industry         country   A B share a label            among     A B C D
    A      France    banks            both      A B share one in each                  A B D      (C has no industry)
    B      France    banks            any       A B D share one in either              A B D
    C      France    –
    D      Japan     banks

Labels are only meaningful within their corpus, so each corpus is scored by itself. A text without a label in an aspect
is neither a query nor a candidate there: whether it belongs is unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from training.data.labelled_texts import LabelledTexts

Way = Literal["one", "both", "any"]
"""Which labels two texts must share: of one aspect, of both aspects, of at least one of the two."""
_CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True, slots=True)
class AspectLabels:
    """The labels of some texts in one aspect.

    Args:
        names: of the labels, sorted.
        matrix: which text has which label, (n_texts, n_labels), 0 or 1.
    """

    names: tuple[str, ...]
    matrix: sparse.csr_array

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """Number of texts with each label, (n_labels,)."""
        return np.asarray(self.matrix.sum(axis=0), np.int64).reshape(-1)

    def shared(self, some: slice) -> NDArray[np.bool_]:
        """Return whether each of some texts shares a label with each text, (n_some, n_texts)."""
        return np.asarray((self.matrix[some] @ self.matrix.T).toarray() > 0)

    def only(self, names: Sequence[str]) -> "AspectLabels":
        """Return some of the labels."""
        columns = [self.names.index(name) for name in names if name in self.names]
        return AspectLabels(tuple(self.names[column] for column in columns), self.matrix[:, columns])


@dataclass(frozen=True, slots=True)
class Group:
    """Texts of a corpus, and the labels by which two of them belong together.

    Args:
        name: such as `country`, `country and industry`; prefixed with the corpus where there are several.
        corpus: corpus of the texts.
        way: one aspect, both or any of two.
        texts: their positions among all texts, (n_texts,), ascending; each has a label in each aspect.
        labels: aspect → labels of these texts.
    """

    name: str
    corpus: str
    way: Way
    texts: NDArray[np.int64]
    labels: dict[str, AspectLabels]

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.texts)

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects whose labels count."""
        return tuple(self.labels)

    def relevant(self, some: slice) -> NDArray[np.bool_]:
        """Return which texts are relevant to each of some texts, (n_some, n_texts); none to itself."""
        shared = [labels.shared(some) for labels in self.labels.values()]
        either = np.logical_and if self.way == "both" else np.logical_or
        found: NDArray[np.bool_] = either.reduce(shared)
        found[np.arange(len(found)), np.arange(some.start, some.start + len(found))] = False
        return found

    @property
    def lacks(self) -> str:
        """Why these texts cannot be scored, as a clause; empty where they can."""
        if not len(self):
            return "no text has labels in both aspects"
        if len(self) == 1:
            return "only one text has a label, so there is none to find"
        if self.way != "both" and (alone := self._of_all()) is not None:
            return f"all {len(self):,} texts have the label {alone!r}, so every ranking of them is right"
        if not self._has_relevant():
            what = "a label in both aspects" if self.way == "both" else "a label"
            return f"no two of {len(self):,} texts share {what}, so there is none to find"
        return ""

    def _of_all(self) -> str | None:
        """Return a label that every text has."""
        for labels in self.labels.values():
            common = np.flatnonzero(labels.frequencies == len(self))
            if len(common):
                return labels.names[int(common[0])]
        return None

    def _has_relevant(self) -> bool:
        """Return whether any text is relevant to another."""
        rows = max(1, _CELLS_AT_ONCE // len(self))
        return any(
            self.relevant(slice(start, min(start + rows, len(self)))).any() for start in range(0, len(self), rows)
        )


def groups_of(data: LabelledTexts) -> list[Group]:
    """Return each aspect of each corpus, then each pair of its aspects, combined in both ways.

    Args:
        data: the queries and candidates; labels of other texts do not count.
    """
    corpora = sorted(data.labels["corpus"].unique())
    found: list[Group] = []
    for corpus in corpora:
        rows = data.labels.filter(pl.col("corpus") == corpus)
        aspects = sorted(rows["aspect"].unique())
        before = f"{corpus}: " if len(corpora) > 1 else ""
        found += [_group(rows, f"{before}{aspect}", corpus, "one", (aspect,)) for aspect in aspects]
        for first, second in combinations(aspects, 2):
            found += [
                _group(rows, f"{before}{first} {word} {second}", corpus, way, (first, second))
                for way, word in (("both", "and"), ("any", "or"))
            ]
    return found


def _group(rows: pl.DataFrame, name: str, corpus: str, way: str, aspects: tuple[str, ...]) -> Group:
    by_aspect = [rows.filter(pl.col("aspect") == aspect) for aspect in aspects]
    texts = np.unique(by_aspect[0]["text"].to_numpy())
    for others in by_aspect[1:]:
        texts = np.intersect1d(texts, others["text"].to_numpy())
    labels = {aspect: _labels(of, texts) for aspect, of in zip(aspects, by_aspect, strict=True)}
    return Group(name, corpus, way, texts, labels)  # type: ignore[arg-type]


def _labels(rows: pl.DataFrame, texts: NDArray[np.int64]) -> AspectLabels:
    kept = rows.filter(pl.col("text").is_in(texts.tolist())).select("text", "label").unique()
    names, columns = np.unique(kept["label"].to_numpy().astype(str), return_inverse=True)
    places = np.searchsorted(texts, kept["text"].to_numpy())
    ones = np.ones(kept.height, np.int32)
    matrix = sparse.csr_array((ones, (places, columns)), shape=(len(texts), len(names)))
    return AspectLabels(tuple(names.tolist()), matrix)
