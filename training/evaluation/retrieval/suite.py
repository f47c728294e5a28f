"""The suite of labelled texts: are the texts that an encoder finds similar alike in an aspect?"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import NothingToScore
from features.core.files import write_table
from features.core.wording import counted
from features.metrics.bootstrap import Bootstrap
from training.data.labelled_texts import LabelledTexts
from training.evaluation.items import ItemScores, read_sets
from training.evaluation.models import Models
from training.evaluation.retrieval.asking import ask, ask_for
from training.evaluation.retrieval.groups import Group, Way, groups_of
from training.evaluation.retrieval.maps import MAPS_FILE, Map, choose_points
from training.evaluation.retrieval.report import retrieval_chapter, retrieval_tables
from training.evaluation.seen import seen_part
from training.evaluation.suites import Chapter, Result, Subject, Suite
from training.evaluation.tables import ScoreTable
from training.jobs import EvaluationJob
from training.nearest import neighbours_of, unit
from training.ranking import MEASURES, judge

QUERIES_FILE = "retrieval.parquet"
"""The encoder's values for each query of each group: the basis for comparing two encoders."""
CUTOFF = 10
"""Rank at which rankings are cut off (k)."""
_MRR = MEASURES.index("mrr")
_WAYS: Mapping[str, Way] = {"intersection": "both", "union": "any"}
"""How a training combined several aspects → the groups that test it; otherwise each aspect is tested by itself."""
_log = logging.getLogger("training")


