"""The suite of encoders with facets: does the similarity of a facet order pairs as its metric does?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import TypeAdapter

from features.core.faults import EncoderDamaged, NothingToScore
from features.core.pages import UNDEFINED, render, tell
from features.core.wording import counted
from features.metrics.explanation.anchors import joined
from features.metrics.explanation.drawing import show_pair
from features.metrics.registry import explain_facet
from features.models import BUNDLED_ENCODER, bundled_encoder
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.data import split_counts
from training.encoders.s3bert.explain import Explanation, explain_embeddings, with_measured
from training.encoders.s3bert.facets import FacetLayout
from training.evaluation.bars import Bar, Mark, draw_bars, tell_verdict
from training.evaluation.bootstrap import in_groups
from training.evaluation.facets.explanations import GRAPHS_FILE, choose_pairs, explanation_card, read_drawn, vacuous_in
from training.evaluation.facets.scoring import (
    BASELINES,
    RANDOM_DRAWS,
    Sides,
    count_verdicts,
    random_width,
    score_facets,
)
from training.evaluation.figures import draw_distribution, draw_prediction
from training.evaluation.items import ItemScores, numbers_of, read_items
from training.evaluation.models import Embed, Embedder, Models
from training.evaluation.seen import tell_seen, tell_source
from training.evaluation.suites import Chapter, Figure, Result, Subject, Suite
from training.evaluation.tables import NOTES, Column, ScoreTable, ends, hundred, lines, mean_of, table
from training.runs import TRAINING_FILE
from training.similarity import cosines
from training.writing import write_json

FITTING_PAIRS = 2000
"""Maximum number of pairs for SB-ILP to assign dimensions on."""
_LIKE = 0.6
_SHOWN_FACETS = ("negations", "quantifiers", "named_entities", "srl", "frames", "root")
_BY_LOSS = "by its loss on"
_COARSE = 0.10  # a typical difference between an encoder and a baseline
_FINE = 0.05
_BASELINES = {
    "full": Mark("SB-full: the whole start embedding", "circle"),
    "random": Mark("SB-rand: random dimensions of it", "square"),
    "assigned": Mark("SB-ILP: its best dimensions", "diamond"),
    "bundled": Mark(f"{BUNDLED_ENCODER}, which comes with facetflow", "triangle"),
}


Similarities = NDArray[np.float64]


def _verdict_of(row: Mapping[str, Any]) -> str:
    return UNDEFINED if None in {row["encoder"], row["full"]} else tell_verdict(row["differences"]["full"])


_COLUMNS = (
    Column("facet", "name"),
    Column("full", "full", hundred),
    Column("rand", "random", hundred),
    Column("ILP", "assigned", hundred),
    Column("bundled", "bundled", hundred),
    Column("encoder", "encoder", hundred),
    Column("95 %", "encoder_interval", ends),
    Column("vs full", "", _verdict_of),
)


@dataclass
class FacetSuite(Suite):
    """Facets against metrics, compared with the baselines of `scoring`."""

    name: ClassVar[str] = "facets"
    title: ClassVar[str] = "Facets against metrics"
    needs: ClassVar[str] = "measured pairs: give the job a source"
    measure: ClassVar[str] = "Spearman"
    mean: ClassVar[str] = "mean"
    file: ClassVar[str] = "pairs.parquet"

    subject: Subject  # the encoder and the job
    layout: FacetLayout  # the encoder's facets
    held_out: MeasuredPairs  # the positive pairs of the split
    fitting: MeasuredPairs | None  # of another split, for SB-ILP to assign dimensions on; None without any
    part: Mapping[str, Any]  # of the split (`Subject.part`), of positive pairs

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        job = subject.job
        layout = FacetLayout.load(job.encoder)
        if subject.backbone is None:
            raise EncoderDamaged(
                f"{str(job.encoder)!r} has no {TRAINING_FILE}, so the start model that facets are compared with is "
                "unknown; train the encoder again, or leave out the suite 'facets'."
            )
        pairs = None if job.source is None else job.source.find(MeasuredPairs)
        if pairs is None:  # also of a release that a run of another kind was trained on
            return None
        data = pairs.select(kinds=("positive",))
        # Metrics of the project's own may have been given up since: a release of today has none of their values.
        measured = tuple(facet for facet in layout.facets if facet.name in data.metric_names)
        layout = layout.model_copy(update={"facets": measured})
        held_out = data.select(splits=(job.split,))
        if not len(held_out):
            raise NothingToScore(
                f"No measured positive pair is in the split {job.split!r}: evaluate on another one (--split); there "
                f"are: {split_counts(data) or 'none'}."
            )
        part = subject.part(held_out.corpora, data.by_split)
        return cls(subject, layout, held_out, fitting_pairs(data, job.split, job.seed), part) if measured else None

    def score(self, models: Models) -> Result:
        assert models.start is not None  # noqa: S101 - `of` made sure; this tells mypy
        job, layout, held_out, fitting = self.subject.job, self.layout, self.held_out, self.fitting
        own, start = _sides(held_out, models.encoder), _sides(held_out, models.start)
        similarities, metrics = layout.similarities(*own), held_out.metrics(layout.names)
        rows = score_facets(
            similarities,
            start,
            metrics,
            layout,
            bundled=_by_bundled(held_out, job.encoder),
            fitting=None if fitting is None else (_sides(fitting, models.start), fitting.metrics(layout.names)),
            bootstrap=in_groups(self.subject.bootstrap, held_out.first.tolist()),
        )
        whole = cosines(*own)
        self.items_of_sets.append(self._pair_table(whole, cosines(*start), similarities))
        return {
            **self.part,
            "corpora": held_out.corpora,
            "pairs": len(held_out),
            "fitting_pairs": 0 if fitting is None else len(fitting),
            "width": random_width(start[0].shape[1], len(rows), layout.width),
            "draws": RANDOM_DRAWS,
            "rows": [row | {"about": explain_facet(row["name"], job.own_metrics)} for row in rows],
            "verdicts": {baseline: count_verdicts(rows, baseline) for baseline in BASELINES},
            "source": held_out.source,
            "data": held_out.digest(),
            "examples": self._choose_examples(own, whole, similarities),
        }

    def _pair_table(self, whole: Similarities, by_start: Similarities, similarities: Similarities) -> pl.DataFrame:
        data, layout = self.held_out, self.layout
        texts_a, texts_b = data.sides()
        predictions = layout.predictions(similarities)
        # Without a calibration, show what the training compared with the metrics.
        predictions = np.where(np.isnan(predictions), layout.scaled(similarities), predictions)
        return data.pairs.select(
            "pair_id",
            "corpus",
            pl.Series("text_a", texts_a, dtype=pl.String),
            pl.Series("text_b", texts_b, dtype=pl.String),
            "score",
            pl.Series("similarity", whole),
            pl.Series("start_similarity", by_start),
            *(pl.col(name).alias(f"{name}_measured") for name in layout.names),
            *(pl.Series(f"{name}_similarity", similarities[:, k]) for k, name in enumerate(layout.names)),
            *(pl.Series(f"{name}_predicted", predictions[:, k]) for k, name in enumerate(layout.names)),
        )

    def _choose_examples(self, own: Sides, whole: Similarities, similarities: Similarities) -> list[dict[str, Any]]:
        """Return explained pairs: for some facets the similar pair that agrees least in it.

        The choice uses predictions alone, so an example may be wrong; the measured values are shown next to them.
        """
        data, layout, examples = self.held_out, self.layout, []
        metrics, alike = data.metrics(layout.names), np.flatnonzero(whole >= _LIKE)
        chosen: dict[int, list[str]] = {}
        for name in (name for name in _SHOWN_FACETS if name in layout.names and len(alike)):
            row = int(alike[similarities[alike, layout.names.index(name)].argmin()])
            chosen.setdefault(row, []).append(name)
        pairs = {row: (data.texts[data.first[row]], data.texts[data.second[row]]) for row in chosen}
        vacuous = vacuous_in(list(pairs.values()), self.subject.job.source)
        for row, names in chosen.items():
            (explained,) = explain_embeddings([pairs[row]], own[0][[row]], own[1][[row]], layout)
            measured = dict(zip(layout.names, metrics[row].astype(float).round(4).tolist(), strict=True))
            among = f"of pairs with a similarity of {_LIKE:g} or more, the least similar there."
            why = f"Chosen for {joined(names)}: {among}"
            explained = with_measured(explained, measured, vacuous=vacuous.get(pairs[row], ()))
            examples.append(asdict(replace(explained, notes=(why,))))
        return examples

    def write(self, folder: Path) -> None:
        super().write(folder)
        drawn = choose_pairs(self.held_out, self.subject.job.source)
        write_json(folder / GRAPHS_FILE, [asdict(pair) for pair in drawn])

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        title = f"Spearman × 100 of facet and metric, {counted(result['pairs'], 'positive pair')} of {result['split']}"
        rows = result["rows"]
        bundled = BUNDLED_ENCODER if any(row["bundled"] is not None for row in rows) else ""
        shown = [column for column in _COLUMNS if bundled or column.key != "bundled"]
        warnings = tell_seen(result, chosen=_BY_LOSS), warn_of_few_pairs(result)
        note = lines(*warnings, tell(NOTES, "facets", result, bundled))
        return [table(title, shown, rows, note)]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        pairs, drawn = read_items(folder / cls.file), read_drawn(folder / GRAPHS_FILE)
        examples = TypeAdapter(list[Explanation]).validate_python(result["examples"])
        about = {row["name"]: row["about"] for row in result["rows"]}
        evaluated = f"{counted(result['pairs'], 'positive pair')} of {result['split']} ({', '.join(result['corpora'])})"
        return Chapter(
            about=tell(NOTES, "about_facets"),
            charts={"": chart_facets(result["rows"])},
            more=render(
                "training.evaluation/facets.html",
                about=about,
                legend=tell(NOTES, "legend", predicted=True),
                examples=[explanation_card(example) for example in examples],
                graphs={
                    each.which: show_pair(each.pair, (each.sentence_a, each.sentence_b), f"graphs{number}")
                    for number, each in enumerate(drawn)
                },
                predictions={name: draw_prediction(pairs, name) for name in about},
                distributions={name: draw_distribution(pairs, name) for name in about},
            ),
            facts={"Evaluated on": f"{evaluated}; {tell_source(result['source'])}"},
            warnings=[tell_seen(result, chosen=_BY_LOSS), warn_of_few_pairs(result)],
            figures=[
                _verdicts(result["verdicts"]["full"], "the whole start embedding"),
                _verdicts(result["verdicts"]["random"], "random dimensions of it"),
            ],
            origin={
                "pairs": result["data"],
                **{f"source of the pairs: {name}": value for name, value in result["source"].items()},
            },
        )

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return the mean over the facets that have a score: one whose metric is the same for all pairs has none."""
        return {cls.name: mean_of([score for score in cls.numbers(result).values() if score is not None])}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        names = cls.numbers(result)
        table = read_items(folder / cls.file, "pair_id", "text_a", *(f"{name}_measured" for name in names))
        pairs, groups = table["pair_id"].to_list(), table["text_a"].to_list()
        return [
            ItemScores(
                name,
                pairs,
                numbers_of(table[f"{name}_similarity"]),
                numbers_of(table[f"{name}_measured"]),
                groups=groups,
            )
            for name in names
        ]

    @classmethod
    def compared(cls, new: Result, current: Result) -> list[tuple[str, float, float]]:
        """Return the mean over the facets that both have a score for."""
        both = [scores for _, *scores in cls.in_common(new, current)]
        if not both:
            return []
        before, after = (sum(side) / len(both) for side in zip(*both, strict=True))
        return [(f"mean of {counted(len(both), 'facet')}", before, after)]


