"""Which texts share a label, in one aspect, in all of several or in any of them; and which labels to train on.

              country   industry       share country   all of them   any of them
Post          China     courier        Post, Tower     Post, Parcel  all three
Parcel        China     courier
Tower         China     steel
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Positions = NDArray[np.int64]
How = Literal["all", "any"]


class SharedLabels:
    """Looks up whether texts share a label.

    Args:
        labels: columns `text` (a position, int64), `aspect` and `label`; rows of other aspects are ignored.
        aspects: at least one.
        how: whether alike texts share a label in `all` of the aspects, or in `any`.
        n_texts: total number of texts.
    """

    def __init__(self, labels: pl.DataFrame, aspects: Sequence[str], how: How, n_texts: int) -> None:
        self.how = how
        self._memberships = [_membership(labels.filter(aspect=aspect), n_texts) for aspect in aspects]

    def matrix(self, rows: Positions, columns: Positions) -> NDArray[np.bool_]:
        """Return whether each text of the rows shares a label with each of the columns, (n_rows, n_columns)."""
        shared = [(member[rows] @ member[columns].T).toarray() > 0 for member in self._memberships]
        return self._joined(shared)

    def pairs(self, left: Positions, right: Positions) -> NDArray[np.bool_]:
        """Return whether the texts of each pair share a label, (n_pairs,)."""
        shared = [
            np.asarray(member[left].multiply(member[right]).sum(axis=1)).ravel() > 0 for member in self._memberships
        ]
        return self._joined(shared)

    def _joined(self, shared: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        joined: NDArray[np.bool_] = np.all(shared, axis=0) if self.how == "all" else np.any(shared, axis=0)
        return joined


@dataclass(frozen=True, slots=True)
class ChosenLabels:
    """The labels of a training.

    Args:
        kept: rows of the remaining labels; texts without one are not trained on.
        held_out: aspect → labels held out of training, sorted.
        counts: aspect → numbers of training labels, of labels that are too rare, and of texts with some of these.
    """

    kept: pl.DataFrame
    held_out: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, Any]]


def choose_labels(
    labels: pl.DataFrame, aspects: Sequence[str], *, min_texts: int, held_out: float, seed: int
) -> ChosenLabels:
    """Drop held-out labels, together with the texts that have one of them, and labels that are too rare.

    Args:
        labels: columns `text`, `aspect` and `label`, of the training texts.
        aspects: aspects to train on.
        min_texts: labels with fewer texts are dropped; a text with other labels stays. Texts of a held-out label do not
            count for the others.
        held_out: share of the labels with at least `min_texts` texts to hold out, in [0, 1). Whether a label is held
            out depends on its name and the seed.
        seed: seed of the choice.
    """
    counted = labels.filter(pl.col("aspect").is_in(list(aspects))).unique(["text", "aspect", "label"])
    texts = counted.group_by("aspect", "label").len("texts")
    frequent = texts.filter(pl.col("texts") >= min_texts)
    out = {
        aspect: tuple(
            label for label in sorted(frequent.filter(aspect=aspect)["label"]) if _place(aspect, label, seed) < held_out
        )
        for aspect in aspects
    }
    hidden = pl.DataFrame(
        [(aspect, label) for aspect, some in out.items() for label in some],
        schema={"aspect": pl.String, "label": pl.String},
        orient="row",
    )
    away = labels.join(hidden, on=["aspect", "label"], how="semi")["text"].unique()
    stay = counted.filter(~pl.col("text").is_in(away.implode()))
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


def _membership(labels: pl.DataFrame, n_texts: int) -> Any:
    """Return which text has which label, (n_texts, n_labels), sparse."""
    known, columns = np.unique(labels["label"].to_numpy(), return_inverse=True)
    rows = labels["text"].to_numpy()
    return csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(n_texts, len(known)))


def _place(aspect: str, label: str, seed: int) -> float:
    drawn = hashlib.blake2b(f"{seed}/{aspect}/{label}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn) / 2**64
