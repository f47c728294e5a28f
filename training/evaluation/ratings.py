"""Similarity against human ratings: Spearman's correlation. A suite for encoders of every kind."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from features.core.pages import tell
from features.core.wording import counted
from training.evaluation.bars import PAIRED, draw, figure_of, with_mean
from training.evaluation.bootstrap import correlate, in_groups, paired_mean
from training.evaluation.items import ItemScores, pair_scores, read_sets
from training.evaluation.models import Models
from training.evaluation.seen import sets_chosen_by
from training.evaluation.suites import Chapter, Result, Subject, Suite
from training.evaluation.tables import NOTES, Column, ScoreTable, count, lines, table
from training.similarity import cosines

AXIS = "Spearman × 100 with human ratings"
_COLUMNS = (Column("ratings", "name"), Column("pairs", "pairs", count), *PAIRED)


@dataclass
class RatingSuite(Suite):
    """The sets of human ratings of a subject."""

    name: ClassVar[str] = "ratings"
    title: ClassVar[str] = "Similarity against human ratings"
    needs: ClassVar[str] = "human ratings: name a set under [[evaluation]]"
    measure: ClassVar[str] = "Spearman"
    called: ClassVar[str] = "human ratings"
    file: ClassVar[str] = "ratings.parquet"

    subject: Subject

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        return cls(subject) if subject.rating_sets else None

    def score(self, models: Models) -> Result:
        embeds = [embed for embed in (models.encoder, models.start) if embed is not None]
        sets, drawn = self.subject.rating_sets, []
        for rated in sets:
            columns = np.stack([cosines(embed(rated.texts_a), embed(rated.texts_b)) for embed in embeds], axis=1)
            self.keep(rated.name, rated.texts_a, rated.texts_b, score=rated.scores, similarity=columns[:, 0])
            grouped = in_groups(self.subject.bootstrap.of(rated.name), rated.texts_a)
            drawn.append(correlate(columns, rated.scores, grouped))
        return {
            "rows": [
                {"name": rated.name, "pairs": len(rated.scores), **of_set.paired()}
                for rated, of_set in zip(sets, drawn, strict=True)
            ],
            "mean": paired_mean(drawn),
            "data": {rated.name: rated.digest for rated in sets},
            "chosen_by": sets_chosen_by(self.subject.training, sets),
        }

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        rows = with_mean(result["rows"], result["mean"], f"average of {len(result['rows'])} sets")
        undefined = tell(NOTES, "undefined", "the rating, or the similarity", result["rows"])
        return [table(AXIS, _COLUMNS, rows, lines(tell(NOTES, "chosen_by", result["chosen_by"]), undefined))]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        sets = result["rows"]
        about = {row["name"]: counted(row["pairs"], "pair") for row in sets}
        rows = with_mean(sets, result["mean"], f"average of {len(sets)} sets")
        return Chapter(
            about="How well the similarity of whole sentences ranks pairs as people do.",
            charts={"": draw(rows, [*about.values(), "the mean of their correlations"][: len(rows)], AXIS)},
            facts={"Human ratings": ", ".join(f"{name} ({pairs})" for name, pairs in about.items())},
            warnings=[tell(NOTES, "chosen_by", result["chosen_by"])],
            figures=[
                figure_of(row, f"{row['name']}: agreement with human ratings, {about[row['name']]}.") for row in sets
            ],
        )

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        return [
            pair_scores(name, rows, rows["similarity"], rows["score"])
            for name, rows in read_sets(folder / cls.file, cls.numbers(result), "score", "similarity")
        ]
