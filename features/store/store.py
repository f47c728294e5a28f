"""The store: who writes what, and what a reader sees.

    worker    write_shard ──> Parquet files, final names, in no table ──> Receipt     (`features.store.writing`)
    flow      commit(receipts) ──> verify ──> rejects ──> tables
    reader    read(table, version) ──> the files that the log names                   (`features.store.reader`)

A process may die between any two steps. What was written but not committed is invisible and is written again;
committing a receipt twice changes nothing; a shard is in a table once or not at all.
"""

import dataclasses
import importlib.metadata
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import chain

import polars as pl

from features.core.faults import NoRelease, OtherProjectsStore, ReleaseKept
from features.core.file_errors import clear_errors
from features.core.types import Fingerprint, Shard
from features.schemas import REJECTS, StageOutput
from features.stages.stage import Recipe
from features.store import layout, writing
from features.store.damage import Verification, check_counts, pinned, rows_by_stage, verify
from features.store.delta import Table
from features.store.locations import Location, storage_at
from features.store.publishing import draft, holds
from features.store.reader import StoreReader
from features.store.receipts import DataFile, Receipt
from features.store.releases import Release, no_release, read_release, release_name, release_numbers, write_release
from features.store.runs import RunRecord, read_runs, record_name, write_run
from features.store.scope import PlannedStage, ShardKey, Wanted
from features.store.storage import Entry


@dataclasses.dataclass(frozen=True, slots=True)
class Garbage:
    """What was, or would be, removed: names in the store, and their size in bytes."""

    files: tuple[str, ...]
    bytes: int


