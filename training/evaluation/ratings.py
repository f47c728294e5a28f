"""Similarity against human ratings: Spearman's correlation. A suite for encoders of every kind."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.files import write_table
from features.core.page import folded
from features.metrics.bootstrap import Bootstrap
from training.correlation import spearman
from training.evaluation.bootstrap import draw_spearman, in_groups
from training.evaluation.items import ItemScores, ScoredPairs, numbered, read_items
from training.evaluation.models import Models
from training.evaluation.page import tables_html
from training.evaluation.paired import COLUMNS, average, cells, draw, pair, tell
from training.evaluation.seen import sets_chosen_by, tell_chosen_by
from training.evaluation.subject import Subject
from training.evaluation.suites import Chapter, Figure, Result, Suite
from training.evaluation.tables import ScoreTable, hundred
from training.evaluation_sets import rating_digest
from training.similarity import cosines

if TYPE_CHECKING:
    from features.corpora import EvaluationPairs

RATINGS_FILE = "ratings.parquet"
"""Human score and similarity of each pair of each set: the basis for comparing two encoders."""
AXIS = "Spearman × 100 with human ratings"


def correlate(
    columns: NDArray[np.float64], ratings: NDArray[np.float64], bootstrap: Bootstrap
) -> tuple[list[float | None], NDArray[np.float64]]:
    """Return the correlation of each column with ratings, and the draws.

    Args:
        columns: similarities, (n_pairs, n_columns).
        ratings: (n_pairs,).
        bootstrap: how intervals are computed.

    Returns:
        Scores, one per column, and draws (resamples, n_columns).
    """
    scores = spearman(columns, np.repeat(ratings[:, None], columns.shape[1], axis=1))
    return scores, draw_spearman(columns, ratings, bootstrap)


class RatingSuite(Suite):
    """Sets of human ratings.

    Args:
        sets: the pairs.
        bootstrap: how intervals are computed.
        chosen_by: names of the sets that the model was chosen by.
    """

    name: ClassVar[str] = "ratings"
    title: ClassVar[str] = "Similarity against human ratings"
    needs: ClassVar[str] = "human ratings: name a set under [[evaluation]]"
    measure: ClassVar[str] = "Spearman"
    called: ClassVar[str] = "human ratings"

    def __init__(self, sets: "Sequence[EvaluationPairs]", bootstrap: Bootstrap, chosen_by: Sequence[str] = ()) -> None:
        self._sets = sets
        self._bootstrap = bootstrap
        self._chosen_by = chosen_by
        self._similarities: list[NDArray[np.float64]] = []

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        """Read the sets of human ratings."""
        sets = subject.rating_sets
        return cls(sets, subject.bootstrap, sets_chosen_by(subject.training, sets)) if sets else None

    def score(self, models: Models) -> Result:
        """Return the score of each set, and their mean."""
        known = [embed for embed in (models.encoder, models.start) if embed is not None]
        found, scores, drawn, groups = [], [], [], list[int]()
        for rated in self._sets:
            columns = np.stack([cosines(embed(rated.texts_a), embed(rated.texts_b)) for embed in known], axis=1)
            self._similarities.append(columns[:, 0])
            bootstrap = in_groups(self._bootstrap.of(rated.name), rated.texts_a)
            of_set, draws = correlate(columns, rated.scores, bootstrap)
            about = {"name": rated.name, "pairs": len(rated.scores), "digest": rating_digest(rated)}
            found.append(about | asdict(pair(of_set, draws, bootstrap, bootstrap.count)))
            groups.append(bootstrap.count)
            scores.append(of_set)
            drawn.append(draws)
        return {
            "sets": found,
            "average": average(scores, drawn, self._bootstrap, min(groups)),
            "chosen_by": list(self._chosen_by),
        }

    def write(self, folder: Path) -> None:
        """Write ratings.parquet."""
        tables = [
            pl.DataFrame(
                {
                    "set": [rated.name] * len(rated.scores),
                    "text_a": rated.texts_a,
                    "text_b": rated.texts_b,
                    "score": rated.scores,
                    "similarity": similarity,
                }
            )
            for rated, similarity in zip(self._sets, self._similarities, strict=True)
        ]
        write_table(pl.concat(tables), folder / RATINGS_FILE)

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return one table with a row per set, and one for their average where there are several."""
        rows = [(rating["name"], f"{rating['pairs']:,}", *cells(rating)) for rating in result["sets"]]
        if (mean := result["average"]) is not None:
            rows.append((_average_of(result), "", *cells(mean)))
        columns = ("ratings", "pairs", *COLUMNS)
        return [ScoreTable(AXIS, columns, tuple(rows), note=tell_chosen_by(result["chosen_by"]))]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        """Return bars and the numbers."""
        warning = tell_chosen_by(result["chosen_by"])
        sets = result["sets"]
        return Chapter(
            body="<p>How well the similarity of whole sentences ranks pairs as people do.</p>"
            + chart_ratings(result)
            + folded("The numbers", tables_html(cls.tables(result))),
            facts={"Human ratings": ", ".join(f"{each['name']} ({each['pairs']:,} pairs)" for each in sets)},
            warnings=[warning] if warning else [],
            figures=[Figure(hundred(rating["encoder"]), _explain(rating)) for rating in sets],
        )

    @classmethod
    def numbers(cls, result: Result) -> dict[str, float | None]:
        """Return the score of each set."""
        return {rating["name"]: rating["encoder"] for rating in result["sets"]}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return human score and similarity of each pair, set by set."""
        return [pairs.scores for pairs in cls.pairs(folder, result)]

    @classmethod
    def pairs(cls, folder: Path, result: Result) -> list[ScoredPairs]:
        """Return the pairs with the same, set by set."""
        table = read_items(folder / RATINGS_FILE, "set", "text_a", "text_b", "score", "similarity")
        named = numbered(table, "set")
        return [
            ScoredPairs(
                ItemScores(
                    name=name,
                    items=rows["item"].to_list(),
                    predicted=rows["similarity"].cast(pl.Float64).to_numpy(),
                    expected=rows["score"].cast(pl.Float64).to_numpy(),
                    groups=rows["text_a"].to_list(),
                ),
                texts=rows.select("text_a", "text_b").rows(),
            )
            for name in cls.numbers(result)
            if not (rows := named.filter(pl.col("set") == name)).is_empty()
        ]

    @classmethod
    def same_data(cls, new: Result, current: Result) -> bool:
        """Return whether the sets have the same pairs and ratings."""
        first, second = ({each["name"]: each["digest"] for each in result["sets"]} for result in (new, current))
        return first == second


def chart_ratings(result: Result) -> str:
    """Return how well the similarity of sentences follows each set of human ratings, as HTML.

    Args:
        result: result of `RatingSuite`.
    """
    known = [(rating["name"], f"{rating['pairs']:,} pairs", rating) for rating in result["sets"]]
    if (mean := result["average"]) is not None:
        known.append((_average_of(result), "the mean of their correlations", mean))
    return draw(known, AXIS)


def _average_of(result: Result) -> str:
    return f"average of {len(result['sets'])} sets"


def _explain(rating: Mapping[str, Any]) -> str:
    said = f"{escape(rating['name'])}: agreement with human ratings, {rating['pairs']:,} pairs."
    if rating["start"] is None:
        return said
    return f"{said} Start model: {hundred(rating['start'])}. This encoder relative to it: {tell(rating)}."
