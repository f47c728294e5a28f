"""The suite that asks which facets predict human ratings (Opitz & Frank 2022, Table 4)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from features.core.wording import counted
from features.metrics.registry import explain_facet
from training.encoders.s3bert.facets import RESIDUAL, FacetLayout
from training.evaluation.bars import Bar, draw_bars
from training.evaluation.bootstrap import correlate, in_groups
from training.evaluation.models import Models
from training.evaluation.ratings import AXIS
from training.evaluation.suites import Chapter, Result, Subject, Suite
from training.evaluation.tables import Column, ScoreTable, hundred, table
from training.similarity import cosines


@dataclass
class PredictorSuite(Suite):
    """Each facet alone, and the residual, against sets of human ratings."""

    name: ClassVar[str] = "predictors"
    title: ClassVar[str] = "Which facets predict human ratings"
    needs: ClassVar[str] = "human ratings: name a set under [[evaluation]]"
    measure: ClassVar[str] = "Spearman"

    subject: Subject
    layout: FacetLayout

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        layout = FacetLayout.load(subject.job.encoder)
        return cls(subject, layout) if subject.rating_sets else None

    def score(self, models: Models) -> Result:
        """Return the correlation of each facet with each set, in [-1, 1]; None where it is undefined."""
        layout, rest, rows = self.layout, self.layout.slices.get(RESIDUAL), list[dict[str, Any]]()
        for rated in self.subject.rating_sets:
            left, right = models.encoder(rated.texts_a), models.encoder(rated.texts_b)
            columns = dict(zip(layout.names, layout.similarities(left, right).T, strict=True))
            if rest is not None:
                columns[RESIDUAL] = cosines(left[:, rest], right[:, rest])
            grouped = in_groups(self.subject.bootstrap, rated.texts_a)
            drawn = correlate(np.stack(list(columns.values()), axis=1), rated.scores, grouped)
            for number, (facet, score) in enumerate(zip(columns, drawn.scores, strict=True)):
                row = {"name": f"{facet} on {rated.name}", "facet": facet, "set": rated.name, "encoder": score}
                rows.append(row | {"encoder_interval": drawn.interval(number)})
        return {
            "about": {name: explain_facet(name, self.subject.job.own_metrics) for name in layout.names}
            | {RESIDUAL: "The dimensions that belong to no facet."},
            "sets": {rated.name: len(rated.scores) for rated in self.subject.rating_sets},
            "rows": rows,
            "data": {rated.name: rated.digest for rated in self.subject.rating_sets},
        }

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        facets: dict[str, dict[str, Any]] = {}
        for row in result["rows"]:
            facets.setdefault(row["facet"], {"name": row["facet"]}).update({f"on {row['set']}": row["encoder"]})
        columns = [
            Column("facet", "name"),
            *(Column(name, f"on {name}", hundred) for name in result["sets"]),
        ]
        return [table("Which facets predict human ratings, Spearman × 100", columns, facets.values())]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        bars: dict[str, list[Bar]] = {name: [] for name in result["sets"]}
        for row in result["rows"]:
            bars[row["set"]].append(Bar.of({**row, "name": row["facet"]}, result["about"].get(row["facet"], ""), {}))
        return Chapter(
            about="How well the similarity of each facet alone orders pairs as people do: what people attend to when "
            "they judge two sentences as similar.",
            charts={
                f"{name}, {counted(pairs, 'pair')}": draw_bars(bars[name], of="the facet alone", axis=AXIS)
                for name, pairs in result["sets"].items()
            },
        )

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return nothing: how well a facet predicts human ratings makes an encoder neither better nor worse."""
        return {}
