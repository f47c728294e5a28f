"""Repair of lost or damaged shards of ingest: rebuilt from the corpora, if these still have the rows.

    shard of ingest ──> the ingest that made it, repeated ──┬── same fingerprint ──> the same rows
                        (what was known then, today's files) └── another ──> cannot be rebuilt

The fingerprint of such a shard is a hash of the ids of its rows in order; scores and labels are those of today's files.
Pairs that came later are left out, so that a corpus that has grown still yields the earlier shards.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import polars as pl

from features.core.faults import CannotRebuild, TableFileDamaged, UnknownShard
from features.core.types import LabelId, PairId, Shard
from features.ingest.building import ingest
from features.ingest.drawing import Spellings
from features.ingest.known import KNOWN, Known
from features.ingest.neighbours import counts_of, neighbours_of
from features.ingest.unread import Memory
from features.schemas import PAIRS
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.registry import KEYS, SOURCES
from features.store.damage import Damage
from features.store.reader import Provenance, StoreAhead
from features.store.scope import ShardKey
from features.store.store import Store
from flows.building.ingest_corpora import commit_tables, fingerprint_of
from flows.project import Project

_ROWS = {"pairs": {"sentence_a": "shard_a", "sentence_b": "shard_b"}, "labels": {"sentence": "sentence_shard"}}
_NAMED = 5  # damaged files named in a message
Remade = Mapping[str, Mapping[Shard, pl.DataFrame]]
"""Table → shard → its rows."""


def repair_ingested(project: Project, store: Store, damaged: Sequence[Damage], run_id: str) -> list[Damage]:
    """Rewrite the damaged shards of ingest in a locked store, none if one cannot be made again; return their damage.

    Neighbours wait while embeddings, which they are drawn from, are damaged as well.
    """
    remade = make_again(project, store, damaged)
    committed = store.committed("pairs")
    drawn = {
        shard: origin.recipe
        for (shard, mark), origin in store.provenance("pairs", first=True).items()
        if shard in remade["pairs"] and committed[shard].fingerprint == mark
        if origin.recipe is not None and counts_of(origin.recipe)
    }
    of_corpora = {shard: rows for shard, rows in remade["pairs"].items() if shard not in drawn}
    commit_tables(store, run_id, {**remade, "pairs": of_corpora})
    for shard, recipe in drawn.items():
        commit_tables(store, run_id, {"pairs": {shard: remade["pairs"][shard]}}, {"pairs": recipe})
    if any(remade.values()):  # all corpora are read again: scores and labels are now those of today
        Memory.of(store).model_copy(update={"keys": {}}).write(store)
    return [damage for damage in of_ingest(damaged) if damage.shard in remade[damage.table]]


def of_ingest(damaged: Sequence[Damage]) -> list[Damage]:
    """Return the damage in the tables that ingest writes."""
    return [damage for damage in damaged if damage.table in SOURCES]


def make_again(project: Project, store: Store, damaged: Sequence[Damage]) -> Remade:
    """Return the rows of the damaged shards of ingest; a StoreError names those that the corpora no longer yield.

    Neighbours are left out while embeddings are damaged.
    """
    lost = {(damage.table, damage.shard): damage for damage in of_ingest(damaged)}
    remade: dict[str, dict[Shard, pl.DataFrame]] = {table: {} for table in SOURCES}
    waits = any(damage.table == EMBEDDING_STAGE.name for damage in damaged)
    waiting = pl.DataFrame(schema=PAIRS).clear(1)  # of no corpus: all that later ingests need of neighbours is a shard
    if not lost:
        return remade
    past = _Past(project, store, lost, remade)
    for step in past.steps():
        if step.counts and waits:
            remade["pairs"] |= dict.fromkeys(past.lost(step, "pairs"), waiting)
            continue
        with suppress(TableFileDamaged, UnknownShard):  # of embeddings no longer made, of sentences that are lost
            for tables in past.repeat(step):
                for table, shards in tables.items():
                    remade[table] |= past.equal(step, table, shards)
    if hopeless := [damage for (table, shard), damage in lost.items() if shard not in remade[table]]:
        named = "; ".join(map(str, hopeless[:_NAMED]))
        more = f"; and {len(hopeless) - _NAMED} more (see `facetflow verify`)" if len(hopeless) > _NAMED else ""
        raise CannotRebuild(
            f"Rows of ingest are lost, and the corpora no longer yield them as they were: {named}{more}; restore these "
            "files from a copy, or put the corpus files, [[corpora]], [ingest], [leakage], [[evaluation]] and "
            "[embeddings] back as they were and build, or build a new store."
        )
    return {
        table: {shard: past.placed(table, rows) for shard, rows in shards.items() if rows is not waiting}
        for table, shards in remade.items()
    }


class _Step(NamedTuple):
    """What a build committed of its corpora, or as neighbours: then how many by corpus."""

    run_id: str
    counts: tuple[tuple[str, int], ...]


def _step_of(origin: Provenance) -> _Step:
    return _Step(origin.run_id, tuple(counts_of(origin.recipe).items()))


class _Past:
    """Past ingests, repeated."""

    def __init__(self, project: Project, store: Store, lost: Mapping[ShardKey, Damage], remade: Remade) -> None:
        self._project = project
        self._lost = lost
        self._remade = remade
        self._committed = {table: store.committed(table) for table in SOURCES}
        self._origins: dict[str, dict[Shard, Provenance]] = {}
        for table, shards in self._committed.items():
            provenance = store.provenance(table, first=True)
            self._origins[table] = {
                shard: provenance[shard, file.fingerprint]
                for shard, file in shards.items()
                if (shard, file.fingerprint) in provenance
            }
        self._ahead = StoreAhead(store, remade, lost)

    def steps(self) -> list[_Step]:
        """Return the steps of builds that made what is lost, oldest first."""
        origins = [self._origins[table][shard] for table, shard in self._lost if shard in self._origins[table]]
        # Versions only grow, but which table's do depends on the corpora: labelled texts bring no pairs.
        return sorted(set(map(_step_of, origins)), key=lambda step: sum(self._before(step).values()))

    def repeat(self, step: _Step) -> Iterator[Remade]:
        """Yield what a step produces today: neighbours, or the rows of an ingest, as often as it takes.

        An ingest is repeated first from all rows that did not come later, then only from known ones. The files may now
        have rows that no ingest has seen. The positives of the ingest are reproduced even so; once they are known, new
        rows can be left out, which also reproduces the negatives, since these depend on all positives.
        """
        before = self._before(step)
        if step.counts:
            shards, size = self._shards("pairs", until=before["pairs"]), self._project.ingest.pairs_per_shard
            yield {"pairs": neighbours_of(self._ahead, dict(step.counts), size, shards)}
            return
        project = self._project
        frames = [self._known(table, until=before[table]) for table in KNOWN]
        # An ingest killed between its two commits left its pairs to the next one.
        later = self._rows({table: before[table] + 1 for table in _ROWS})
        # Sets under [[evaluation]] may have been added since then, and the other spelling of a text that was drawn.
        guards = [project.guard]
        if project.leakage != guards[0]:
            guards.append(project.leakage)
        lost = [(table, shard) for table in SOURCES for shard in self.lost(step, table)]
        drawings: tuple[Spellings, ...] = ("together", "apart")
        for guard, spellings, only_known in itertools.product(guards, drawings, (False, True)):
            of_then = self._rows({}) - later if only_known else set()  # including those rebuilt by now
            admits = of_then.__contains__ if only_known else lambda row: row not in later
            known = Known(*frames, placed=self._known("pairs"), placed_labels=self._known("labels"))
            again = ingest(
                project.corpora, guard, project.ingest, project.base, known, admits=admits, spellings=spellings
            )
            yield again.tables
            if all(shard in self._remade[table] for table, shard in lost):
                return

    def lost(self, step: _Step, table: str) -> list[Shard]:
        """Return the shards of a step that are lost."""
        return [shard for shard in self._of(step, table) if (table, shard) in self._lost]

    def equal(self, step: _Step, table: str, shards: Mapping[Shard, pl.DataFrame]) -> dict[Shard, pl.DataFrame]:
        """Return the lost shards of a step that were reproduced exactly."""
        frames = {}
        for shard in sorted(shards.keys() & self.lost(step, table)):
            file = self._committed[table][shard]
            rows = shards[shard].head(file.rows)  # the last shard of that ingest may be fuller today
            if fingerprint_of(table, rows, self._origins[table][shard].recipe) == file.fingerprint:
                frames[shard] = rows
        return frames

    def placed(self, table: str, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows with the shards that their sentences are in: files that have grown give sentences to others."""
        columns = _ROWS.get(table, {}).items()
        return rows.with_columns(pl.col(ids).replace_strict(*self._sentences).alias(shard) for ids, shard in columns)

    @cached_property
    def _sentences(self) -> list[pl.Series]:
        """The ids of all sentences, with those made again, and their shards."""
        return self._ahead.read("sentences", None, None, ["sentence_id"], with_shard=True).get_columns()

    def _of(self, step: _Step, table: str) -> list[Shard]:
        return [shard for shard, origin in self._origins[table].items() if _step_of(origin) == step]

    def _before(self, step: _Step) -> dict[str, int]:
        """Return the versions of the tables that a step found."""
        versions: dict[str, int] = {}
        for table in SOURCES:
            for shard in self._of(step, table):
                origin = self._origins[table][shard]
                versions = {other: origin.versions.get(other, 0) for other in SOURCES} | versions
                versions[table] = origin.version - 1
        return versions

    def _rows(self, after: Mapping[str, int]) -> set[PairId | LabelId]:
        """Return the ids of pairs and labels that came after these versions of their tables."""
        return {
            row for table in _ROWS for row in self._known(table, after=after.get(table, 0))[KEYS[table][0]].to_list()
        }

    def _shards(self, table: str, *, after: int = 0, until: int | None = None) -> list[Shard]:
        """Return the readable shards that came between two versions."""
        readable = self._ahead.committed(table).keys()
        return [
            shard
            for shard, origin in self._origins[table].items()
            if shard in readable and origin.version > after and (until is None or origin.version <= until)
        ]

    def _known(self, table: str, *, after: int = 0, until: int | None = None) -> pl.DataFrame:
        """Return what ingest needs to know about readable shards that came between two versions."""
        shards, columns = self._shards(table, after=after, until=until), KNOWN[table]
        return self._ahead.read(table, None, shards, [name for name in columns if name != "shard"], with_shard=True)
