"""The pairs of one split of one corpus during an ingest: new ones, known ones, and rows that are not pairs."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import polars as pl

from features.core.faults import UnknownShard
from features.core.types import PairId, PairKind, RejectCode, SentenceId, Shard
from features.corpora.rows import PairRow
from features.ingest.known import Known
from features.ingest.leaks import LeakageGuard
from features.ingest.negatives import Positive, draw_negatives
from features.ingest.neighbours import draw_neighbours
from features.ingest.report import ChangedJudgement, SplitReport
from features.ingest.sentences import Sentences
from features.schemas import PAIRS
from features.sentences import pair_id
from features.stage_output import Reject


@dataclass(slots=True)
class PairColumns:
    """Rows of `PAIRS` of one kind, column by column: a million small objects would keep the garbage collector busy."""

    pair_id: list[PairId] = field(default_factory=list)
    sentence_a: list[SentenceId] = field(default_factory=list)
    sentence_b: list[SentenceId] = field(default_factory=list)
    score: list[float | None] = field(default_factory=list)
    label: list[str | None] = field(default_factory=list)
    positive_id: list[PairId | None] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)

    def add(
        self,
        pair: PairId,
        a: SentenceId,
        b: SentenceId,
        *,
        score: float | None = None,
        label: str | None = None,
        positive: PairId | None = None,
        arrived: int = 0,
    ) -> None:
        """Add a row; `arrived` is its place in the order of arrival over all splits of the corpus."""
        self.pair_id.append(pair)
        self.sentence_a.append(a)
        self.sentence_b.append(b)
        self.score.append(score)
        self.label.append(label)
        self.positive_id.append(positive)
        self.arrived.append(arrived)

    def frame(self, report: SplitReport, kind: PairKind, shard_of: Mapping[SentenceId, Shard]) -> pl.DataFrame:
        """Return the rows as a table with the columns of `PAIRS`."""
        columns = {
            "pair_id": self.pair_id,
            "corpus": [report.corpus] * len(self.pair_id),
            "split": [report.split] * len(self.pair_id),
            "kind": [kind] * len(self.pair_id),
            "sentence_a": self.sentence_a,
            "sentence_b": self.sentence_b,
            "shard_a": [shard_of[sentence] for sentence in self.sentence_a],
            "shard_b": [shard_of[sentence] for sentence in self.sentence_b],
            "score": self.score,
            "label": self.label,
            "positive_id": self.positive_id,
        }
        return pl.DataFrame(columns, schema=PAIRS)


@dataclass(slots=True)
class SplitPairs:
    """The pairs of one split of one corpus.

    Args:
        arrivals: counter shared by all splits of a corpus, one number per new pair.
        pool: positives, new and known, for and from which a negative may be drawn: pair, sentence a, sentence b.
        stored: known pairs, as they now are in the file.
        origins: origins of `stored`.
        occurrences: how often two sentences were a pair.
    """

    report: SplitReport
    arrivals: Iterator[int] = field(default_factory=itertools.count)
    pool: list[Positive] = field(default_factory=list)
    positives: PairColumns = field(default_factory=PairColumns)
    negatives: PairColumns = field(default_factory=PairColumns)
    neighbours: PairColumns = field(default_factory=PairColumns)
    stored: PairColumns = field(default_factory=PairColumns)
    origins: list[str] = field(default_factory=list)
    occurrences: Counter[tuple[SentenceId, SentenceId]] = field(default_factory=Counter)

    def take(self, outcome: PairRow, sentences: Sentences, guard: LeakageGuard, known: Known) -> Reject | None:
        """Keep a pair; return a reject if it is rejected."""
        report = self.report
        first, second = sentences.identify(outcome.text_a), sentences.identify(outcome.text_b)
        a, b = first[0], second[0]
        occurrence = self.occurrences.get((a, b), 0)
        pair = pair_id(report.corpus, report.split, "positive", a, b, occurrence)
        if not known.admits(pair):
            return None
        self.occurrences[a, b] = occurrence + 1
        if first[2] or second[2]:
            report.rejected += 1
            longer = max(first[1], second[1], key=lambda text: text.count(" "))
            message = (
                f"{outcome.origin}: a sentence has {longer.count(' ') + 1} words; expected at most "
                f"{sentences.max_words} ({longer[:40]!r}...)"
            )
            return Reject(pair, RejectCode.SENTENCE_TOO_LONG, message)
        if outcome.joins:
            report.joining += 1
            return Reject(pair, RejectCode.JOINS_SPLITS, f"{outcome.origin}: {outcome.joins}")
        leak = guard.leaks(report, first, second)
        is_known = pair in known.pair_ids
        if leak is not None:
            report.leaked += 1
            report.leaked_stored += is_known
            if guard.drops and not is_known:
                report.dropped += 1
                return Reject(pair, RejectCode.LEAKED, f"{outcome.origin}: {leak}")
        # Counts that mostly stay as they are: assigning to a report costs as much as taking the pair.
        if occurrence:
            report.repeats += 1
        if outcome.kept:
            report.kept += 1
        if is_known:
            report.known += 1
            if a not in sentences.shard_of or b not in sentences.shard_of:
                raise UnknownShard(
                    f"pair {pair!r} ({outcome.origin}) is known but its sentences are not: pass all shards of both "
                    "tables."
                )
            self.stored.add(pair, a, b, score=outcome.score, label=outcome.label)
            self.origins.append(outcome.origin)
        else:
            report.new += 1
            sentences.place(a, first[1])
            sentences.place(b, second[1])
            self.positives.add(pair, a, b, score=outcome.score, label=outcome.label, arrived=next(self.arrivals))
        # A leaked pair that was stored before the guard knew gets no negative and gives none.
        if leak is None or not guard.drops:
            self.pool.append((pair, a, b))
        return None

    def add_negatives(self, known: Known) -> None:
        """Draw a negative for every positive that has none."""
        report = self.report
        wanted = {pair for pair, _, _ in self.pool} - known.with_negative
        taken: set[PairId] = set()
        for (positive, a, _), other in draw_negatives(self.pool, wanted, self.occurrences.keys()):
            if other is None:
                report.without_negative += 1
                continue
            occurrence = 0
            pair = pair_id(report.corpus, report.split, "negative", a, other, occurrence)
            # Two positives with one sentence a may draw the same sentence.
            while pair in taken or pair in known.pair_ids:
                occurrence += 1
                pair = pair_id(report.corpus, report.split, "negative", a, other, occurrence)
            taken.add(pair)
            self.negatives.add(pair, a, other, positive=positive)
            report.negatives += 1

    def add_neighbours(self, count: int, sentences: Sentences, known: Known) -> None:
        """Draw neighbours of every sentence that has none, from those of all its pairs."""
        corpus, split = self.report.corpus, self.report.split
        ids = {sentence for _, *both in self.pool for sentence in both}
        wanted = {sentence for sentence in ids if (corpus, sentence) not in known.with_neighbours}
        paired = {*self.occurrences, *zip(self.negatives.sentence_a, self.negatives.sentence_b, strict=True)}
        paired |= known.paired(corpus)
        for a, b in draw_neighbours(sentences.texts(ids), wanted, paired, count) if wanted else ():
            self.neighbours.add(pair_id(corpus, split, "neighbour", a, b, 0), a, b)
            self.report.neighbours += 1

    def columns(self, kind: PairKind) -> PairColumns:
        """Return the new rows of a kind."""
        return {"positive": self.positives, "negative": self.negatives, "neighbour": self.neighbours}[kind]

    def changed(self, known: Known) -> list[ChangedJudgement]:
        """Count and return the known pairs whose score or label has changed."""
        if not self.origins:
            return []
        now = pl.DataFrame(
            {
                "pair_id": self.stored.pair_id,
                "found_score": self.stored.score,
                "found_label": self.stored.label,
                "origin": self.origins,
            },
            schema_overrides={"found_score": pl.Float64, "found_label": pl.String},
        )
        stored = known.judgements.select("pair_id", stored_score="score", stored_label="label")
        other = now.join(stored, on="pair_id", how="inner", maintain_order="left").filter(
            pl.col("found_score").ne_missing(pl.col("stored_score"))
            | pl.col("found_label").ne_missing(pl.col("stored_label"))
        )
        self.report.changed = other.height
        return [ChangedJudgement(corpus=self.report.corpus, **row) for row in other.iter_rows(named=True)]


def pairs_of(
    splits: Sequence[SplitPairs], kind: PairKind, shard_of: Mapping[SentenceId, Shard], *, drawn: bool
) -> pl.DataFrame:
    """Return the new pairs of a kind of a corpus, columns of `PAIRS`.

    If its splits are drawn, positives are in order of arrival, as labels are (`labels_of`); all others split by split.
    """
    rows = pl.concat([split.columns(kind).frame(split.report, kind, shard_of) for split in splits])
    return in_order_of_arrival(rows, [split.columns(kind).arrived for split in splits]) if drawn else rows


def in_order_of_arrival(rows: pl.DataFrame, arrived: Iterable[Sequence[int]]) -> pl.DataFrame:
    """Return rows, split by split, in order of arrival; files are not sorted by the drawn split.

    `arrived` is the place of each row among those of all splits, by split.
    """
    places = pl.Series("arrived", list(chain.from_iterable(arrived)), dtype=pl.Int64)
    return rows.with_columns(places).sort("arrived", maintain_order=True).drop("arrived")
