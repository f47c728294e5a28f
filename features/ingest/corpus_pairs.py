"""The pairs of one corpus during an ingest, in columns: new ones, known ones, and rows that are not pairs.

    rows read ── normalise, identify ──> rows ── draw splits ──┬─ too long, joining, leaked ──> rejects
                                                               └─ accepted ──┬─ known
                                                                             └─ new, and their negatives

Sentences are numbers here: their positions among the ids of the corpus, sorted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import UnknownShard
from features.core.types import SPLITS, LabelId, PairId, PairKind, RejectCode, Shard, Split
from features.corpora.reading import BadRow, PairRow, Skip, read_outcomes
from features.corpora.settings import CorpusSettings
from features.ids import (
    ID,
    IdArray,
    hexadecimal,
    ids_of_texts,
    normalised,
    occurrences_of,
    pair_ids,
    pair_rows,
    positions_in,
    unique_ids,
)
from features.ingest.drawing import draw_pairs
from features.ingest.known import Known, StoredPairs
from features.ingest.leaks import LeakageGuard
from features.ingest.negatives import arranged, draw_negatives, pair_keys, unordered_keys
from features.ingest.report import ChangedJudgement, Fault, SplitReport
from features.ingest.sentences import Rows, Sentences, cut
from features.schemas import Columns, Reject

KINDS: tuple[PairKind, ...] = ("positive", "negative")
_AT_ONCE = 1 << 16  # rows
_ORIGIN = r"(?s)^(?<file>.*):(?<line>\d+)$"

PAIR_ROWS: Columns = {
    "row": pl.UInt32,
    "split": pl.Enum(SPLITS),
    "text_a": pl.String,
    "text_b": pl.String,
    "score": pl.Float64,
    "label": pl.Categorical(),
    "file": pl.Categorical(),
    "line": pl.UInt32,
    "group": pl.Categorical(),
}
"""Columns of rows that are pairs: the fields of `PairRow`, its origin in two, and its number in the corpus."""
PAIR_TABLE: Columns = {
    "split": pl.UInt8,
    "a": pl.UInt32,
    "b": pl.UInt32,
    "score": pl.Float64,
    "label": pl.Categorical(),
}
"""Columns of pairs: split by its position in `SPLITS`, sentences by number."""


@dataclass(frozen=True, slots=True)
class PairTable:
    """New pairs of one kind of a corpus: ids, (n_pairs,), columns of `PAIR_TABLE`; of negatives, ids of positives."""

    ids: IdArray
    rows: pl.DataFrame
    positives: IdArray | None = None

    def ordered(self, order: NDArray[np.int64]) -> "PairTable":
        """Return the pairs in another order."""
        return PairTable(self.ids[order], self.rows[order], None if self.positives is None else self.positives[order])


class CorpusPairs:
    """The pairs of one corpus, whose files are read; `base` is the folder of the project file."""

    def __init__(self, corpus: CorpusSettings, base: Path, max_words: int) -> None:
        self.corpus = corpus
        self.reports: dict[Split, SplitReport] = {}  # in the order in which the splits occur
        self.rejects: list[Reject] = []  # rows that are wrong or kept out, in the order of the files
        self.draws: list[Fault] = []  # drawn splits that far too few or too many pairs came into
        self.changed: list[ChangedJudgement] = []  # stored pairs whose judgement is another one now
        self.tables: dict[PairKind, PairTable] = {}  # the new pairs
        self._others: list[tuple[int, Skip | BadRow]] = []
        self._shards = np.empty(0, np.int32)
        ids, texts, frames = [], [], []
        outcomes = enumerate(read_outcomes(corpus, base))
        while read := list(islice(outcomes, _AT_ONCE)):
            pairs = _in_columns([(row, each) for row, each in read if isinstance(each, PairRow)])
            self._others += [(row, each) for row, each in read if isinstance(each, Skip | BadRow)]
            both = normalised(pl.concat([pairs["text_a"], pairs["text_b"]]))
            texts.append(both)
            ids.append(ids_of_texts(both))
            frames.append(pairs.drop("text_a", "text_b"))
        together = np.concatenate(ids)
        ids.clear()
        self.ids, first, numbers = unique_ids(together)  # ids of the sentences, sorted, (n_sentences,)
        del together
        self.texts = pl.concat(texts).gather(first)  # normalised
        self._too_long = self.texts.str.count_matches(" ", literal=True).to_numpy() >= max_words
        start = 0
        for position, frame in enumerate(frames):
            a, b = numbers[start : start + 2 * frame.height].reshape(2, -1)
            start += 2 * frame.height
            frames[position] = frame.with_columns(pl.col("split").to_physical(), a=pl.Series(a), b=pl.Series(b))
        # Once they are taken, those that are not rejected: columns of `PAIR_TABLE`, and `stored`.
        self.rows = pl.concat(frames)

    def take(
        self,
        sentences: Sentences,
        guard: LeakageGuard,
        known: Known,
        admits: Callable[[PairId | LabelId], bool] | None,
    ) -> None:
        """Keep the rows that are pairs of the corpus, place their sentences, and draw negatives."""
        stored = known.stored_pairs(self.corpus.name)
        drawn = draw_pairs(self.corpus, known, stored.ids, self.rows, self.ids, self.texts, self._too_long)
        rows, self.draws = drawn or (self.rows.with_columns(kept=False, joins=None), [])
        rejects = self._count_rows(rows)
        rows = rows.with_columns(occurrence=occurrences_of(_keys(rows)))
        ids = self._ids_of(rows)
        if admits is not None:
            rows = rows.with_columns(
                admitted=pl.Series([admits(PairId(name)) for name in hexadecimal(ids)]).cast(pl.UInt8)
            )
            # A repeat is numbered by those before it: where one is missing, so are those after it.
            admitted = rows.select(pl.col("admitted").cum_min().over("split", "a", "b")).to_series() > 0
            rows, ids = rows.filter(admitted), ids[admitted.to_numpy()]
        self.paired = rows.select("split", "a", "b")  # also those that are kept out
        rows = rows.with_columns(stored=positions_in(ids, stored.ids) >= 0)
        leaked, kept_out = self._reject(rows, ids, sentences, guard, rejects)
        self.rejects = [reject for _, reject in sorted(rejects, key=lambda each: each[0])]
        if kept_out.any():
            rows, ids, leaked = rows.filter(~kept_out), ids[~kept_out], leaked[~kept_out]
        self._count("repeats", rows, pl.col("occurrence") > 0)
        self._count("kept", rows, pl.col("kept"))
        self._count("known", rows, pl.col("stored"))
        self._count("new", rows, ~pl.col("stored"))
        self._place(sentences, rows, ids)
        self._compare(rows, ids, stored)
        self.rows = rows.select(*PAIR_TABLE, "stored")
        new = rows.select(*PAIR_TABLE).filter(~rows["stored"])
        table = PairTable(ids[~rows["stored"].to_numpy()], new)
        if drawn is None and len(self.reports) > 1:  # split by split, otherwise in order of arrival
            order = {SPLITS.index(split): position for position, split in enumerate(self.reports)}
            table = table.ordered(np.argsort(new["split"].replace_strict(order).to_numpy(), kind="stable"))
        self.tables["positive"] = table
        # A leaked pair that was stored before the guard knew gets no negative and gives none.
        pool = ~(leaked & guard.drops)
        self._draw_all_negatives(rows.select("split", "a", "b").filter(pool), ids[pool], stored)

    def shards(self, kind: PairKind, names: Sequence[Shard], size: int, first: int) -> dict[Shard, Rows]:
        """Cut the new pairs of a kind into shards numbered from `first`; `names` are those of the sentence shards."""
        table, shards = self.tables[kind], pl.Series(names, dtype=pl.String)
        if kind != "positive":
            ranks = shards.rank("dense").to_numpy()
            a, b = (ranks[self._shards[table.rows[side].to_numpy()]] for side in ("a", "b"))
            table = table.ordered(arranged(table.ids, a, b, size))
        return cut(len(table.ids), partial(self._frame, kind, table, shards), "pairs", size, first)

    def _frame(self, kind: PairKind, table: PairTable, names: pl.Series, here: slice) -> pl.DataFrame:
        """Return some rows of a table with the columns of `PAIRS`."""
        rows = table.rows[here]
        a, b = rows["a"].to_numpy(), rows["b"].to_numpy()
        return pair_rows(
            table.ids[here],
            self.ids[a],
            self.ids[b],
            corpus=self.corpus.name,
            split=[SPLITS[code] for code in rows["split"].to_list()],
            kind=kind,
            shard_a=names[self._shards[a]],
            shard_b=names[self._shards[b]],
            score=rows["score"],
            label=rows["label"].cast(pl.String),
            positive_id=None if table.positives is None else hexadecimal(table.positives[here]),
        )

    def _count_rows(self, rows: pl.DataFrame) -> list[tuple[int, Reject]]:
        """Count the rows of each split, pairs and others, and return the wrong ones with their row numbers."""
        of_pairs = rows.group_by("split").agg(pl.col("row").min(), pl.len())
        first: dict[Split, int] = {SPLITS[split]: row for split, row, _ in of_pairs.iter_rows()}
        for row, other in reversed(self._others):
            first[other.split] = min(row, first.get(other.split, row))
        for split in sorted(first, key=first.__getitem__):
            self.reports[split] = SplitReport(corpus=self.corpus.name, split=split)
        for split, _, count in of_pairs.iter_rows():
            self.reports[SPLITS[split]].rows = count
        rejects = []
        for row, other in self._others:
            report = self.reports[other.split]
            report.rows += 1
            if isinstance(other, Skip):
                report.skipped[other.reason] = report.skipped.get(other.reason, 0) + 1
            else:
                report.rejected += 1
                rejects.append((row, other.reject))
        return rejects

    def _reject(
        self,
        rows: pl.DataFrame,
        ids: IdArray,
        sentences: Sentences,
        guard: LeakageGuard,
        rejects: list[tuple[int, Reject]],
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Add the rows that are kept out to the rejects, and return which leak, and which are kept out."""
        a, b = rows["a"].to_numpy(), rows["b"].to_numpy()
        too_long = self._too_long[a] | self._too_long[b]
        kept_out = too_long | rows["joins"].is_not_null().to_numpy()
        leaked = self._may_leak(a, b, rows["split"].to_numpy(), guard) & ~kept_out
        for position in np.flatnonzero(kept_out | leaked).tolist():
            row = rows.row(position, named=True)
            report = self.reports[SPLITS[row["split"]]]
            texts = self.texts[row["a"]], self.texts[row["b"]]
            if too_long[position]:
                report.rejected += 1
                longer = max(texts, key=lambda text: text.count(" "))
                code, why = RejectCode.SENTENCE_TOO_LONG, sentences.too_long("a sentence", longer)
            elif row["joins"] is not None:
                report.joining += 1
                code, why = RejectCode.JOINS_SPLITS, row["joins"]
            else:
                code, why = RejectCode.LEAKED, guard.leaks(report.split, *texts) or ""
                report.leaked += 1
                report.leaked_stored += row["stored"]
                if row["stored"] or not guard.drops:
                    continue
                report.dropped += 1
                kept_out[position] = True
            (name,) = hexadecimal(ids[[position]])
            rejects.append((row["row"], Reject(name, code, f"{_origin(row)}: {why}")))
        return leaked, kept_out

    def _may_leak(
        self, a: NDArray[np.uint32], b: NDArray[np.uint32], splits: NDArray[np.uint8], guard: LeakageGuard
    ) -> NDArray[np.bool_]:
        """Return which rows have an evaluation sentence in train."""
        trained = splits == SPLITS.index("train")
        leaks = np.zeros(len(self.ids), np.bool_)
        leaks[np.concatenate([a[trained], b[trained]])] = True
        leaks[leaks] = guard.leaking(self.texts.filter(leaks))
        return np.asarray(trained & (leaks[a] | leaks[b]))

    def _count(self, what: Literal["repeats", "kept", "known", "new"], rows: pl.DataFrame, which: pl.Expr) -> None:
        for split, count in rows.select(pl.col("split").filter(which)).to_series().value_counts().iter_rows():
            setattr(self.reports[SPLITS[split]], what, count)

    def _place(self, sentences: Sentences, rows: pl.DataFrame, ids: IdArray) -> None:
        """Place the sentences of the new rows; raise an error if stored pairs have sentences that are not stored."""
        new = rows.filter(~pl.col("stored")).select("a", "b").to_numpy().ravel()
        self._shards = sentences.place(self.ids, self.texts, new)
        nowhere = pl.Series(self._shards < 0)
        for position in (rows["stored"] & (nowhere[rows["a"]] | nowhere[rows["b"]])).arg_true().head(1).to_list():
            pair, origin = *hexadecimal(ids[[position]]), _origin(rows.row(position, named=True))
            raise UnknownShard(
                f"The store has the pair {pair!r} ({origin}), but not its sentences, as a copy made during a build: "
                "copy the store again, or build a new one."
            )

    def _compare(self, rows: pl.DataFrame, ids: IdArray, stored: StoredPairs) -> None:
        """Count and keep the stored pairs whose score or label has changed."""
        label = pl.col("label").cast(pl.String)
        now = rows.filter("stored").select("split", "file", "line", found_score="score", found_label=label)
        names = ids[rows["stored"].to_numpy()]
        before = stored.judgements[positions_in(names, stored.ids)].select(
            stored_score="score", stored_label=pl.col("label").cast(pl.String)
        )
        changed = (
            pl.concat([now, before], how="horizontal")
            .with_row_index("position")
            .filter(
                pl.col("found_score").ne_missing(pl.col("stored_score"))
                | pl.col("found_label").ne_missing(pl.col("stored_label"))
            )
        )
        for split, report in self.reports.items():
            of_split = changed.filter(split=SPLITS.index(split))
            report.changed = of_split.height
            pairs = hexadecimal(names[of_split["position"].to_numpy()])
            judgements = ("stored_score", "found_score", "stored_label", "found_label")
            self.changed += [
                ChangedJudgement(
                    corpus=self.corpus.name,
                    pair_id=pair,
                    origin=_origin(row),
                    **{name: row[name] for name in judgements},
                )
                for pair, row in zip(pairs, of_split.iter_rows(named=True), strict=True)
            ]

    def _draw_all_negatives(self, rows: pl.DataFrame, ids: IdArray, stored: StoredPairs) -> None:
        """Draw negatives for and from the rows of each split."""
        names, frames, positives = [np.empty(0, ID)], [pl.DataFrame(schema=PAIR_TABLE)], [np.empty(0, ID)]
        for split, report in self.reports.items():
            if split in self.corpus.drawn_splits:
                code = SPLITS.index(split)
                here = rows["split"] == code
                a, b = (rows[side].filter(here).to_numpy() for side in ("a", "b"))
                of_split = ids[here.to_numpy()]
                drawn, first, other, new = self._negatives(report, of_split, a, b, stored)
                columns = {"split": np.full(len(drawn), code, np.uint8), "a": first, "b": other}
                frames.append(pl.DataFrame({**columns, "score": None, "label": None}, schema=PAIR_TABLE))
                names.append(new)
                positives.append(of_split[drawn])
        self.tables["negative"] = PairTable(np.concatenate(names), pl.concat(frames), np.concatenate(positives))

    def _negatives(
        self, report: SplitReport, ids: IdArray, a: NDArray[np.uint32], b: NDArray[np.uint32], stored: StoredPairs
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32], IdArray]:
        """Draw a negative for every positive that has none; return the positions of those, both sentences, the ids."""
        split = report.split
        paired = self.paired.filter(split=SPLITS.index(split))
        keys = np.sort(unordered_keys(paired["a"].to_numpy(), paired["b"].to_numpy()))
        drawn, others = draw_negatives(ids, a, b, positions_in(ids, stored.with_negative) < 0, keys)
        drawn, other = drawn[others >= 0], others[others >= 0].astype(np.uint32)
        report.negatives, report.without_negative = len(drawn), len(others) - len(drawn)
        first = a[drawn]
        keys = pair_keys(first, other)
        # Two positives with one sentence a may draw the same sentence.
        occurrences = occurrences_of(keys)
        names = pair_ids(self.corpus.name, split, "negative", self.ids[first], self.ids[other], occurrences)
        free: dict[int, int] = {}
        for position in np.flatnonzero(np.isin(keys, keys[positions_in(names, stored.ids) >= 0])).tolist():
            one, key = slice(position, position + 1), int(keys[position])
            while True:
                number = free[key] = free.get(key, -1) + 1
                names[one] = pair_ids(
                    self.corpus.name, split, "negative", self.ids[first[one]], self.ids[other[one]], np.array([number])
                )
                if positions_in(names[one], stored.ids)[0] < 0:
                    break
        return drawn, first, other, names

    def _ids_of(self, rows: pl.DataFrame) -> IdArray:
        """Return the ids of positive pairs."""
        ids = np.empty(rows.height, self.ids.dtype)
        for code, split in enumerate(SPLITS):
            here = (rows["split"] == code).to_numpy()
            a, b, occurrences = (rows[name].to_numpy()[here] for name in ("a", "b", "occurrence"))
            ids[here] = pair_ids(self.corpus.name, split, "positive", self.ids[a], self.ids[b], occurrences)
        return ids


def _in_columns(rows: Sequence[tuple[int, PairRow]]) -> pl.DataFrame:
    """Return pairs, each with its number, as columns of `PAIR_ROWS`."""
    schema = {name: PAIR_ROWS.get(name, pl.String) for name in ("row", *PairRow._fields)}
    frame = pl.DataFrame([(row, *pair) for row, pair in rows], schema=schema, orient="row")
    return frame.with_columns(pl.col("origin").str.extract_groups(_ORIGIN)).unnest("origin").cast(pl.Schema(PAIR_ROWS))


def _origin(row: Mapping[str, Any]) -> str:
    return f"{row['file']}:{row['line']}"


def _keys(rows: pl.DataFrame) -> NDArray[np.uint64]:
    """Return one number for each split and pair of sentences, of which there are fewer than 2^31."""
    split, a, b = (rows[name].to_numpy().astype(np.uint64) for name in ("split", "a", "b"))
    return np.asarray(split << np.uint64(62) | a << np.uint64(31) | b)
