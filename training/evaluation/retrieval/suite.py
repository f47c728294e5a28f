"""The suite of labelled texts: are the texts that an encoder finds similar alike in an aspect?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import NothingToScore
from features.core.files import write_table
from features.core.pages import render, tell, tell_number
from features.core.wording import counted
from features.metrics.bootstrap import FEWEST
from training.data.labelled_texts import LabelledTexts
from training.evaluation.bars import Bar, Mark, Row, draw_bars, tell_verdict
from training.evaluation.items import ItemScores, read_items, read_sets
from training.evaluation.models import Models
from training.evaluation.retrieval.asking import ask, ask_for
from training.evaluation.retrieval.groups import Group, Way, groups_of
from training.evaluation.retrieval.maps import MAPS_FILE, MODELS, Map, choose_points, draw_points
from training.evaluation.seen import tell_seen, tell_source
from training.evaluation.suites import Chapter, Figure, Result, Subject, Suite
from training.evaluation.tables import NOTES, Column, ScoreTable, count, ends, hundred, lines, table
from training.nearest import neighbours_of, unit
from training.progress import log
from training.ranking import MEASURES, judge

CUTOFF = 10
"""Rank at which rankings are cut off (k)."""
_NAMED = 5  # of what is not scored for the same reason
_MRR = MEASURES.index("mrr")
_WAYS: Mapping[str, Way] = {"intersection": "both", "union": "any"}
"""How a training combined several aspects → the groups that test it; otherwise each aspect is tested by itself."""
_RANKINGS = MODELS | {"bm25": "BM25", "tfidf": "TF-IDF"}
"""Key of a ranking → its display name."""
_MARKS = {
    "start": Mark("start model", "circle"),
    "bm25": Mark("BM25: words", "square"),
    "tfidf": Mark("TF-IDF: words", "diamond"),
}
_SHORT = dict(zip(MEASURES, ("P", "R", "MRR", "nDCG", "MAP"), strict=True))


@dataclass
class RetrievalSuite(Suite):
    """Texts as queries for others that share their labels: by aspect, and by two aspects together.

    The texts of the split are in `groups`; those that cannot be scored are in `skipped`, a sentence each.
    """

    name: ClassVar[str] = "retrieval"
    title: ClassVar[str] = "Retrieval by aspect"
    measure: ClassVar[str] = "MRR"
    file: ClassVar[str] = "retrieval.parquet"
    needs: ClassVar[str] = "texts in the split that share labels: name a corpus of texts with labels under [[corpora]]"

    subject: Subject
    data: LabelledTexts
    groups: Sequence[Group]
    skipped: Sequence[str]
    part: Mapping[str, Any]
    _maps: list[Map] = field(default_factory=list)

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        job = subject.job
        every = None if job.source is None else job.source.find(LabelledTexts)
        if every is None:
            return None
        data = every.select(splits=(job.split,))
        groups = groups_of(data)
        reasons = [(group.lacks, group.name) for group in groups]
        groups = [group for group, (lacks, _) in zip(groups, reasons, strict=True) if not lacks]
        absent = [aspect for aspect in every.aspects if aspect not in data.aspects] if len(data) else []
        reasons += [(f"no text of {job.split} has a label in it", aspect) for aspect in absent]
        skipped = []
        for reason in dict.fromkeys(reason for reason, _ in reasons if reason):
            names = [name for each, name in reasons if each == reason]
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            skipped.append(f"Not scored: {', '.join(names[:_NAMED])}{more}, {reason}.")
        if not groups:
            there_are = ", ".join(f"{split} ({count:,})" for split, count in every.by_split.items()) or "none"
            none = f"No text in the split {job.split!r} has a label; there are: {there_are}."
            lacking = " ".join(skipped) or none
            message = f"Retrieval cannot be scored. {lacking} Evaluate on another split (--split), or add texts."
            if cls.name in job.suites:
                raise NothingToScore(message)
            log.warning("%s", message)
            return None
        return cls(subject, data, groups, skipped, subject.part(data.corpora, every.by_split))

    def score(self, models: Models) -> Result:
        data, training, bootstrap = self.data, self.subject.training, self.subject.bootstrap
        held_out: Mapping[str, Sequence[str]] = training.get("held_out_labels") or {}
        unasked = {aspect: list(labels) for aspect, labels in held_out.items() if labels}
        scores, unseen, routes = [], [], []
        for group in self.groups:
            texts = [data.texts[position] for position in group.texts]
            vectors = {"encoder": _by_routes(models, texts, group.aspects)}
            if models.start is not None:
                vectors["start"] = unit(models.start(texts))
            rankings, score, queries, of_each = ask(group, vectors, texts, CUTOFF, bootstrap)
            scores.append(score)
            self.keep(group.name, queries, None, **of_each)
            if group.way != "one":
                continue
            if held_out.get(group.aspects[0]):
                row = ask_for(held_out[group.aspects[0]], group, rankings, CUTOFF, bootstrap)
                if row is not None:
                    unseen.append(row)
                    unasked.pop(group.aspects[0], None)
            if len(models.routes) > 1:
                by_route = {each: neighbours_of(unit(models.encoder(texts, each)), CUTOFF) for each in models.routes}
                counts, values = judge(group.relevant, by_route, texts=len(texts), k=CUTOFF)
                means = {route: float(quality[counts > 0, _MRR].mean()) for route, quality in values.items()}
                routes.append({"name": group.name, "mrr": means})
            self._maps += choose_points(group, texts, vectors, bootstrap.seed, CUTOFF)
        return {
            **self.part,
            "corpora": data.corpora,
            "texts": len(data),
            "k": CUTOFF,
            "rows": scores,
            "learnt": _learnt(self.groups, self.subject.settings),
            "unseen": unseen,
            "unasked": unasked,
            "routes": routes,
            "maps": [dict(drawn.entry) for drawn in self._maps],
            "skipped": list(self.skipped),
            "source": data.source,
            "data": {"texts": data.digest(), "k": CUTOFF},
        }

    def write(self, folder: Path) -> None:
        super().write(folder)
        if self._maps:
            log.info("drawing %s", counted(len(self._maps), "map"))
            projections: dict[str, NDArray[np.float64]] = {}
            tables = [drawn.draw(projections) for drawn in self._maps]
            write_table(pl.concat(tables, how="diagonal"), folder / MAPS_FILE)

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return the scores of each ranking by group; by frequency, unseen labels, routes and maps where there are."""
        k, groups, maps = result["k"], result["rows"], result["maps"]
        rankings = [name for name in _RANKINGS if name in groups[0]["rankings"]]
        of_each = [Column(_RANKINGS[name], f"rankings.{name}.mrr.value", hundred) for name in rankings]
        of_encoder, *of_others = of_each
        interval = Column("95 % interval", "rankings.encoder.mrr", ends)
        queries, labels = Column("queries", "queries", count), Column("labels", "labels", count)
        first = rankings[1]
        against = Column(f"vs {_RANKINGS[first]}", f"rankings.{first}.difference.mrr", tell_verdict)
        bands = [
            {**band, "name": f"{row['name']}, {_tell_band(band)}"} for row in groups for band in row.get("bands", ())
        ]
        routes = list(result["routes"][0]["mrr"]) if result["routes"] else []
        mrr = f"MRR@{k} × 100"
        measures = [Column(f"{_SHORT[name]}@{k}", name, hundred) for name in MEASURES]
        left_out = ", ".join(f"{row['name']} {row['without']:,}" for row in groups if row["without"])
        sides = [(side, _RANKINGS[side]) for side in dict.fromkeys(side for drawn in maps for side in drawn["sides"])]
        agree = [Column(f"agree: {name}", f"sides.{side}.agreement", hundred) for side, name in sides]
        two_digits = partial(tell_number, digits=2)
        apart = [Column(f"silhouette: {name}", f"sides.{side}.silhouette", two_digits) for side, name in sides]
        tables = [
            table(
                f"{mrr} among the {result['texts']:,} texts of {result['split']}",
                [Column("queries by", "name"), queries, *of_others, of_encoder, interval, against],
                groups,
                lines(tell_seen(result, unit="texts"), tell(NOTES, "retrieval", result, left_out, routes)),
            ),
            table(
                f"The {k} nearest texts",
                [Column("queries by: ranking", "name"), *measures],
                _by_ranking(result, rankings),
                tell(NOTES, "rank_measures", k, any(group["texts"] <= k for group in groups)),
            ),
            table(
                f"{mrr} by label frequency",
                [Column("frequency of the label", "name"), labels, queries, *of_each],
                bands,
                tell(NOTES, "bands"),
            ),
            table(
                f"{mrr} by labels not seen in training",
                [Column("aspect", "name"), labels, queries, *of_each, interval],
                result["unseen"],
                tell(NOTES, "unseen", FEWEST),
            ),
            table(
                f"{mrr} by each route of the encoder",
                [Column("queries by", "name"), *(Column(name, f"mrr.{name}", hundred) for name in routes)],
                result["routes"],
            ),
            table(
                "Neighbours and clusters",
                [Column("aspect", "name"), Column("texts", "points", count), *agree, *apart],
                maps,
                tell(NOTES, "neighbours", k, any(drawn["points"] <= k for drawn in maps)),
            ),
        ]
        return [each for each in tables if each.rows]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        groups, more = result["rows"], ""
        if result["maps"]:
            points = read_items(folder / MAPS_FILE, "map")
            drawings = {
                drawn["name"]: draw_points(drawn, points.filter(map=drawn["name"]), f"map{number}")
                for number, drawn in enumerate(result["maps"])
            }
            more = render("training.evaluation/maps.html", drawings=drawings)
        marks = {name: mark for name, mark in _MARKS.items() if name in groups[0]["rankings"]}
        bars = [
            Bar.of(
                group,
                f"{group['queries']:,} queries among {group['texts']:,} texts; relevant: what {_tell_way(group)}",
                {mark.name: group["rankings"][name]["mrr"]["value"] for name, mark in marks.items()},
                tell_verdict(group["rankings"]["start"]["difference"]["mrr"]) if "start" in marks else "",
            )
            for group in groups
        ]
        mrr = f"MRR@{result['k']} × 100"
        texts = f"{result['texts']:,} texts of {result['split']} ({', '.join(result['corpora'])})"
        return Chapter(
            about=tell(NOTES, "about_retrieval", result),
            charts={"": draw_bars(bars, list(marks.values()), of="this encoder", axis=mrr)},
            more=more,
            facts={"Retrieved": f"{texts}; {tell_source(result['source'])}"},
            warnings=[tell_seen(result, unit="texts")],
            figures=[
                Figure(hundred(group["encoder"]), f"{group['name']}: {mrr}, {_explain(group)}")
                for group in groups
                if group["way"] == "one"
            ],
            origin={"labelled texts": result["data"]["texts"]},
        )

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        return {row["name"]: row["encoder"] for row in result["rows"] if row["way"] == "one"}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return 1 / rank of the first relevant text of each query, group by group."""
        depends_on = " ".join(map(str, result["data"].values()))
        return [
            ItemScores(name, rows["text_a"].to_list(), rows["mrr"].to_numpy(), unit="queries", depends_on=depends_on)
            for name, rows in read_sets(folder / cls.file, cls.numbers(result), "mrr")
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


def _tell_way(group: Row) -> str:
    first, *second = group["aspects"]
    further = {"one": "", "both": " and one in ", "any": ", or one in "}[group["way"]]
    return f"shares a label in {first}{further}{''.join(second)}"


def _tell_band(band: Row) -> str:
    """Return a band of frequencies: "5–9 texts", "100 texts and more"."""
    if band["most"] is None:
        return f"{band['least']} texts and more"
    return f"{band['least']}–{band['most']} texts"


def _by_ranking(result: Result, rankings: list[str]) -> list[Row]:
    rows: list[Row] = []
    for group in result["rows"]:
        for ranking in rankings:
            values = {name: group["rankings"][ranking][name]["value"] for name in MEASURES}
            rows.append({**values, "name": f"{group['name']}: {_RANKINGS[ranking]}"})
        rows.append({**group["random"], "name": f"{group['name']}: random order"})
    return rows


def _explain(group: Row) -> str:
    rankings = [(name, group["rankings"][name]) for name in _MARKS if name in group["rankings"]]
    beside = ", ".join(f"{_RANKINGS[name]} {hundred(ranking['mrr']['value'])}" for name, ranking in rankings)
    return f"{group['queries']:,} queries. {beside[0].upper()}{beside[1:]}."
