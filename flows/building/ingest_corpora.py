"""The first step of a build, in the flow process: read the corpora and commit what is new."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl

from features.core.counting import counted
from features.core.types import LEFT_OUT, SPLITS, Fingerprint
from features.corpora.settings import CorpusSettings
from features.ingest.building import ALGORITHM_VERSION, Ingested, ingest
from features.ingest.known import KNOWN_LABELS, KNOWN_PAIRS, KNOWN_SENTENCES
from features.ingest.report import IngestReport
from features.stage_output import StageOutput, rejects_frame
from features.stages.recipe import Recipe
from features.store.fingerprints import fingerprint
from features.store.reader import StoreReader
from features.store.store import Store
from flows.project import Project

KNOWN = {"sentences": KNOWN_SENTENCES, "pairs": KNOWN_PAIRS, "labels": KNOWN_LABELS}
"""Table → the columns that ingest has to know, in the order in which `ingest` takes them."""

STAGE = "ingest"
"""Name under which unreadable rows are kept in `rejects`."""

RECIPES = {name: Recipe(name, {}, ALGORITHM_VERSION) for name in ("sentences", "pairs", "labels", STAGE)}
"""No parameters: settings decide which rows are ingested and how many a shard holds, not what a row is."""

KEYS = {"sentences": "sentence_id", "pairs": "pair_id", "labels": "label_id"}
"""Table → its id. Sentences come first, so that a pair never points to a missing sentence."""


def ingest_corpora(project: Project, store: Store, run_id: str) -> Ingested:
    """Read the corpora of a project and commit the rows that the store does not hold.

    Args:
        project: settings of the corpora, the leakage guard and shard sizes.
        store: the store.
        run_id: id of the run, recorded with the commit.

    Returns:
        What was read and what was new.

    Raises:
        InputError: a file is missing or is not what its dataset promises.
    """
    ingested = read_corpora(project, store)
    receipts = [
        store.write_shard(table, shard, fingerprint_of(table, rows), StageOutput(rows), expected=rows.height)
        for table, shards in ingested.tables.items()
        for shard, rows in shards.items()
    ]
    rejects = rejects_frame(ingested.rejects)
    receipts.append(store.write_rejects(STAGE, STAGE, _fingerprint(STAGE, rejects["entity_id"].to_list()), rejects))
    store.commit(receipts, run_id=run_id, recipes=RECIPES)
    return ingested


def read_corpora(project: Project, store: StoreReader) -> Ingested:
    """Read the corpora of a project and return what the store does not hold; nothing is written."""
    known = {
        table: store.read(table, columns=[name for name in columns if name != "shard"], with_shard=True)
        for table, columns in KNOWN.items()
    }
    return ingest(
        project.corpora,
        project.guard,
        project.ingest,
        project.base,
        *(rows.select(list(KNOWN[table])) for table, rows in known.items()),
    )


def summary(report: IngestReport, corpora: Sequence[CorpusSettings]) -> str:
    """Return a one-line summary of what was read, in the words of those who have texts if there are no pairs.

    Args:
        report: report of the ingest.
        corpora: corpora of the project.
    """
    dropped = sum(split.dropped for split in report.splits)
    leaked = f", {dropped:,} kept out as evaluation sentences" if dropped else ""
    rejected = f", {report.rejected:,} rejected" if report.rejected else ""
    only_texts = all(corpus.record.has_texts for corpus in corpora)
    counts = (
        (report.new_sentences, "text" if only_texts else "sentence", report.sentence_shards),
        (report.new_pairs, "pair", report.pair_shards),
        (report.new_labels, "label", report.label_shards),
    )
    new = ", ".join(
        counted(count, f"new {what}") + ("" if only_texts else f" in {counted(shards, 'shard')}")
        for count, what, shards in counts
        if count
    )
    skipped = f", {left_out(report.skipped)}" if report.skipped else ""
    return f"Read {counted(report.rows, 'row')}: {new or 'nothing new'}{rejected}{leaked}{skipped}."


def left_out(skipped: Mapping[str, int]) -> str:
    """Return how many rows are left out by design and why: `102 left out: debatable`.

    Args:
        skipped: reason → rows, at least one.
    """
    reasons = [f"{rows:,} {reason}" for reason, rows in skipped.items()] if len(skipped) > 1 else skipped
    return f"{sum(skipped.values()):,} left out: {', '.join(reasons)}"


def drawn_splits(report: IngestReport, corpora: Sequence[CorpusSettings]) -> list[str]:
    """Return the number of rows in each split, one sentence per corpus whose splits are drawn.

    A text that occurs twice in a corpus counts as two rows, but is one text to search.

    Args:
        report: report of the ingest.
        corpora: corpora of the project.
    """
    sentences = []
    for corpus in corpora:
        counts = {each.split: each.new + each.known for each in report.splits if each.corpus == corpus.name}
        if corpus.draw is not None:
            listed = ", ".join(f"{counts.get(split, 0):,} {split}" for split in SPLITS)
            sentences.append(f"{'Rows' if corpus.record.has_texts else 'Pairs'} of {corpus.name!r}: {listed}.")
    return sentences


def warnings(report: IngestReport, *, drops: bool) -> list[str]:
    """Return what a user should know about the corpora, as sentences.

    Args:
        report: report of the ingest.
        drops: whether sentences of evaluation sets are to be kept out.
    """
    faults = (
        *report.key_faults,
        *report.unused_labels,
        *report.label_faults,
        *report.text_faults,
        *report.judgement_faults,
    )
    found = [str(each) for each in (*report.shrunk, *report.overlaps, *faults, *report.draws)]
    found += [
        f"{rows:,} rows of {corpus!r} keep the split that the store has them in, although `draw` or `files` of the "
        "corpus now put them into another: what the store holds stays as it is, only new rows follow the change. For "
        "other splits, build a new store."
        for corpus, rows in _by_corpus(report, "kept").items()
    ]
    found += [
        f"{rows:,} {'row' if rows == 1 else 'rows'} of {corpus!r} {'has' if rows == 1 else 'have'} another score or "
        f"label than in the store{_example(report, corpus)}: what the store holds stays, for training and "
        "evaluation. For the corrected ones, build a new store."
        for corpus, rows in _by_corpus(report, "changed").items()
    ]
    found += [
        f"{pairs:,} pairs of {corpus!r} are left out, because they would join sentences that the store has in "
        "different splits (`facetflow rejects`, code joins_splits)."
        for corpus, pairs in _by_corpus(report, "joining").items()
    ]
    if not drops:
        found += [
            f"{pairs:,} {'pair' if pairs == 1 else 'pairs'} of {corpus!r} {'has' if pairs == 1 else 'have'} a sentence "
            "of an evaluation set, and are kept, as [leakage] says: scores on that set may be better than on new "
            "sentences."
            for corpus, pairs in _by_corpus(report, "leaked").items()
        ]
    if stored := sum(split.leaked_stored for split in report.splits) if drops else 0:
        pairs = (
            "1 training pair that is already in the store has"
            if stored == 1
            else f"{stored:,} training pairs that are already in the store have"
        )
        found.append(
            f"{pairs} a sentence of an evaluation set: what the store holds stays, and encoders are trained on it; a "
            "new store is free of such pairs."
        )
    return found


def _example(report: IngestReport, corpus: str) -> str:
    """Return a changed judgement of a corpus as part of a sentence."""
    files = {file.name for file in report.files if file.corpus == corpus}
    for each in report.changed:
        if each.origin.rpartition(":")[0] in files:
            before, now = (
                (each.stored_score, each.found_score)
                if each.stored_label == each.found_label
                else (each.stored_label, each.found_label)
            )
            return f", such as {each.origin} ({_judged(before)}, now {_judged(now)})"
    return ""


def _judged(value: float | str | None) -> str:
    return "empty" if value is None else repr(value)


def _by_corpus(report: IngestReport, count: Literal["kept", "joining", "changed", "leaked"]) -> Counter[str]:
    """Return a count of splits, summed by corpus; corpora without any are left out."""
    found: Counter[str] = Counter()
    for split in report.splits:
        found[split.corpus] += getattr(split, count)
    return +found


def refusal(ingested: Ingested, allowed: float) -> str | None:
    """Return why no release may be made from these corpora, None if one may.

    Args:
        ingested: what was read.
        allowed: share of rows that may be rejected, in [0, 1].
    """
    report = ingested.report
    if not report.rows or report.rejected / report.rows <= allowed:
        return None
    wrong = [reject for reject in ingested.rejects if reject.code not in LEFT_OUT]
    ((code, count),) = Counter(reject.code for reject in wrong).most_common(1)
    example = next(reject.message for reject in wrong if reject.code == code)
    return (
        f"{report.rejected:,} of {report.rows:,} rows of the corpora were rejected, more than the {allowed:.1%} "
        f"allowed, {count:,} of them as {code.value!r} ({example.rstrip('.')}); correct them, or raise "
        f"limits.rejected_rows. `facetflow rejects --stage {STAGE}` lists what a build has read"
    )


def fingerprint_of(table: str, rows: pl.DataFrame) -> Fingerprint:
    """Return the fingerprint of a shard of ingest, which covers its ids in order."""
    return _fingerprint(table, rows[KEYS[table]].to_list())


def _fingerprint(stage: str, ids: list[str]) -> Fingerprint:
    return fingerprint(RECIPES[stage], [hashlib.blake2b("\n".join(ids).encode(), digest_size=12).hexdigest()])
