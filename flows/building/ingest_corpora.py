"""What a build commits in the flow process: what is new in the corpora, and neighbours once there are embeddings."""

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import polars as pl

from features.core.pages import tell
from features.core.types import LEFT_OUT, SPLITS, Fingerprint, RejectCode, Shard
from features.corpora.sources import Digests
from features.ingest.building import ALGORITHM_VERSION, Ingested, ingest
from features.ingest.known import KNOWN, Known
from features.ingest.neighbours import neighbours_of, recipe_of
from features.ingest.report import Fault, IngestReport
from features.ingest.unread import Memory, drawn_from, keys_of, rejects_of, state_of
from features.schemas import INGEST, Reject, StageOutput, rejects_frame
from features.stages.registry import KEYS, SOURCES
from features.stages.stage import Recipe
from features.store.damage import Damage
from features.store.fingerprints import fingerprint
from features.store.reader import StoreReader, decoding
from features.store.receipts import Receipt
from features.store.store import Store
from flows.project import Project
from training.encoders.aspect.settings import AspectSettings

RECIPES = {name: Recipe(name, {}, ALGORITHM_VERSION) for name in ("sentences", "pairs", "labels", INGEST)}
"""No parameters: settings decide which rows are ingested and how many a shard holds, not what a row is."""

_NOTHING_NEW: Mapping[str, Mapping[Shard, pl.DataFrame]] = {table: {} for table in SOURCES}
_SHOWN_LABELS = 3


def ingest_corpora(project: Project, store: Store, run_id: str, *, damaged: Sequence[Damage] = ()) -> Ingested:
    """Read what has changed of the corpora, commit the rows that the store does not hold, and return them.

    Nothing is committed if a file was changed meanwhile: a row that was cut off would stay.
    """
    before = Memory.of(store)
    ingested, memory = _read(project, store, before, damaged)
    if ingested.report.unread < ingested.report.rows or list(before.keys) != [each.name for each in project.corpora]:
        rejects = rejects_frame(ingested.rejects)
        mark = _fingerprint(RECIPES[INGEST], rejects["entity_id"].to_list())
        commit_tables(store, run_id, ingested.tables, also=[store.write_rejects(INGEST, INGEST, mark, rejects)])
    if memory is not None and (now := memory.model_copy(update={"state": state_of(store)})) != before:
        now.write(store)
    return ingested


def add_neighbours(project: Project, store: Store, run_id: str) -> dict[Shard, pl.DataFrame]:
    """Commit the neighbours that sentences with an embedding lack, in one transaction, and return them.

    Nothing is read if the embeddings are those that neighbours were last drawn from.
    """
    counts = project.neighbours
    if not counts or (memory := Memory.of(store)).drawn == (source := drawn_from(store, counts)):
        return {}
    drawn = neighbours_of(store, counts, project.ingest.pairs_per_shard)
    commit_tables(store, run_id, {"pairs": drawn}, {"pairs": recipe_of(counts)})
    given = {corpus: counts[corpus] for rows in drawn.values() for corpus in rows["corpus"].unique()}
    now = {"state": state_of(store), "drawn": source, "neighbours": counts | memory.neighbours | given}
    memory.model_copy(update=now).write(store)
    return drawn


def commit_tables(
    store: Store,
    run_id: str,
    tables: Mapping[str, Mapping[Shard, pl.DataFrame]],
    recipes: Mapping[str, Recipe] = RECIPES,
    *,
    also: Sequence[Receipt] = (),
) -> None:
    """Write the shards of the tables of ingest and commit them, and what is written already."""
    receipts = [
        store.write_shard(
            table, shard, fingerprint_of(table, rows, recipes[table]), StageOutput(rows), expected=rows.height
        )
        for table, shards in tables.items()
        for shard, rows in shards.items()
    ]
    store.commit([*receipts, *also], run_id=run_id, recipes=recipes)


def read_corpora(project: Project, store: StoreReader, *, damaged: Sequence[Damage] = ()) -> Ingested:
    """Read what has changed of the corpora and return what the store does not hold; nothing is written.

    All are read if rejects of ingest are among the `damaged` files.
    """
    return _read(project, store, Memory.of(store), damaged)[0]


def _read(
    project: Project, store: StoreReader, before: Memory, damaged: Sequence[Damage]
) -> tuple[Ingested, Memory | None]:
    """Return what is new, and what to remember once it is committed; None if a file could not be read at first."""
    digests = Digests(before.files)
    keys = keys_of(project.corpora, project.guard, project.ingest, project.base, digests)
    names = [corpus.name for corpus in project.corpora]
    unread = before.unchanged(project.corpora, keys)
    if any(damage.table == "rejects" and damage.stage == INGEST for damage in damaged):
        unread = []
    last = last_ingested(store) if unread else Ingested(_NOTHING_NEW, [], before.report)
    if unread == names == list(before.keys):
        ingested = last
    else:
        scans = [
            store.scan(table, columns=[name for name in columns if name != "shard"], with_shard=True)
            for table, columns in KNOWN.items()
        ]
        read = [corpus for corpus in project.corpora if corpus.name not in unread]
        known = Known(*scans, reading=partial(decoding, store=store.location))
        ingested = ingest(read, project.guard, project.ingest, project.base, known, unread=unread)
        of_read = rejects_of(ingested.report, [corpus.name for corpus in read], ingested.rejects)
        corpus_rejects = rejects_of(before.report, before.keys, last.rejects) | of_read
        ingested = dataclasses.replace(
            ingested,
            rejects=list(chain.from_iterable(corpus_rejects[name] for name in names)),
            report=ingested.report.beside(before.report, unread, names),
        )
    files = digests.to_record()
    given = before.neighbours
    counts = {corpus.name: corpus.neighbours for corpus in project.corpora}
    others = {name: count for name, count in counts.items() if given.get(name, count) != count}
    faults = [Fault.of(name, "other_neighbours", count=n, before=given[name]) for name, n in others.items()]
    memory = None
    if list(keys) == names:
        report = ingested.report.settled()
        memory = Memory(keys=keys, report=report, files=files, drawn=before.drawn, neighbours=given)
    return dataclasses.replace(ingested, report=ingested.report.model_copy(update={"neighbours": faults})), memory


