"""Scores item by item: encoders are compared on the items that all of them were scored on.

expected    4.2   0.5   3.0        of a pair: its metric or human rating
predicted   .81   .12   .77        the encoder's similarity          ──> Spearman's correlation of the two

expected    none
predicted   1     0     1          of a text: whether it is correct  ──> the mean

expected    1     0     0          of a pair: whether it is positive
predicted   1     1     0          whether it is predicted positive  ──> F1 = 2 Σ both / (Σ expected + Σ predicted)

expected    1     0     0          of a pair: whether it is positive
predicted   .81   .12   .77        the encoder's score               ──> AUROC: is a positive above a negative?
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import NoScores, ScoredDifferently
from features.metrics.bootstrap import Bootstrap
from training.evaluation.bootstrap import Drawn, differing, draw_means, draw_spearman, in_groups
from training.evaluation.measures import Scored
from training.similarity import spearman
from training.thresholds import HALF

ScoredBy = Literal["correlation", "f1", "auroc"]
"""How predictions are scored against expected values: Spearman's correlation, or a measure of `Scored` for 0 and 1."""
Scale = Literal["cosine", "probability"]
"""What the scores of pairs are: cosines of embeddings, or a classifier's probabilities of the positive label."""


@dataclass(frozen=True, slots=True)
class ItemScores:
    """One score of one encoder, item by item."""

    name: str  # of the score
    items: Sequence[str]  # unique key of each item, the same in every evaluation
    predicted: NDArray[np.float64]  # the encoder's value for each item, (n,), finite
    expected: NDArray[np.float64] | None = None  # targets, (n,); None where the score is the mean of `predicted`
    unit: str = "pairs"  # what an item is, in the plural
    scored_by: ScoredBy = "correlation"  # how predictions are scored; ignored where nothing is expected
    measure: str = ""  # where it is not that of its suite; such a score is not part of the mean of the suite
    depends_on: str = ""  # digest of other data that values depend on, such as the texts searched; perhaps empty
    groups: Sequence[Hashable] = ()  # key of the group of each item, (n,), drawn together; empty for each on its own
    texts: Sequence[tuple[str, str]] = ()  # both sentences of each, (n,), where these are pairs to be shown one by one
    scale: Scale = "cosine"  # what `predicted` is, where there are texts


@dataclass(frozen=True, slots=True)
class Aligned(ItemScores):
    """One score of several encoders on the items that all have, without texts: `predicted` is (n, n_runs)."""

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the items at some positions."""
        expected = None if self.expected is None else self.expected[rows]
        items, groups = ([names[row] for row in rows] if names else () for names in (self.items, self.groups))
        return replace(self, predicted=self.predicted[rows], expected=expected, items=items, groups=groups)

    def scores(self) -> NDArray[np.float64]:
        """Return the score of each run, (n_runs,), NaN where it is undefined."""
        if self.expected is None:
            return np.asarray(self.predicted.mean(axis=0), dtype=np.float64)
        if self.scored_by == "correlation":
            scores = spearman(self.predicted, self.expected)
        else:
            scores = [each.measure()[self.scored_by] for each in self._judged(self.expected)]
        return np.array([np.nan if score is None else score for score in scores])

    def draw(self, bootstrap: Bootstrap) -> Drawn:
        """Return the scores of the runs with their draws; equal items give equal draws."""
        grouped = in_groups(bootstrap.of("\n".join(self.items)), self.groups or self.items)
        if self.expected is None:
            draws = draw_means(self.predicted, grouped)
        elif self.scored_by == "correlation":
            draws = draw_spearman(self.predicted, self.expected, grouped)
        else:
            draws = np.stack([each.draw(grouped)[self.scored_by] for each in self._judged(self.expected)], axis=1)
        return Drawn(
            scores=[None if np.isnan(score) else float(score) for score in self.scores()],
            draws=draws,
            bootstrap=grouped,
            mean=self.expected is None,
            differ=differing(self.predicted[:, 0], self.predicted[:, 1], self.groups),
        )

    def _judged(self, expected: NDArray[np.float64]) -> list[Scored]:
        return [Scored(expected > 0, column, HALF) for column in self.predicted.T]


def align(scores: Sequence[ItemScores]) -> Aligned | None:
    """Return a score of several encoders, one per run, on their common items; None where they have none."""
    indexes = [{item: position for position, item in enumerate(score.items)} for score in scores]
    common = [item for item in scores[0].items if all(item in index for index in indexes)]
    if not common:
        return None
    rows = [np.array([index[item] for item in common]) for index in indexes]
    predicted = np.stack([score.predicted[chosen] for score, chosen in zip(scores, rows, strict=True)], axis=1)
    expected = [s.expected[chosen] for s, chosen in zip(scores, rows, strict=True) if s.expected is not None]
    if any(not np.allclose(expected[0], other, atol=1e-6) for other in expected[1:]):
        raise ScoredDifferently(
            f"The expected values of the {scores[0].unit} of {scores[0].name!r} differ between the evaluations: "
            "train and evaluate all of them on one release, with the same files."
        )
    first = scores[0]
    groups = [first.groups[row] for row in rows[0]] if first.groups else ()
    wanted = expected[0] if expected else None
    return Aligned(first.name, common, predicted, wanted, first.unit, first.scored_by, first.measure, groups=groups)


def read_items(file: Path, *columns: str) -> pl.DataFrame:
    """Read a table of items that an evaluation wrote."""
    try:
        table = pl.read_parquet(file, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise NoScores(f"{str(file)!r} cannot be read; run `facetflow evaluate` again") from error
    if missing := [column for column in columns if column not in table.columns]:
        raise NoScores(f"{str(file)!r} has no column {missing[0]!r}; run `facetflow evaluate` again")
    return table


def read_sets(file: Path, names: Iterable[str], *columns: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the items of each set that an evaluation wrote and that has any, with a key for each of them in `item`.

    A pair that a set has twice is two items. The table has `set`, `text_a`, `text_b`, null for a single text, and the
    further columns.
    """
    nth = pl.int_range(pl.len()).over("set", "text_a", "text_b")
    key = pl.concat_str("text_a", pl.col("text_b").fill_null(""), nth, separator="\t")
    table = read_items(file, "set", "text_a", "text_b", *columns).with_columns(item=key)
    for name in names:
        if not (rows := table.filter(pl.col("set") == name)).is_empty():
            yield name, rows


def pair_scores(name: str, rows: pl.DataFrame, predicted: pl.Series, expected: pl.Series) -> ItemScores:
    """Return the scores of the sentence pairs of `read_sets`, to be correlated."""
    return ItemScores(
        name,
        rows["item"].to_list(),
        numbers_of(predicted),
        numbers_of(expected),
        groups=rows["text_a"].to_list(),
        texts=rows.select("text_a", "text_b").rows(),
    )


def right_items(name: str, rows: pl.DataFrame, *, unit: str = "pairs", depends_on: str = "") -> ItemScores:
    """Return whether each item of `read_sets` has the label it is predicted; with another label it is another item."""
    items = rows.select(pl.concat_str("label", "item", separator="\t")).to_series().to_list()
    right = numbers_of(rows["label"] == rows["predicted"])
    return ItemScores(name, items, right, unit=unit, depends_on=depends_on, groups=rows["text_a"].to_list())


def numbers_of(column: pl.Series) -> NDArray[np.float64]:
    """Return the numbers of a column, or whether each value is true."""
    return column.cast(pl.Float64).to_numpy()
