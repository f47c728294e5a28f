"""From corpora to new shards of sentences and pairs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from features.corpora.leakage import TRAINING_SPLITS, LeakageGuard
from features.corpora.reading import read_outcomes
from features.corpora.rows import BadRow, PairRow, Skip
from features.corpora.settings import CorpusSettings, IngestSettings, LeakageSettings
from features.corpora.sources import identify, locate
from features.errors import SettingsError, StoreError
from features.ingest.known import Known
from features.ingest.negatives import Positive, arrange, draw_negatives
from features.ingest.report import ChangedJudgement, FileReport, IngestReport, LeakReport, SplitReport
from features.ingest.shards import cut, next_number, shard_name
from features.sentences import normalise, pair_id, sentence_id
from features.stages import Reject
from features.store.schemas import PAIRS, SENTENCES
from features.types import PairId, PairKind, RejectCode, SentenceId, Shard, Split

ALGORITHM_VERSION = "1"
"""Part of the fingerprint of ingest: goes up when the same files would give other ids, negatives or shards."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What is new.

    Args:
        sentences: rows of `SENTENCES` by shard.
        pairs: rows of `PAIRS` by shard.
        rejects: rows that were wrong, and pairs that the leakage guard dropped.
        report: counts.
    """

    sentences: dict[Shard, pl.DataFrame]
    pairs: dict[Shard, pl.DataFrame]
    rejects: list[Reject]
    report: IngestReport


def ingest(
    corpora: Sequence[CorpusSettings],
    leakage: LeakageSettings,
    settings: IngestSettings,
    base: Path,
    known_sentences: pl.DataFrame,
    known_pairs: pl.DataFrame,
) -> Ingested:
    """Read corpora and make shards of what the store does not hold yet.

    Args:
        corpora: what to read; their names differ.
        leakage: the guard of evaluation sentences.
        settings: sizes of shards, longest sentence.
        base: what relative paths are relative to: the folder of the project file.
        known_sentences: what is stored: columns of `KNOWN_SENTENCES`; may be an empty frame.
        known_pairs: what is stored: columns of `KNOWN_PAIRS`; may be an empty frame.

    Returns:
        New rows only, in shards numbered after the known ones; the same for the same input.

    Raises:
        InputError: a file is missing, empty or in another form.
        SettingsError: two corpora have one name.
        StoreError: the known tables contradict each other.
    """
    repeated = [name for name, count in Counter(corpus.name for corpus in corpora).items() if count > 1]
    if repeated:
        raise SettingsError(f"{repeated[0]!r} is the name of two corpora: give each a `name` of its own.")
    known = Known(known_sentences, known_pairs)
    sentences = _Sentences(known, settings)
    guard = _Guard(LeakageGuard.from_settings(leakage, base), drops=leakage.mode == "drop")
    splits: list[_SplitPairs] = []
    rejects: list[Reject] = []
    for corpus in corpora:
        of_split: dict[Split, _SplitPairs] = {}
        for outcome in read_outcomes(corpus, base):
            split = of_split.get(outcome.split)
            if split is None:
                split = of_split[outcome.split] = _SplitPairs(SplitReport(corpus=corpus.name, split=outcome.split))
            reject = split.take(outcome, sentences, guard, known)
            if reject is not None:
                rejects.append(reject)
        for name, split in of_split.items():
            if name in corpus.negatives:
                split.add_negatives(known)
        splits += of_split.values()
    return _finish(splits, rejects, sentences, guard, known, settings, _files(corpora, base))


class _Judged(NamedTuple):
    """A known pair as it stands in the file now."""

    pair_id: PairId
    score: float | None
    label: str | None
    origin: str
    split: int


class _NewPair(NamedTuple):
    """A row of `PAIRS` before its sentences have shards."""

    pair_id: PairId
    corpus: str
    split: Split
    kind: PairKind
    sentence_a: SentenceId
    sentence_b: SentenceId
    score: float | None
    label: str | None
    positive_id: PairId | None


class _Sentences:
    """Ids of sentences, known and new; a new one is placed in the next shard when its first pair is taken."""

    def __init__(self, known: Known, settings: IngestSettings) -> None:
        self.shard_of = known.shard_of
        self.max_words = settings.max_words
        self.new: dict[SentenceId, str] = {}
        self._size = settings.sentences_per_shard
        self.first_shard = next_number("sentences", set(known.shard_of.values()))
        self._seen: dict[str, tuple[SentenceId, str, bool]] = {}

    def identify(self, text: str) -> tuple[SentenceId, str, bool]:
        """Return id, normalised text, and whether the sentence is too long."""
        found = self._seen.get(text)
        if found is None:
            clean = normalise(text)
            found = self._seen[text] = (sentence_id(clean), clean, clean.count(" ") >= self.max_words)
        return found

    def place(self, sentence: SentenceId, text: str) -> None:
        """Place a sentence in a shard unless it has one."""
        if sentence not in self.shard_of:
            self.shard_of[sentence] = shard_name("sentences", self.first_shard + len(self.new) // self._size)
            self.new[sentence] = text


class _Guard:
    """Leakage by sentence, and what was found of each evaluation set."""

    def __init__(self, guard: LeakageGuard, *, drops: bool) -> None:
        self._guard = guard
        self._sets_of: dict[SentenceId, tuple[str, ...]] = {}
        self.drops = drops
        self.pairs: Counter[tuple[str, Split, str]] = Counter()
        self.sentences: dict[tuple[str, Split, str], set[SentenceId]] = {}

    def leaks(self, report: SplitReport, *sentences: tuple[SentenceId, str, bool]) -> str | None:
        """Count the pair for each set that has one of its sentences; return such a sentence and the sets, in words."""
        if report.split not in TRAINING_SPLITS:
            return None
        words = None
        hit: set[str] = set()
        for sentence, text, _ in sentences:
            sets = self._sets_of.get(sentence)
            if sets is None:
                sets = self._sets_of[sentence] = self._guard.sets_with(text)
            for name in sets:
                hit.add(name)
                self.sentences.setdefault((report.corpus, report.split, name), set()).add(sentence)
            if sets and words is None:
                words = f"{text!r} is a sentence of {', '.join(sets)}"
        for name in hit:
            self.pairs[report.corpus, report.split, name] += 1
        return words

    def reports(self) -> list[LeakReport]:
        return [
            LeakReport(corpus=key[0], split=key[1], evaluation=key[2], pairs=pairs, sentences=len(self.sentences[key]))
            for key, pairs in sorted(self.pairs.items())
        ]


@dataclass(slots=True)
class _SplitPairs:
    """The pairs of one split of one corpus."""

    report: SplitReport
    pool: list[Positive] = field(default_factory=list)
    positives: list[_NewPair] = field(default_factory=list)
    negatives: list[_NewPair] = field(default_factory=list)
    stored: list[PairRow] = field(default_factory=list)
    stored_ids: list[PairId] = field(default_factory=list)
    occurrences: Counter[tuple[SentenceId, SentenceId]] = field(default_factory=Counter)

    def take(
        self, outcome: PairRow | Skip | BadRow, sentences: _Sentences, guard: _Guard, known: Known
    ) -> Reject | None:
        """Count a row and keep it if it is a pair; return the reject if it is to be one."""
        report = self.report
        report.rows += 1
        if isinstance(outcome, Skip):
            report.skipped[outcome.reason] = report.skipped.get(outcome.reason, 0) + 1
            return None
        if isinstance(outcome, BadRow):
            report.rejected += 1
            return outcome.reject
        first, second = sentences.identify(outcome.text_a), sentences.identify(outcome.text_b)
        a, b = first[0], second[0]
        occurrence = self.occurrences[a, b]
        self.occurrences[a, b] += 1
        pair = pair_id(report.corpus, report.split, "positive", a, b, occurrence)
        if first[2] or second[2]:
            report.rejected += 1
            longer = max(first[1], second[1], key=len)
            message = (
                f"{outcome.origin}: a sentence has {longer.count(' ') + 1} words; expected at most "
                f"{sentences.max_words} ({longer[:40]!r}...)"
            )
            return Reject(pair, RejectCode.SENTENCE_TOO_LONG, message)
        leak = guard.leaks(report, first, second)
        is_known = pair in known.pair_ids
        if leak is not None:
            report.leaked += 1
            report.leaked_stored += is_known
            if guard.drops and not is_known:
                report.dropped += 1
                return Reject(pair, RejectCode.LEAKED, f"{outcome.origin}: {leak}")
        report.repeats += occurrence > 0
        if is_known:
            report.known += 1
            self.stored.append(outcome)
            self.stored_ids.append(pair)
            if a not in sentences.shard_of or b not in sentences.shard_of:
                raise StoreError(
                    f"pair {pair!r} ({outcome.origin}) is known but its sentences are not: pass all shards of both "
                    "tables."
                )
        else:
            report.new += 1
            sentences.place(a, first[1])
            sentences.place(b, second[1])
            row = _NewPair(
                pair, report.corpus, report.split, "positive", a, b, outcome.score, outcome.label, positive_id=None
            )
            self.positives.append(row)
        # No negative is drawn from a leaked pair, nor for one.
        if leak is None or not guard.drops:
            self.pool.append(Positive(pair, a, b))
        return None

    def add_negatives(self, known: Known) -> None:
        """Draw a negative for every positive that has none."""
        report = self.report
        wanted = {pair.pair_id for pair in self.pool} - known.with_negative
        taken: set[PairId] = set()
        for positive, other in draw_negatives(self.pool, wanted):
            if other is None:
                report.without_negative += 1
                continue
            occurrence = 0
            # Two positives with one sentence a may draw the same sentence.
            while (
                pair := pair_id(report.corpus, report.split, "negative", positive.a, other, occurrence)
            ) in taken or (pair in known.pair_ids):
                occurrence += 1
            taken.add(pair)
            report.negatives += 1
            row = _NewPair(
                pair, report.corpus, report.split, "negative", positive.a, other, None, None, positive.pair_id
            )
            self.negatives.append(row)

    def changed(self, known: Known) -> list[ChangedJudgement]:
        """Return the known pairs whose score or label is another now."""
        if not self.stored:
            return []
        now = pl.DataFrame(
            {
                "pair_id": self.stored_ids,
                "found_score": [row.score for row in self.stored],
                "found_label": [row.label for row in self.stored],
                "origin": [row.origin for row in self.stored],
            },
            schema_overrides={"found_score": pl.Float64, "found_label": pl.String},
        )
        stored = known.judgements.select("pair_id", stored_score="score", stored_label="label")
        other = now.join(stored, on="pair_id", how="inner", maintain_order="left").filter(
            pl.col("found_score").ne_missing(pl.col("stored_score"))
            | pl.col("found_label").ne_missing(pl.col("stored_label"))
        )
        self.report.changed = other.height
        return [ChangedJudgement(**row) for row in other.iter_rows(named=True)]


def _files(corpora: Sequence[CorpusSettings], base: Path) -> list[FileReport]:
    reports = []
    for corpus in corpora:
        for source in locate(corpus.record, corpus.files, base):
            for path in (source.path, source.partner):
                if path is not None:
                    copy = identify(corpus.record, path)
                    name = source.name if path is source.path else path.name
                    reports.append(
                        FileReport(corpus=corpus.name, name=name, sha256=copy.sha256, known_as=copy.known_as)
                    )
    return reports


def _finish(
    splits: Sequence[_SplitPairs],
    rejects: list[Reject],
    sentences: _Sentences,
    guard: _Guard,
    known: Known,
    settings: IngestSettings,
    files: list[FileReport],
) -> Ingested:
    """Cut what is new into shards: sentences as they came, positives as they came, negatives near each other."""
    new_sentences = pl.DataFrame(
        {"sentence_id": list(sentences.new), "text": list(sentences.new.values())}, schema=SENTENCES
    )
    sentence_shards = cut(new_sentences, "sentences", settings.sentences_per_shard, sentences.first_shard)
    size = settings.pairs_per_shard
    positives = _frame([row for split in splits for row in split.positives], sentences)
    negatives = arrange(_frame([row for split in splits for row in split.negatives], sentences), size)
    pair_shards = cut(positives, "pairs", size, next_number("pairs", known.pair_shards))
    pair_shards |= cut(negatives, "pairs", size, next_number("pairs", [*known.pair_shards, *pair_shards]))
    report = IngestReport(
        changed=[change for split in splits for change in split.changed(known)],
        splits=[split.report for split in splits],
        leaks=guard.reports(),
        files=files,
        new_sentences=new_sentences.height,
        sentence_shards=len(sentence_shards),
        pair_shards=len(pair_shards),
    )
    return Ingested(sentence_shards, pair_shards, rejects, report)


def _frame(rows: list[_NewPair], sentences: _Sentences) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else ([] for _ in _NewPair._fields)
    shard_of = sentences.shard_of
    return pl.DataFrame(
        {
            **dict(zip(_NewPair._fields, columns, strict=True)),
            "shard_a": [shard_of[row.sentence_a] for row in rows],
            "shard_b": [shard_of[row.sentence_b] for row in rows],
        },
        schema_overrides=PAIRS,
    ).select(list(PAIRS))