def last_ingested(store: StoreReader) -> Ingested:
    """Return what the corpora gave when they were last read, of which nothing is new; empty if that is not known."""
    rows = store.read("rejects", None, [INGEST], ["entity_id", "code", "message"])
    rejects = [Reject(entity, RejectCode(code), message) for entity, code, message in rows.iter_rows()]
    report = Memory.of(store).report
    return Ingested(_NOTHING_NEW, rejects, report.model_copy(update={"unread": report.rows}))


def in_words(project: Project, report: IngestReport, labels: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what was read, a sentence each: in all, by split where they are drawn, by aspect (`label_counts`)."""
    # Rows: a text that occurs twice in a corpus counts as two, but is one text to search.
    rows = {(each.corpus, each.split): each.new + each.known for each in report.splits}
    return tell("flows.building/ingest.txt", "read", report, project.corpora, rows, SPLITS, labels).split("\n")


def label_counts(project: Project, store: StoreReader) -> list[dict[str, Any]]:
    """Count the labels of the project's texts, by corpus and aspect; those of texts with one class are left out.

    Returns:
        `corpus`, `aspect`, `labels`, `texts` (that have one), `rare` (labels with fewer training texts than
        `min_texts`), `min_texts` (of the first encoder that learns from them, else the usual one), and `most`
        (label → its texts, the most frequent ones).
    """
    rows = store.read("labels", columns=["corpus", "split", "sentence", "aspect", "label"])
    corpora = [corpus.name for corpus in project.corpora if corpus.record.kind != "classes"]
    counts = []
    for (corpus, aspect), labelled in rows.filter(pl.col("corpus").is_in(corpora)).group_by("corpus", "aspect"):
        min_texts, train = _requirement(project, str(corpus), str(aspect))
        labels = labelled.group_by("label").agg(
            texts=pl.col("sentence").n_unique(), train=pl.col("sentence").filter(pl.col("split") == train).n_unique()
        )
        most = labels.sort("texts", "label", descending=[True, False]).head(_SHOWN_LABELS)
        counts.append(
            {
                "corpus": corpus,
                "aspect": aspect,
                "labels": labels.height,
                "texts": labelled["sentence"].n_unique(),
                "rare": int((labels["train"] < min_texts).sum()),
                "min_texts": min_texts,
                "most": dict(most.select("label", "texts").iter_rows()),
            }
        )
    return sorted(counts, key=lambda each: (corpora.index(each["corpus"]), each["aspect"]))


def _requirement(project: Project, corpus: str, aspect: str) -> tuple[int, str]:
    reading = [
        (encoder.min_texts, encoder.splits[0])
        for encoder in project.encoders
        if isinstance(encoder, AspectSettings)
        and corpus in (encoder.corpora or (corpus,))
        and aspect in (encoder.aspects or (aspect,))
    ]
    usual = AspectSettings.model_fields
    return reading[0] if reading else (usual["min_texts"].default, usual["splits"].default[0])


def warnings(report: IngestReport, *, drops: bool) -> list[str]:
    """Return what a user should know about the corpora, as sentences."""
    remarks = (*report.shrunk, *report.overlaps, *report.faults, *report.draws, *report.neighbours)
    sentences = list(map(str, remarks))
    kept, changed, joining, leaked = (_by_corpus(report, count) for count in ("kept", "changed", "joining", "leaked"))
    stored = sum(split.leaked_stored for split in report.splits) if drops else 0
    examples = {each.corpus: each for each in reversed(report.changed)}
    text = tell(
        "flows.building/ingest.txt", "warnings", kept, changed, examples, joining, {} if drops else leaked, stored
    )
    return [*sentences, *filter(None, text.split("\n"))]


def _by_corpus(report: IngestReport, count: str) -> Counter[str]:
    """Return a count of splits, summed by corpus; corpora without any are left out."""
    counts: Counter[str] = Counter()
    for split in report.splits:
        counts[split.corpus] += getattr(split, count)
    return +counts


def refusal(ingested: Ingested, allowed: float) -> str | None:
    """Return why no release may be made if more than a share of the rows, in [0, 1], was rejected; None if one may."""
    report = ingested.report
    if not report.rows or report.rejected / report.rows <= allowed:
        return None
    wrong = [reject for reject in ingested.rejects if reject.code not in LEFT_OUT]
    ((code, count),) = Counter(reject.code for reject in wrong).most_common(1)
    example = next(reject.message for reject in wrong if reject.code == code)
    return (
        f"{report.rejected:,} of {report.rows:,} rows of the corpora were rejected, more than the {allowed:.1%} "
        f"allowed, {count:,} of them as {code.value!r} ({example.rstrip('.')}); correct them, or raise "
        f"limits.rejected_rows. `facetflow rejects --stage {INGEST}` lists what a build has read"
    )


def fingerprint_of(table: str, rows: pl.DataFrame, recipe: Recipe | None = None) -> Fingerprint:
    """Return the fingerprint of a shard of ingest, or by another recipe, which covers its ids in order."""
    return _fingerprint(recipe or RECIPES[table], rows[KEYS[table][0]].to_list())


def _fingerprint(recipe: Recipe, ids: list[str]) -> Fingerprint:
    return fingerprint(recipe, [hashlib.blake2b("\n".join(ids).encode(), digest_size=12).hexdigest()])