@dataclass
class RetrievalSuite(Suite):
    """Texts as queries for others that share their labels: by aspect, and by two aspects together.

    The texts of the split are in `groups`; those that cannot be scored are in `skipped`, a sentence each.
    """

    name: ClassVar[str] = "retrieval"
    title: ClassVar[str] = "Retrieval by aspect"
    measure: ClassVar[str] = "MRR"
    file: ClassVar[str] = QUERIES_FILE
    needs: ClassVar[str] = (
        "texts in the split that share labels: name a corpus of texts with labels under [[corpora]] "
        "(docs/reference/corpora.md)"
    )

    job: EvaluationJob
    data: LabelledTexts
    groups: Sequence[Group]
    skipped: Sequence[str]
    training: Mapping[str, Any]
    others: Mapping[str, int]
    _maps: list[Map] = field(default_factory=list)

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        job = subject.job
        if job.source is None or not job.source.has_texts:
            return None
        every = job.source.read(LabelledTexts).select(corpora=job.corpora)
        data = every.select(splits=(job.split,))
        groups = groups_of(data)
        skipped = [f"Not scored: {group.name}, {group.lacks}." for group in groups if group.lacks]
        groups = [group for group in groups if not group.lacks]
        absent = [aspect for aspect in every.aspects if aspect not in data.aspects] if len(data) else []
        skipped += [f"Not scored: {aspect}, no text of {job.split} has a label in it." for aspect in absent]
        if not groups:
            corpora = f" of {', '.join(map(repr, job.corpora))}" if job.corpora else ""
            there_are = ", ".join(f"{split} ({count:,})" for split, count in every.by_split.items()) or "none"
            none = f"No text{corpora} in the split {job.split!r} has a label; there are: {there_are}."
            lacking = " ".join(skipped) or none
            message = f"Retrieval cannot be scored. {lacking} Evaluate on another split (--split), or add texts."
            if cls.name in job.suites:
                raise NothingToScore(message)
            _log.warning("%s", message)
            return None
        return cls(job, data, groups, skipped, subject.training, subject.unused(every.by_split))

    def score(self, models: Models) -> Result:
        job, data = self.job, self.data
        bootstrap = Bootstrap(job.resamples, job.seed)
        held_out: Mapping[str, Sequence[str]] = self.training.get("held_out_labels") or {}
        unasked = {aspect: list(labels) for aspect, labels in held_out.items() if labels}
        scores, unseen, routes = [], [], []
        for group in self.groups:
            texts = [data.texts[position] for position in group.texts]
            vectors = {"encoder": _by_routes(models, texts, group.aspects)}
            if models.start is not None:
                vectors["start"] = unit(models.start(texts))
            rankings, score, queries = ask(group, vectors, texts, CUTOFF, bootstrap)
            scores.append(score)
            self.items_of_sets.append(queries)
            if group.way != "one":
                continue
            if held_out.get(group.aspects[0]):
                row = ask_for(held_out[group.aspects[0]], group, rankings, CUTOFF, bootstrap)
                if row is not None:
                    unseen.append(row)
                    unasked.pop(group.aspects[0], None)
            if len(models.routes) > 1:
                routes.append({"name": group.name, "mrr": self._by_each_route(group, models, texts)})
            self._maps += choose_points(group, texts, vectors, job.seed, CUTOFF)
        return {
            "split": job.split,
            "corpora": data.corpora,
            "texts": len(data),
            "k": CUTOFF,
            "rows": scores,
            "learnt": _learnt(self.groups, self.training.get("settings", {})),
            "unseen": unseen,
            "unasked": unasked,
            "routes": routes,
            "maps": [drawn.as_json() for drawn in self._maps],
            "skipped": list(self.skipped),
            "seen": seen_part(self.training, job.split, data.corpora),
            "others": dict(self.others),
            "source": data.source,
            "data": {"texts": data.digest(), "k": CUTOFF},
        }

    def _by_each_route(self, group: Group, models: Models, texts: Sequence[str]) -> dict[str, float]:
        rankings = {route: neighbours_of(unit(models.encoder(texts, route)), CUTOFF) for route in models.routes}
        counts, values = judge(group.relevant, rankings, texts=len(texts), k=CUTOFF)
        return {route: float(quality[counts > 0, _MRR].mean()) for route, quality in values.items()}

    def write(self, folder: Path) -> None:
        super().write(folder)
        if self._maps:
            _log.info("drawing maps of %s", counted(len(self._maps), "aspect"))
            projections: dict[str, NDArray[np.float64]] = {}
            tables = [drawn.draw(projections) for drawn in self._maps]
            write_table(pl.concat(tables, how="diagonal"), folder / MAPS_FILE)

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        return retrieval_tables(result)

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        return retrieval_chapter(result, folder / MAPS_FILE)

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        return {row["name"]: row["encoder"] for row in result["rows"] if row["way"] == "one"}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return 1 / rank of the first relevant text of each query, group by group."""
        depends_on = " ".join(map(str, result["data"].values()))
        return [
            ItemScores(name, rows["text_a"].to_list(), rows["mrr"].to_numpy(), unit="queries", depends_on=depends_on)
            for name, rows in read_sets(folder / QUERIES_FILE, cls.numbers(result), "mrr")
        ]

    @classmethod
    def compared(cls, new: Result, current: Result) -> list[tuple[str, float, float]]:
        """Return the MRR of what the new encoder was trained for, where both have it: it may forget other aspects."""
        return [
            (f"retrieval (MRR) by {name}", before, after)
            for name, before, after in cls.in_common(new, current)
            if name in new["learnt"]
        ]


def _learnt(groups: Sequence[Group], settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the groups that test what an encoder was trained for; each aspect where it was for none.

    An encoder of an intersection is tested on each pair of its aspects together, one of a union on either of them;
    where no texts have both, on each by itself.
    """
    aspects = settings.get("aspects") or {aspect for group in groups for aspect in group.aspects}
    own = [group for group in groups if {*group.aspects} <= {*aspects}]
    way = _WAYS.get(settings.get("combine") or "", "one")
    return [group.name for group in own if group.way == way] or [group.name for group in own if group.way == "one"]


def _by_routes(models: Models, texts: Sequence[str], aspects: Sequence[str]) -> NDArray[np.float32]:
    """Return the embeddings that an encoder is queried with in some aspects, of unit length.

    An encoder with routes uses those of the aspects, or all of them where it has none; embeddings of several routes
    are concatenated, so that their cosine is the mean of the routes' cosines.
    """
    if not models.routes:
        return unit(models.encoder(texts))
    chosen = [aspect for aspect in aspects if aspect in models.routes] or list(models.routes)
    return unit(np.concatenate([unit(models.encoder(texts, route)) for route in chosen], axis=1))
