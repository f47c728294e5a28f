"""The suite that asks which facets predict human ratings (Opitz & Frank 2022, Table 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from features.core.page import folded
from features.metrics.bootstrap import Bootstrap
from features.metrics.registry import explain_facet
from training.encoders.s3bert.facets import RESIDUAL, FacetLayout
from training.evaluation.bootstrap import in_groups, interval
from training.evaluation.facets.charts import chart_predictors
from training.evaluation.models import Models
from training.evaluation.page import tables_html
from training.evaluation.ratings import correlate
from training.evaluation.subject import Subject
from training.evaluation.suites import Chapter, Result, Suite
from training.evaluation.tables import ScoreTable, hundred
from training.similarity import cosines

if TYPE_CHECKING:
    from features.corpora import EvaluationPairs


class PredictorSuite(Suite):
    """Each facet alone, and the residual, against sets of human ratings.

    Args:
        sets: the pairs.
        layout: the encoder's facets.
        bootstrap: how intervals are computed.
        own_metrics: name → first line of the docstring of each of the project's own metrics.
    """

    name: ClassVar[str] = "predictors"
    title: ClassVar[str] = "Which facets predict human ratings"
    needs: ClassVar[str] = "human ratings: name a set under [[evaluation]]"
    measure: ClassVar[str] = "Spearman"

    def __init__(
        self,
        sets: "Sequence[EvaluationPairs]",
        layout: FacetLayout,
        bootstrap: Bootstrap,
        own_metrics: Mapping[str, str],
    ) -> None:
        self._sets = sets
        self._layout = layout
        self._bootstrap = bootstrap
        self._own_metrics = own_metrics

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        """Read the sets of human ratings.

        Raises:
            ModelError: when the encoder has no facets.
        """
        layout, sets = FacetLayout.load(subject.job.encoder), subject.rating_sets
        return cls(sets, layout, subject.bootstrap, subject.job.own_metrics) if sets else None

    def score(self, models: Models) -> Result:
        """Return the correlation of each facet with each set, in [-1, 1]; None where it is undefined."""
        return {
            "about": {name: explain_facet(name, self._own_metrics) for name in self._layout.names},
            "sets": [self._score(rated, models) for rated in self._sets],
        }

    def _score(self, rated: "EvaluationPairs", models: Models) -> dict[str, Any]:
        left, right = models.encoder(rated.texts_a), models.encoder(rated.texts_b)
        layout, rest = self._layout, self._layout.residual
        columns = {
            **dict(zip(layout.names, layout.similarities(left, right).T, strict=True)),
            **({RESIDUAL: cosines(left[:, rest], right[:, rest])} if rest.start < rest.stop else {}),
        }
        bootstrap = in_groups(self._bootstrap, rated.texts_a)
        scores, draws = correlate(np.stack(list(columns.values()), axis=1), rated.scores, bootstrap)
        return {
            "name": rated.name,
            "pairs": len(rated.scores),
            "facets": dict(zip(columns, scores, strict=True)),
            "intervals": {
                name: asdict(found)
                if score is not None and (found := interval(drawn, bootstrap, bootstrap.count))
                else None
                for name, score, drawn in zip(columns, scores, draws.T, strict=True)
            },
        }

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return one table with a row per facet and a column per set."""
        sets = result["sets"]
        return [
            ScoreTable(
                title="Which facets predict human ratings, Spearman × 100",
                columns=("facet", *(each["name"] for each in sets)),
                rows=tuple((facet, *(hundred(each["facets"][facet]) for each in sets)) for facet in sets[0]["facets"]),
            )
        ]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        """Return bars for each set, and the numbers."""
        charts = "".join(
            f"<div><h3>{escape(each['name'])}, {each['pairs']:,} pairs</h3>"
            f"{chart_predictors(each, result['about'])}</div>"
            for each in result["sets"]
        )
        return Chapter(
            "<p>How well the similarity of each facet alone orders pairs as people do: what people attend to when "
            "they judge two sentences as similar.</p>"
            f'<div class="multiples wide">{charts}</div>{folded("The numbers", tables_html(cls.tables(result)))}'
        )

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return nothing: how well a facet predicts human ratings makes an encoder neither better nor worse."""
        return {}

    @classmethod
    def numbers(cls, result: Result) -> dict[str, float | None]:
        """Return the score of each facet on each set."""
        return {
            f"{facet} on {each['name']}": score for each in result["sets"] for facet, score in each["facets"].items()
        }
