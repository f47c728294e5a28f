"""The suite of encoders with facets: does the similarity of a facet order pairs as its metric does?"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from features.core.faults import EncoderDamaged, NothingToScore
from features.core.files import write_table
from features.metrics.bootstrap import Bootstrap
from features.metrics.registry import explain_facet
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.data import of, splits
from training.encoders.s3bert.facets import FacetLayout
from training.evaluation.bootstrap import in_groups
from training.evaluation.facets.baselines import random_width
from training.evaluation.facets.examples import choose_examples, pair_table
from training.evaluation.facets.scoring import BASELINES, EmbeddedPairs, count_verdicts, score_facets
from training.evaluation.facets.tables import facet_table
from training.evaluation.graph_pairs import GRAPHS_FILE, choose_pairs
from training.evaluation.items import ItemScores, numbers_of, read_items
from training.evaluation.models import Embed, Models
from training.evaluation.seen import seen_part
from training.evaluation.subject import Subject
from training.evaluation.suites import Chapter, Result, Suite
from training.evaluation.tables import ScoreTable
from training.jobs import EvaluationJob
from training.runs import TRAINING_FILE
from training.writing import write_json

PAIRS_FILE = "pairs.parquet"
"""Measured and predicted value of each metric for each pair."""
FITTING_PAIRS = 2000
"""Maximum number of pairs for SB-ILP to assign dimensions on."""


@dataclass(frozen=True, slots=True)
class FacetPairs:
    """Pairs that facets are scored on.

    Args:
        held_out: the positive pairs of the split.
        fitting: positive pairs of another split, for SB-ILP to assign dimensions on; None where there are none.
        others: split not used in the training → its number of positive pairs.
    """

    held_out: MeasuredPairs
    fitting: MeasuredPairs | None
    others: dict[str, int]


@dataclass
class FacetSuite(Suite):
    """Facets against metrics, compared with three baselines.

    Args:
        job: how baselines and intervals are computed, and which examples are shown.
        layout: the encoder's facets.
        facet_pairs: pairs that they are scored on.
        seen: how the training used the split (`training.evaluation.seen`).
    """

    name: ClassVar[str] = "facets"
    title: ClassVar[str] = "Facets against metrics"
    needs: ClassVar[str] = "measured pairs: give the job a source"
    measure: ClassVar[str] = "Spearman"
    mean: ClassVar[str] = "mean"

    job: EvaluationJob
    layout: FacetLayout
    facet_pairs: FacetPairs
    seen: Mapping[str, Any] | None
    _table: pl.DataFrame = field(default_factory=pl.DataFrame)

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        """Read the measured pairs.

        Raises:
            InputError: when there is no positive pair in the split.
            ModelError: when the encoder has no facets, or its start model is unknown.
        """
        job = subject.job
        layout = FacetLayout.load(job.encoder)
        if subject.backbone is None:
            raise EncoderDamaged(
                f"{str(job.encoder)!r} has no {TRAINING_FILE}, so the start model that facets are compared with is "
                "unknown; train the encoder again, or leave out the suite 'facets'."
            )
        if job.source is None:
            return None
        data = job.source.read().select(kinds=("positive",), corpora=job.corpora)
        held_out = data.select(splits=(job.split,))
        if not len(held_out):
            raise NothingToScore(
                f"No measured positive pair {of(job.corpora)}is in the split {job.split!r}: evaluate on another one "
                f"(--split); there are: {splits(data) or 'none'}."
            )
        seen = seen_part(subject.training, job.split, sorted(set(held_out.pairs["corpus"])))
        trained = subject.settings.get("splits", ())
        counts = data.pairs.group_by("split").len().sort("split").iter_rows()
        others = {split: count for split, count in counts if split not in trained and split != job.split}
        return cls(job, layout, FacetPairs(held_out, _fitting_pairs(data, job), others), seen)

    def score(self, models: Models) -> Result:
        """Return the score of each facet, and explained pairs."""
        assert models.start is not None  # noqa: S101 - `of` made sure; this tells mypy
        job, layout, held_out, fitting = self.job, self.layout, self.facet_pairs.held_out, self.facet_pairs.fitting
        evaluated = _embed(held_out, layout, models.encoder, models.start)
        rows = score_facets(
            evaluated,
            layout,
            fitting=None if fitting is None else _embed(fitting, layout, None, models.start),
            draws=job.random_draws,
            seed=job.seed,
            bootstrap=in_groups(Bootstrap(job.resamples, job.seed), held_out.first.tolist()),
        )
        similarities = layout.similarities(evaluated.encoder_left, evaluated.encoder_right)
        self._table = pair_table(held_out, layout, evaluated, similarities)
        return {
            "split": job.split,
            "corpora": sorted(set(held_out.pairs["corpus"])),
            "pairs": len(held_out),
            "fitting_pairs": 0 if fitting is None else len(fitting),
            "width": random_width(evaluated.start_left.shape[1], len(rows), layout.width),
            "draws": job.random_draws,
            "rows": [row | {"about": explain_facet(row["name"], job.own_metrics)} for row in rows],
            "verdicts": {baseline: count_verdicts(rows, baseline) for baseline in BASELINES},
            "source": held_out.source,
            "data": held_out.digest(),
            "seen": self.seen,
            "others": self.facet_pairs.others,
            "examples": choose_examples(job.examples, held_out, layout, evaluated, models.encoder, similarities),
        }

    def write(self, folder: Path) -> None:
        """Write pairs.parquet and graphs.json."""
        write_table(self._table, folder / PAIRS_FILE)
        drawn = [] if self.job.source is None else choose_pairs(self.facet_pairs.held_out, self.job.source)
        write_json(folder / GRAPHS_FILE, [asdict(pair) for pair in drawn])

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return one table with a row per facet."""
        return [facet_table(result)]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        """Return bars, examples, graphs and plots."""
        from training.evaluation.facets.chapter import facet_chapter

        return facet_chapter(result, folder / PAIRS_FILE, folder / GRAPHS_FILE)

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return the mean over the facets that have a score: one whose metric is the same for all pairs has none."""
        defined = [score for score in cls.numbers(result).values() if score is not None]
        return {cls.name: sum(defined) / len(defined) if defined else None}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return measured value and similarity of each pair, facet by facet."""
        table = read_items(folder / PAIRS_FILE, "pair_id", "text_a")
        pairs, groups = table["pair_id"].to_list(), table["text_a"].to_list()
        return [
            ItemScores(
                name,
                pairs,
                numbers_of(table[f"{name}_similarity"]),
                numbers_of(table[f"{name}_measured"]),
                groups=groups,
            )
            for name in cls.numbers(result)
            if f"{name}_measured" in table.columns
        ]

    @classmethod
    def compared(cls, new: Result, current: Result) -> list[tuple[str, float, float]]:
        """Return the mean over the facets that both have a score for."""
        both = [scores for _, *scores in cls.in_common(new, current)]
        if not both:
            return []
        before, after = (sum(side) / len(both) for side in zip(*both, strict=True))
        return [(f"mean of {len(both)} facets", before, after)]


def _embed(data: MeasuredPairs, layout: FacetLayout, encoder: Embed | None, start: Embed) -> EmbeddedPairs:
    by_start = start(data.texts)
    by_encoder = by_start if encoder is None else encoder(data.texts)
    return EmbeddedPairs(
        encoder_left=by_encoder[data.first],
        encoder_right=by_encoder[data.second],
        start_left=by_start[data.first],
        start_right=by_start[data.second],
        metrics=data.metrics(layout.names),
    )


def _fitting_pairs(data: MeasuredPairs, job: EvaluationJob) -> MeasuredPairs | None:
    """Return positive pairs of another split, dev where there is one, `FITTING_PAIRS` at most."""
    others = [split for split in ("dev", "train", "test") if split != job.split]
    for split in others:
        pairs = data.select(splits=(split,))
        if len(pairs) > 1:
            chosen = np.sort(np.random.default_rng(job.seed).permutation(len(pairs))[:FITTING_PAIRS])
            return MeasuredPairs(pairs.texts, pairs.pairs[chosen], source=pairs.source).select()
    return None