class Store(StoreReader):
    """A feature store, to read and to write. Open it with `Store.open`."""

    @classmethod
    def open(
        cls, root: Location, *, create: bool = False, project: str | None = None, or_empty: bool = False
    ) -> "Store":
        """Open a store, making it first if requested and needed.

        Args:
            root: where it is (`features.store.locations`).
            create: make whatever is missing: the folder, the tables. For the flow process only, never for workers.
            project: the project that owns a new store.
            or_empty: if there is no store, return an empty one that can only be read, and write nothing.
        """
        storage = storage_at(root)
        described = layout.create(storage, project) if create else layout.read(storage, or_empty=or_empty)
        return cls(storage, described.tables, described.project)

    def check_owner(self, project: str) -> None:
        """Raise a StoreError if the store belongs to another project."""
        if self.project not in (None, project):
            raise OtherProjectsStore(
                f"The store {self.location!r} belongs to the project {self.project!r}, not to this one, {project!r}: "
                "name another folder as `store`, or take this one over with `facetflow build --adopt`."
            )

    def adopt(self, project: str) -> None:
        """Assign this store to a project, whichever it belonged to before."""
        self.project = layout.claim(self.storage, project).project

    def verify(self, *, deep: bool = False) -> Verification:
        """Check every file that the newest versions and all releases need; `deep` as for `damaged`."""
        return verify(self.location, self._tables(), self.releases(), deep=deep)

    # -- writing, in a worker ----------------------------------------------------------------------------------------

    def write_shard(
        self,
        table: str,
        shard: str,
        fingerprint: str,
        output: StageOutput,
        *,
        expected: int | None = None,
        seconds: float = 0.0,
    ) -> Receipt:
        """Write a shard's rows and rejects as files that are in no table yet; the table is named by the stage."""
        target = self._table(table)
        where = f"shard {shard!r} of table {table!r}"
        columns = {**target.columns, **writing.further_columns(target, output.rows.columns)}
        writing.check_columns(output.rows, columns, where)
        writing.check_columns(output.rejects, REJECTS, f"the rejects of {where}")
        writing.check_rows(output, next(iter(target.columns)), expected, where)
        data = writing.write_rows(target, output.rows, shard, fingerprint)
        rejects = self._write_rejects(table, shard, fingerprint, output.rejects)
        made = tuple(output.rows.columns)
        return Receipt(table, data.shard, data.fingerprint, data, rejects, seconds, made)

    def write_rejects(self, stage: str, shard: str, fingerprint: str, rejects: pl.DataFrame) -> Receipt:
        """Write rejects of a stage that has no table of its own: ingest, whose rejects are rows of files.

        The next commit under this shard's name replaces them; without a row, it clears those stored before.
        """
        writing.check_columns(rejects, REJECTS, f"the rejects of {shard!r} of stage {stage!r}")
        written = self._write_rejects(stage, shard, fingerprint, rejects)
        return Receipt(stage, Shard(shard), Fingerprint(fingerprint), None, written)

    def _write_rejects(self, stage: str, shard: str, fingerprint: str, rejects: pl.DataFrame) -> DataFile | None:
        if rejects.is_empty():
            return None
        return writing.write_rows(self._table("rejects"), rejects, shard, fingerprint, stage)

    # -- committing, in the flow process -----------------------------------------------------------------------------

    def commit(self, receipts: Iterable[Receipt], *, run_id: str, recipes: Mapping[str, Recipe]) -> dict[str, int]:
        """Make written shards part of their tables: first the rejects of all, then each table in one transaction.

        Rows that are replaced and had other rejects, or get some, are taken out before, so that a crash leaves none of
        them with rejects of other settings.

        Tables are committed one after the other: those before a failing one stay committed, and each is whole. Returned
        is the version of each table that has receipts (and of `rejects`).

        Args:
            receipts: what workers returned; of several of one shard, the last counts, and what is already committed
                changes nothing.
            run_id: the run, stored with the commit.
            recipes: stage → how it was made; the identity of every receipt must be that of its recipe.
        """
        unique = list({(receipt.stage, receipt.shard): receipt for receipt in receipts}.values())
        if not unique:
            return {}
        tables = {name: self._table(name) for name in self._ids}
        for receipt in unique:
            writing.check_recipe(receipt, recipes[receipt.stage])
        files = {name: [file for each in unique if each.stage == name and (file := each.data)] for name in tables}
        files["rejects"] = [file for each in unique if (file := each.reject_data)]
        for name, written in files.items():
            writing.check_files(tables[name], written)
        metadata = {"run_id": run_id, "code_version": importlib.metadata.version("facetflow")}
        # Left in, they would count as made after a crash and a return to old settings, with new rejects.
        for name, shards in self._with_other_rejects(unique).items():
            tables[name].replace([], [(None, shard) for shard in shards], metadata | {"withdrawn": {name: shards}})
        before = self.versions()
        # Rejects next: a crash in between leaves rejects of a shard that is made again, never rows whose rejects are
        # lost.
        emptied = [(receipt.stage, receipt.shard) for receipt in unique if not receipt.reject_data]
        made = [receipt for receipt in unique if receipt.reject_data]
        described = metadata | {"versions": before} | writing.described(made, recipes)
        after = {"rejects": tables["rejects"].replace(files["rejects"], emptied, described)}
        for name, table in tables.items():
            made = [receipt for receipt in unique if receipt.stage == name and receipt.data]
            if made:
                # Before the files: a column that no file has yet does no harm, a file with unknown columns does.
                further = writing.further_columns(table, chain.from_iterable(receipt.columns for receipt in made))
                table.add_columns({**table.columns, **further})
                described = metadata | {"versions": before | after} | writing.described(made, recipes)
                after[name] = table.replace(files[name], (), described)
        return after

    def _with_other_rejects(self, receipts: Sequence[Receipt]) -> dict[str, list[Shard]]:
        """Return stage → shards whose rows are committed under another fingerprint, with rejects or to get some."""
        names = {receipt.shard for receipt in receipts}
        rejected = {file.key for file in self._table("rejects").files(None, names)}
        shards: dict[str, list[Shard]] = {}
        for stage in sorted({receipt.stage for receipt in receipts if receipt.data}):
            old = {file.shard: file.fingerprint for file in self._table(stage).files(None, names)}
            for receipt in receipts:
                is_new = receipt.stage == stage and old.get(receipt.shard, receipt.fingerprint) != receipt.fingerprint
                if is_new and (receipt.reject_data or (stage, receipt.shard) in rejected):
                    shards.setdefault(stage, []).append(receipt.shard)
        return shards

    def withdraw(self, shards: Iterable[ShardKey], *, run_id: str) -> dict[str, int]:
        """Remove those of the shards that are committed, with their rejects; releases that hold them still do.

        Returned is the version of each table that was checked.
        """
        withdrawn: dict[str, list[Shard]] = {}
        for stage, shard in shards:
            withdrawn.setdefault(stage, []).append(shard)
        if not withdrawn:
            return {}
        version = importlib.metadata.version("facetflow")
        metadata = {"run_id": run_id, "code_version": version, "withdrawn": withdrawn}
        # Rejects first: after a crash in between the rows are still there, and the next call takes them out.
        rejected = [(stage, shard) for stage, names in withdrawn.items() for shard in names]
        after = {"rejects": self._table("rejects").replace([], rejected, metadata)}
        return after | {
            stage: self._table(stage).replace([], [(None, shard) for shard in names], metadata)
            for stage, names in withdrawn.items()
        }

    # -- releases, runs, garbage -------------------------------------------------------------------------------------

    def publish(
        self,
        run_id: str,
        *,
        stages: Sequence[PlannedStage],
        wanted: Iterable[Wanted] | None = None,
        failed_shards: float = 0.0,
        rejected_rows: float = 1.0,
        after: int = 0,
    ) -> Release:
        """Publish the newest versions of the tables as a release, or return the newest one if it holds the same.

        Nothing is published when a stage is incomplete, mixed, or has too many rejects.

        Args:
            run_id: the run, stored with the release.
            stages: the chain that the release has to be complete for.
            wanted: what will be read; the release has to be complete for that. Every shard of every stage when None.
            failed_shards: share of a stage's shards that may be missing, from 0 to 1. One made by an older recipe or
                from older input is never accepted: a release does not mix.
            rejected_rows: share of a stage's rows that may be rejected, from 0 to 1.
            after: number of the last release of a store that this one replaces; a new one is above it.
        """
        limits = {"failed_shards": failed_shards, "rejected_rows": rejected_rows}
        release = draft(self, self.versions(), stages, wanted=wanted, run_id=run_id, **limits)
        numbers = release_numbers(self.storage)
        if numbers and holds(self, newest := read_release(self.storage, numbers[-1]), release):
            return newest
        release = dataclasses.replace(release, number=max([*numbers, after]) + 1)
        write_release(self.storage, release)
        return release

    def release(self, number: int | None = None) -> Release:
        """Return a release by its number, the newest without one."""
        if number is None:
            numbers = release_numbers(self.storage)
            if not numbers:
                raise NoRelease(f"The store {self.location!r} has no release yet: {self._what_to_do()}.")
            number = numbers[-1]
        release = read_release(self.storage, number)
        counts = {
            (table.name, version): rows_by_stage(table.name, table.files(version))
            for table in self._tables()
            for version in pinned(table, [release])
        }
        check_counts(self.location, release, counts)
        return release

    def releases(self) -> list[Release]:
        """Return all releases as they were published, oldest first; `release` and `verify` check what they hold."""

        def read(number: int) -> Release | None:
            try:
                return read_release(self.storage, number)
            except NoRelease:  # it has been removed since it was listed
                return None

        return [release for release in self.storage.map(read, release_numbers(self.storage)) if release]

    def record_run(self, record: RunRecord) -> None:
        """Store the record of a run, replacing an earlier one of the same run."""
        write_run(self.storage, record)

    def runs(self) -> list[RunRecord]:
        """Return the records of all runs, newest first."""
        return read_runs(self.storage)

    def _what_to_do(self) -> str:
        """Return, as a clause, what to do about a store without a release."""
        if not (runs := self.runs()):
            return "run `facetflow build`"
        reason = runs[0].message.partition("\n")[0].rstrip(".") or "it goes on, or was killed"
        return f"the newest build published none ({reason}); see `facetflow status`, then run `facetflow build` again"

    def remove_dead_temporary(self) -> list[str]:
        """Remove temporary files left by killed processes, never those of live ones; return them."""
        with clear_errors(f"Removing temporary files of {self.location!r}"):
            entries = self.storage.remove_unfinished(timedelta(0), dry_run=False)
        return [self.storage.url(entry.name) for entry in entries]

    def remove_release(self, number: int) -> None:
        """Remove a release; the files that only it needs are garbage from then on.

        Its number must not be used again, so the newest one is not removed.
        """
        numbers = release_numbers(self.storage)
        if number not in numbers:
            raise no_release(self.storage, number)
        if number == numbers[-1]:
            raise ReleaseKept(f"Release {number} is the newest one of {self.location!r}, and is kept.")
        with clear_errors(f"Removing release {number} of {self.location!r}"):
            self.storage.delete(release_name(number))  # for good before its files go: it must not be back without them

    def remove_run(self, run_id: str) -> None:
        """Remove the record of a run, if there is one."""
        with clear_errors(f"Removing the record of run {run_id!r} in {self.location!r}"):
            self.storage.delete(record_name(run_id))

    def collect_garbage(
        self, older_than: timedelta = timedelta(days=7), *, without: Collection[int] = (), dry_run: bool = False
    ) -> Garbage:
        """Remove files that neither the newest versions nor any release needs.

        Nothing is removed when a release does not hold what was published.

        Args:
            older_than: minimum age; files written or removed from their table more recently stay: a worker may be
                about to commit them, a reader may be reading them.
            without: numbers of releases that count as removed, to report what removing them would free.
            dry_run: only report what would be removed.
        """
        releases = [release for release in self.releases() if release.number not in without]
        counts: dict[tuple[str, int], Mapping[str, int]] = {}
        needed: dict[str, set[str]] = defaultdict(set)
        for table in self._tables():
            for version, files in table.files_at(pinned(table, releases)):
                counts[table.name, version] = rows_by_stage(table.name, files)
                needed[table.name].update(file.path for file in files)
        for release in releases:
            # Files missing from a damaged log would be taken for garbage.
            check_counts(self.location, release, counts)
        with clear_errors(f"Removing temporary files of {self.location!r}"):
            removed = self.storage.remove_unfinished(older_than, dry_run=dry_run)
        for table in self._tables():
            stale = set(table.stale_files(older_than)) - needed[table.name]
            stale.update(table.spare_checkpoints(pinned(table, releases)))
            removed += self._remove_stale(table, sorted(stale), older_than, dry_run=dry_run)
        return Garbage(tuple(entry.name for entry in removed), sum(entry.bytes for entry in removed))

    def _remove_stale(self, table: Table, paths: Sequence[str], older_than: timedelta, *, dry_run: bool) -> list[Entry]:
        """Remove the old ones of some files; deltalake's vacuum would add two versions, and leave empty folders."""
        oldest = time.time() - older_than.total_seconds()
        with clear_errors(f"Removing files of table {table.name!r}"):
            entries = self.storage.stats(f"tables/{table.name}", [table.file(path) for path in paths])
            # A worker may since have written the same content again without having committed it yet.
            stale = [entry for entry in entries if isinstance(entry, Entry) and entry.modified / 1000 <= oldest]
            if not dry_run:
                self.storage.delete(*(entry.name for entry in stale))
        return stale
