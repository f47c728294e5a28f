"""Which texts share a label, in one aspect, in all of several or in any of them; and which labels to train on.

              country   industry       share country   all of them   any of them
Post          China     courier        Post, Tower     Post, Parcel  all three
Parcel        China     courier
Tower         China     steel
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from features.core.draws import share_of
from training.types import Positions

How = Literal["all", "any"]


@dataclass(frozen=True, slots=True)
class AspectLabels:
    """The labels of some texts in one aspect."""

    names: tuple[str, ...]  # of the labels, sorted
    matrix: csr_array  # which text has which label, (n_texts, n_labels), float32, 0 or 1

    @classmethod
    def of(cls, labels: pl.DataFrame, n_texts: int) -> Self:
        """Return the labels of one aspect, from rows with `text` (a position, int64) and `label`."""
        rows = labels.select("text", "label").unique()
        names, columns = np.unique(rows["label"].to_numpy(), return_inverse=True)
        cells = rows["text"].to_numpy(), columns
        matrix = csr_array((np.ones(len(rows), np.float32), cells), shape=(n_texts, len(names)))
        return cls(tuple(names.tolist()), matrix)

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """Number of texts with each label, (n_labels,)."""
        return np.asarray(self.matrix.sum(axis=0), np.int64).reshape(-1)

    def only(self, names: Sequence[str]) -> Self:
        """Return the labels with some names, in the order of these; unknown ones are left out."""
        column_of = {name: column for column, name in enumerate(self.names)}
        columns = [column_of[name] for name in names if name in column_of]
        return type(self)(tuple(self.names[column] for column in columns), self.matrix[:, columns])


class SharedLabels:
    """Looks up whether texts share a label in `all` of the aspects, or in `any`.

    Rows are `text` (a position, int64), `aspect` and `label`; those of other aspects are ignored.
    """

    def __init__(self, labels: pl.DataFrame, aspects: Sequence[str], how: How, n_texts: int) -> None:
        self.how = how
        self.labels = {aspect: AspectLabels.of(labels.filter(aspect=aspect), n_texts) for aspect in aspects}

    def matrix(self, rows: Positions, columns: Positions) -> NDArray[np.bool_]:
        """Return whether each text of the rows shares a label with each of the columns, (n_rows, n_columns)."""
        shared = [(labels.matrix[rows] @ labels.matrix[columns].T).toarray() > 0 for labels in self.labels.values()]
        return self._joined(shared)

    def only(self, names: Sequence[str]) -> Self:
        """Return a copy that looks up only the labels with some names."""
        fewer = copy(self)
        fewer.labels = {aspect: labels.only(names) for aspect, labels in self.labels.items()}
        return fewer

    def relevant(self, texts: Positions, some: slice) -> NDArray[np.bool_]:
        """Return whether some of the texts share a label with each of them, (n_some, n_texts); none with itself."""
        shared = self.matrix(texts[some], texts)
        shared[np.arange(len(shared)), np.arange(len(texts))[some]] = False
        return shared

    def pairs(self, left: Positions, right: Positions) -> NDArray[np.bool_]:
        """Return whether the texts of each pair share a label, (n_pairs,)."""
        shared = [
            np.asarray(labels.matrix[left].multiply(labels.matrix[right]).sum(axis=1)) > 0
            for labels in self.labels.values()
        ]
        return self._joined(shared)

    def _joined(self, shared: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        return np.asarray(np.all(shared, axis=0) if self.how == "all" else np.any(shared, axis=0))


@dataclass(frozen=True, slots=True)
class ChosenLabels:
    """The labels of a training."""

    kept: pl.DataFrame  # rows of the remaining labels; texts without one are not trained on
    held_out: Mapping[str, tuple[str, ...]]  # aspect → labels held out of training, sorted
    counts: Mapping[str, Mapping[str, Any]]  # aspect → numbers of training labels, of rare ones, and of their texts

    def without_hidden(self, labels: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of texts that have none of the labels held out."""
        away = labels.join(_table(self.held_out), on=["aspect", "label"], how="semi").select("text")
        return labels.join(away, on="text", how="anti")


def choose_labels(
    labels: pl.DataFrame, aspects: Sequence[str], *, min_texts: int, held_out: float, seed: int
) -> ChosenLabels:
    """Drop held-out labels, together with the texts that have one of them, and labels that are too rare.

    Rows are those of the training texts, with `text`, `aspect` and `label`. A share `held_out`, in [0, 1), of the
    labels with at least `min_texts` texts is held out, by name and seed. A text with a rare label and others stays.
    """
    counted = labels.filter(pl.col("aspect").is_in(list(aspects))).unique(["text", "aspect", "label"])
    texts = counted.group_by("aspect", "label").len("texts")
    frequent = texts.filter(pl.col("texts") >= min_texts)
    out = {
        aspect: tuple(
            label
            for label in sorted(frequent.filter(aspect=aspect)["label"])
            if share_of(f"{seed}/{aspect}/{label}") < held_out
        )
        for aspect in aspects
    }
    hidden = _table(out)
    away = labels.join(hidden, on=["aspect", "label"], how="semi").select("text")
    stay = counted.join(away, on="text", how="anti")
    common = stay.group_by("aspect", "label").len("texts").filter(pl.col("texts") >= min_texts)
    kept = stay.join(common, on=["aspect", "label"], how="semi")
    rare = counted.join(pl.concat([common.select("aspect", "label"), hidden]), on=["aspect", "label"], how="anti")
    counts = {
        aspect: {
            "labels": kept.filter(aspect=aspect)["label"].n_unique(),
            "texts": kept.filter(aspect=aspect)["text"].n_unique(),
            "rare_labels": rare.filter(aspect=aspect)["label"].n_unique(),
            "rare_label_texts": rare.filter(aspect=aspect)["text"].n_unique(),
            "held_out_labels": list(out[aspect]),
        }
        for aspect in aspects
    }
    return ChosenLabels(kept.select("text", "aspect", "label").sort("text", "aspect", "label"), out, counts)


def _table(held_out: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    return pl.DataFrame(
        [(aspect, label) for aspect, labels in held_out.items() for label in labels],
        schema={"aspect": pl.String, "label": pl.String},
        orient="row",
    )