def _sides(data: MeasuredPairs, embed: Embed) -> Sides:
    vectors = embed(data.texts)
    return vectors[data.first], vectors[data.second]


def _by_bundled(data: MeasuredPairs, encoder: Path) -> dict[str, NDArray[np.float64]]:
    """Return facet → similarity of each pair by the encoder that comes with facetflow; nothing if it is evaluated."""
    folder = bundled_encoder()
    if folder is None or folder == encoder.resolve():
        return {}
    layout = FacetLayout.load(folder)
    similarities = layout.similarities(*_sides(data, Embedder(folder, BUNDLED_ENCODER)))
    return dict(zip(layout.names, similarities.T, strict=True))


def fitting_pairs(data: MeasuredPairs, split: str, seed: int) -> MeasuredPairs | None:
    """Return pairs of another split than the evaluated one, dev where there is one, `FITTING_PAIRS` at most."""
    for other in (other for other in ("dev", "train", "test") if other != split):
        pairs = data.select(splits=(other,))
        if len(pairs) > 1:
            order = np.random.default_rng(seed).permutation(len(pairs))
            return pairs.keep(pl.Series(np.argsort(order) < FITTING_PAIRS))
    return None


def warn_of_few_pairs(result: Result) -> str:
    """Return a warning where there are too few pairs for a comparison; nothing where there are enough."""
    differences = [row["differences"]["full"] for row in result["rows"]]
    widths = [difference["high"] - difference["low"] for difference in differences if difference is not None]
    if not widths:
        return tell(NOTES, "few_pairs", result, None, None)
    half = median(widths) / 2  # how far chance may move a facet's lead over the start model
    # The width of an interval shrinks with the square root of the number of pairs.
    needed = float(f"{result['pairs'] * (half / _FINE) ** 2:.1g}")
    return "" if half <= _COARSE else tell(NOTES, "few_pairs", result, half, needed)


def chart_facets(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how well each facet follows its metric."""
    bars = [
        Bar.of(
            row,
            row["about"],
            {mark.name: row[key] for key, mark in _BASELINES.items()},
            "" if row["encoder"] is None else _verdict_of(row),
        )
        for row in rows
    ]
    marks = [mark for mark in _BASELINES.values() if any(mark.name in bar.marks for bar in bars)]
    return draw_bars(bars, marks, of="this encoder", axis="Spearman × 100 of facet and metric")


def _verdicts(counts: Mapping[str, int], baseline: str) -> Figure:
    text = f"facets are above {baseline}; {counts['below']} below; {counts['unclear']} unclear"
    return Figure(str(counts["above"]), text, small=f"of {sum(counts.values())}", shares=counts)
