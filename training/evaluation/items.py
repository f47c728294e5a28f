"""What a score is made of, item by item: encoders are compared on the items that all of them were scored on.

expected    4.2   0.5   3.0        of a pair: its metric, or what people say
predicted   .81   .12   .77        what the encoder says             ──> Spearman's correlation of the two

expected    none
predicted   1     0     1          of a text: whether it was right   ──> the mean

expected    1     0     0          of a pair: whether it is positive
predicted   1     1     0          whether it is called so           ──> F1 = 2 Σ both / (Σ expected + Σ predicted)

expected    1     0     0          of a pair: whether it is positive
predicted   .81   .12   .77        what the encoder says             ──> AUROC: is a positive above a negative?
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.errors import InputError
from features.metrics.corpus_scores import Bootstrap
from training.correlation import spearman
from training.evaluation.bootstrap import draw_spearman
from training.evaluation.measures import Scored

ScoredBy = Literal["correlation", "f1", "auroc"]
"""How what is predicted of items is scored against what is expected: Spearman's correlation, F1 or AUROC of 0 and 1."""
Scale = Literal["cosine", "probability"]
"""What the scores of pairs are: cosines of embeddings, or what a classifier says of the positive label, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class ItemScores:
    """One score of one encoder, item by item.

    Args:
        name: of the score.
        items: what names each item, the same in every evaluation; no two are equal.
        predicted: what the encoder says of each, (n,), finite.
        expected: what it should follow, (n,): `scored_by` says how the two are scored. None where the score is the mean
            of `predicted`.
        unit: what an item is, in the plural.
        scored_by: how; of no meaning where nothing is expected.
        measure: what the score is, where it is not that of its suite; such a score is not part of the suite's mean.
    """

    name: str
    items: Sequence[str]
    predicted: NDArray[np.float64]
    expected: NDArray[np.float64] | None = None
    unit: str = "pairs"
    scored_by: ScoredBy = "correlation"
    measure: str = ""


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """The pairs of sentences of a set, as one encoder scored them.

    Args:
        scores: of the pairs: by correlation with what people rated, or AUROC where they were judged.
        texts: both sentences of each pair, (n,).
        scale: what the scores are.
    """

    scores: ItemScores
    texts: Sequence[tuple[str, str]]
    scale: Scale = "cosine"


@dataclass(frozen=True, slots=True)
class Aligned:
    """One score of several encoders on the items that all of them have.

    Args:
        predicted: (n, n_runs).
        expected: (n,); None where scores are means.
        scored_by: how the two are scored.
        items: what names each item, (n,).
    """

    predicted: NDArray[np.float64]
    expected: NDArray[np.float64] | None
    scored_by: ScoredBy = "correlation"
    items: Sequence[str] = ()

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return some of the items.

        Args:
            rows: their positions.
        """
        expected = None if self.expected is None else self.expected[rows]
        items = [self.items[row] for row in rows] if self.items else ()
        return replace(self, predicted=self.predicted[rows], expected=expected, items=items)

    def scores(self) -> NDArray[np.float64]:
        """Return the score of each run, (n_runs,), NaN where it is undefined."""
        if self.expected is None:
            return np.asarray(self.predicted.mean(axis=0), dtype=np.float64)
        if self.scored_by == "f1":
            return self._f1(np.ones(len(self.predicted)), self.expected)
        if self.scored_by == "auroc":
            values = [each.measure()["auroc"] for each in self._judged(self.expected)]
            return np.array([np.nan if value is None else value for value in values])
        found = spearman(self.predicted, np.repeat(self.expected[:, None], self.predicted.shape[1], axis=1))
        return np.array([np.nan if score is None else score for score in found])

    def draws(self, bootstrap: Bootstrap) -> NDArray[np.float64]:
        """Return the score of each run in each draw of items, (resamples, n_runs): the same ones for the same items."""
        bootstrap = bootstrap.of("\n".join(self.items))
        if self.expected is not None and self.scored_by == "f1":
            draws = bootstrap.draws(len(self.predicted))
            return np.array([self._f1(times, self.expected) for times in draws], dtype=np.float64)
        if self.expected is not None and self.scored_by == "auroc":
            return np.stack([each.draw(bootstrap)["auroc"] for each in self._judged(self.expected)], axis=1)
        if self.expected is not None:
            return draw_spearman(self.predicted, self.expected, bootstrap)
        drawn = [times @ self.predicted / len(self.predicted) for times in bootstrap.draws(len(self.predicted))]
        return np.array(drawn, dtype=np.float64)

    def _judged(self, expected: NDArray[np.float64]) -> list[Scored]:
        """Return what each run says of judged pairs."""
        return [Scored(expected > 0, said, None) for said in self.predicted.T]

    def _f1(self, times: NDArray[np.int64] | NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the F1 of each run, (n_runs,), where each item counts so often; NaN where none is 1 or called so."""
        both: NDArray[np.float64] = times @ (self.predicted * expected[:, None])
        either = times @ (self.predicted + expected[:, None])
        return np.asarray(np.divide(2 * both, either, out=np.full(len(both), np.nan), where=either > 0))


def align(scores: Sequence[ItemScores]) -> Aligned | None:
    """Return a score of several encoders on their common items; None where they have none.

    Args:
        scores: of one name, one a run.

    Raises:
        InputError: an item was judged by other values in two evaluations.
    """
    places = [{item: place for place, item in enumerate(score.items)} for score in scores]
    common = [item for item in scores[0].items if all(item in known for known in places)]
    if not common:
        return None
    rows = [np.array([known[item] for item in common]) for known in places]
    predicted = np.stack([score.predicted[chosen] for score, chosen in zip(scores, rows, strict=True)], axis=1)
    known = [s.expected[chosen] for s, chosen in zip(scores, rows, strict=True) if s.expected is not None]
    if any(not np.allclose(known[0], other, atol=1e-6) for other in known[1:]):
        raise InputError(
            f"What the {scores[0].unit} of {scores[0].name!r} are judged by has changed between the evaluations: "
            "train and evaluate all of them on one release, with the same files."
        )
    return Aligned(predicted, known[0] if known else None, scores[0].scored_by, common)


def numbered(pairs: pl.DataFrame, of: str) -> pl.DataFrame:
    """Return pairs with the column `item`, which names each pair of a set; one that a set has twice is two items.

    Args:
        pairs: with `text_a` and `text_b`.
        of: the column that says which set a pair is of.
    """
    texts = ["text_a", "text_b"]
    nth = pl.int_range(pl.len()).over(of, *texts)
    return pairs.with_columns(item=pl.concat_str(*texts, nth, separator="\t"))


def read_items(file: Path, *columns: str) -> pl.DataFrame:
    """Read a table of items that an evaluation left.

    Args:
        file: the table.
        columns: that it must have.

    Raises:
        InputError: it cannot be read, or a column is missing.
    """
    try:
        table = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{str(file)!r} cannot be read; run `facetflow evaluate` again") from error
    if missing := [column for column in columns if column not in table.columns]:
        raise InputError(f"{str(file)!r} has no column {missing[0]!r}; run `facetflow evaluate` again")
    return table
