"""The store: who writes what, and what a reader sees.

    worker    write_shard ──> Parquet files, final names, in no table ──> Receipt     (`features.store.writing`)
    flow      commit(receipts) ──> verify ──> rejects ──> tables                      (`features.store.committing`)
    reader    read(table, version) ──> the files that the log names                   (`features.store.reading`)

A process may die between any two steps. What was written and not committed is invisible and written again; a receipt
that is committed twice changes nothing; a shard is in a table once or not at all.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import polars as pl

from features.errors import StoreError
from features.stages import StageOutput
from features.store import committing, garbage, layout, reading, writing
from features.store.delta import DataFile, Table
from features.store.fingerprints import Recipe
from features.store.garbage import Garbage
from features.store.plan import Stage
from features.store.provenance import Committed, Provenance, trace
from features.store.publishing import draft, same_content
from features.store.receipts import Receipt
from features.store.releases import Release, read_release, release_numbers, write_release
from features.store.runs import RunRecord, read_runs, write_run
from features.store.schemas import TABLES
from features.store.verifying import Damage, Verification, check_counts, damaged_files, refuse_damaged, verify
from features.types import Fingerprint, Shard


class Store:
    """A feature store in a folder. Open it with `Store.open`; it is small and picklable.

    Args:
        path: the folder.
        table_ids: table → id that it was made with; tables that are not there read as empty.
        project: name of the project whose store it is; None where the store does not say.
    """

    def __init__(self, path: Path, table_ids: Mapping[str, str], project: str | None = None) -> None:
        self.path = path
        self.project = project
        self._ids = dict(table_ids)

    @classmethod
    def open(
        cls, root: str | Path, *, create: bool = False, project: str | None = None, or_empty: bool = False
    ) -> "Store":
        """Open a store, and make it first where that is asked for and needed.

        Args:
            root: a folder, as a path or a `file://` URL.
            create: make what is missing: the folder, the tables. For the flow process only, never for workers.
            project: whose store a new one is.
            or_empty: where there is no store give an empty one that can only be read, and write nothing.

        Raises:
            StoreError: when there is no store, or it cannot be read, made or understood by this version.
        """
        path = layout.local_path(root)
        known = layout.create(path, project) if create else layout.read(path, or_empty=or_empty)
        return cls(path, known.tables, known.project)

    def check_owner(self, project: str) -> None:
        """Refuse the store of another project.

        Raises:
            StoreError: the store says that it is of another project.
        """
        if self.project not in (None, project):
            raise StoreError(
                f"The store {str(self.path)!r} belongs to the project {self.project!r}, and this one is {project!r}: "
                "name another folder as `store`, or take this one over with `facetflow build --adopt`."
            )

    def adopt(self, project: str) -> None:
        """Make this the store of a project, whatever it was before."""
        self.project = layout.claim(self.path, project).project

    @property
    def id(self) -> str:
        """The id of this store, the same wherever its folder is moved."""
        return self._ids["sentences"]

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(
        self,
        table: str,
        version: int | None = None,
        shards: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        with_shard: bool = False,
    ) -> pl.DataFrame:
        """Read rows, by shard and within a shard in the order they were written.

        Args:
            table: name of the table.
            version: version of the table; the newest by default.
            shards: these only; every one must be committed.
            columns: these only; all of the schema by default, and `stage` for `rejects`.
            with_shard: whether a last column `shard` says where a row comes from.

        Raises:
            StoreError: when a table, version, shard or column is missing, or a file is missing or damaged.
        """
        frame = self.scan(table, version, shards, columns, with_shard=with_shard)
        with reading.clear_errors(table, self.path):
            return frame.collect()

    def scan(
        self,
        table: str,
        version: int | None = None,
        shards: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        with_shard: bool = False,
    ) -> pl.LazyFrame:
        """Return what `read` reads as a lazy frame, for tables larger than memory.

        The frame stays at the version that is found now. A file whose content is damaged shows when the frame is
        collected, as an error of polars; one that is missing or cut short shows here.

        Raises:
            StoreError: when a table, version, shard or column is missing, or a file is missing or has another size.
        """
        exists = table in self._ids
        return reading.scan(self._table(table), version, shards, columns, with_shard=with_shard, exists=exists)

    def committed(self, table: str, version: int | None = None) -> dict[Shard, Committed]:
        """Return what is committed of every shard of a table, from the log alone; not for `rejects`."""
        if table == "rejects":
            raise StoreError("A shard may have rejects of several stages: ask rejected() instead of 'rejects'.")
        handle = self._table(table)
        if table not in self._ids:
            return {}  # there is no store yet, or one of a version without this table; the next build makes it
        return {file.shard: Committed(file.fingerprint, file.rows, file.bytes) for file in handle.files(version)}

    def files(self, table: str, version: int | None = None) -> dict[Shard, DataFile]:
        """Return the file of every shard of a table, from the log alone; equal names hold equal rows.

        Not for `rejects`, where a shard may have several.
        """
        if table == "rejects":
            raise StoreError("A shard may have rejects of several stages: ask rejected() instead of 'rejects'.")
        return {file.shard: file for file in self._table(table).files(version)} if table in self._ids else {}

    def rejected(self, version: int | None = None) -> dict[tuple[str, Shard], Committed]:
        """Return the committed rejects of every stage and shard that has any, from the log alone."""
        if "rejects" not in self._ids:
            return {}
        files = self._table("rejects").files(version)
        return {(file.stage or "", file.shard): Committed(file.fingerprint, file.rows, file.bytes) for file in files}

    def versions(self) -> dict[str, int]:
        """Return the newest version of every table."""
        return {name: self._table(name).version() for name in TABLES}

    def provenance(self, table: str, *, first: bool = False) -> dict[tuple[Shard, Fingerprint], Provenance]:
        """Return where every shard that was ever committed to a table comes from; reads the whole log.

        Args:
            table: name of the table.
            first: tell the first time that a shard was committed as it is, instead of the last.
        """
        return trace(self._table(table), first=first)

    # -- verifying ---------------------------------------------------------------------------------------------------

    def damaged(self, versions: Mapping[str, int] | None = None, *, deep: bool = False) -> list[Damage]:
        """Return committed files that are missing, or not what was written.

        Args:
            versions: table → version to look at; the newest of every table by default.
            deep: read every byte; otherwise only files that were changed after they were committed, as their time says.

        Raises:
            StoreError: when the log of a table cannot be read.
        """
        at: Mapping[str, int | None] = dict.fromkeys(TABLES) if versions is None else versions
        return [
            damage
            for name, version in at.items()
            if name in self._ids
            for damage in damaged_files(self._table(name), self._table(name).files(version), deep=deep)
        ]

    def is_whole(self, stage: str, shard: Shard) -> bool:
        """Return whether the committed rows and rejects of one shard are what was written, to the last byte."""
        tables = [self._table(stage), self._table("rejects")]
        files = [[file for file in table.files() if file.key in {(None, shard), (stage, shard)}] for table in tables]
        return not any(damaged_files(table, of, deep=True) for table, of in zip(tables, files, strict=True))

    def verify_files(self, versions: Mapping[str, int] | None = None, *, deep: bool = True) -> None:
        """Refuse a store with damaged files; for readers that must not learn from wrong rows.

        Args:
            versions: table → version to look at, as of a release; the newest of every table by default.
            deep: as for `damaged`.

        Raises:
            StoreError: when a file is missing or not what was written; names the first.
        """
        refuse_damaged(self, self.damaged(versions, deep=deep))

    def verify(self, *, deep: bool = False) -> Verification:
        """Look at every file that the newest versions and all releases need; nothing is raised for what is found.

        Args:
            deep: as for `damaged`.
        """
        return verify(self, [self._table(name) for name in TABLES if name in self._ids], self.releases(), deep=deep)

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
        """Write a shard's rows and rejects as files that are in no table yet.

        Args:
            table: the table, which is also the name of the stage.
            shard: the shard.
            fingerprint: what was done, and to what.
            output: rows and rejects.
            expected: rows that went in, when each must come out as a row or a reject.
            seconds: time the stage took, for the record of the run.

        Raises:
            StoreError: when columns or types are not those of the table, an id is there twice, rows are lost, or the
                file system refuses.
        """
        if table == "rejects":
            raise StoreError("Rejects are written with the rows of their stage, or by write_rejects().")
        return writing.write_shard(
            self._table(table),
            self._table("rejects"),
            Shard(shard),
            Fingerprint(fingerprint),
            output,
            expected=expected,
            seconds=seconds,
        )

    def write_rejects(self, stage: str, shard: str, fingerprint: str, rejects: pl.DataFrame) -> Receipt:
        """Write rejects of a stage that has no table of its own: ingest, whose rejects are rows of files.

        Args:
            stage: name of the stage.
            shard: what the rejects are kept under; the next commit under this name replaces them.
            fingerprint: what was done, and to what.
            rejects: the rejects; may be empty, which clears what was there.
        """
        return writing.write_rejects(self._table("rejects"), stage, Shard(shard), Fingerprint(fingerprint), rejects)

    # -- committing, in the flow process -----------------------------------------------------------------------------

    def commit(
        self,
        receipts: Iterable[Receipt],
        *,
        run_id: str,
        recipes: Mapping[str, Recipe],
        code_version: str | None = None,
    ) -> dict[str, int]:
        """Make written shards part of their tables: first the rejects of all, then each table in one transaction.

        Args:
            receipts: what workers returned; several of one shard are fine when they have one fingerprint (the last
                counts), and what is committed already changes nothing.
            run_id: the run, kept with the commit.
            recipes: stage → how it was made; the identity of every receipt must be that of its recipe.
            code_version: kept with the commit; this package's version by default.

        Returns:
            Version, by table that has receipts (and `rejects`).

        Raises:
            StoreError: when a file is missing or is not what the receipt says, rows are lost, a recipe is not that of
                the receipt, or a table cannot be written. Tables are committed one after the other: those before the
                failing one stay committed, and each is whole.
        """
        tables = {name: self._table(name) for name in TABLES}
        return committing.commit(tables, receipts, run_id=run_id, recipes=recipes, code_version=code_version)

    # -- releases, runs, garbage -------------------------------------------------------------------------------------

    def publish(
        self,
        run_id: str,
        versions: Mapping[str, int] | None = None,
        *,
        stages: Sequence[Stage],
        failed_shards: float = 0.0,
        rejected_rows: float = 1.0,
    ) -> Release:
        """Publish versions of the tables as the next release, or return the newest one if nothing changed since.

        Args:
            run_id: the run, kept with the release.
            versions: table → version; the newest by default.
            stages: the chain that the release has to be complete for.
            failed_shards: share of a stage's shards that may be missing, from 0 to 1. One made by an older recipe or
                from older input is never accepted: a release does not mix.
            rejected_rows: share of a stage's rows that may be rejected, from 0 to 1.

        Raises:
            StoreError: when a stage is incomplete, mixed, or rejected too much; nothing is published then.
        """
        at = self.versions() | dict(versions or {})
        release = draft(self, at, stages, run_id=run_id, failed_shards=failed_shards, rejected_rows=rejected_rows)
        numbers = release_numbers(self.path)
        if numbers and same_content(newest := read_release(self.path, numbers[-1]), release):
            return newest
        release = dataclasses.replace(release, number=numbers[-1] + 1 if numbers else 1)
        write_release(self.path, release)
        return release

    def release(self, number: int) -> Release:
        """Return a release by its number.

        Raises:
            StoreError: when there is no such release, or its tables do not hold the rows that were published.
        """
        release = read_release(self.path, number)
        check_counts(self, release)
        return release

    def releases(self) -> list[Release]:
        """Return all releases as they were published, oldest first; `release` and `verify` check what they hold."""
        return [read_release(self.path, number) for number in release_numbers(self.path)]

    def latest_release(self) -> Release:
        """Return the newest release.

        Raises:
            StoreError: before the first release, or as for `release`.
        """
        numbers = release_numbers(self.path)
        if not numbers:
            raise StoreError(f"The store {str(self.path)!r} has no release yet; build first.")
        return self.release(numbers[-1])

    def record_run(self, record: RunRecord) -> None:
        """Keep the record of a run, in the place of an earlier one of the same run."""
        write_run(self.path, record)

    def runs(self) -> list[RunRecord]:
        """Return the records of all runs, newest first."""
        return read_runs(self.path)

    def collect_garbage(self, older_than: timedelta = timedelta(days=7), *, dry_run: bool = False) -> Garbage:
        """Remove files that neither the newest versions nor any release needs.

        Args:
            older_than: what was written, or left its table, later than that stays: a worker may be about to commit it,
                a reader may be reading it.
            dry_run: tell only what would be removed.

        Raises:
            StoreError: when a release does not hold what was published; nothing is removed then.
        """
        if older_than < timedelta(0):
            raise StoreError(f"The age {str(older_than)!r} of garbage is negative; give 0 or more.")
        pinned = self.releases()
        for release in pinned:
            # What a damaged log does not name would be taken for garbage.
            check_counts(self, release)
        found = [garbage.collect_loose(self.path, older_than, dry_run=dry_run)]
        for name in (name for name in TABLES if name in self._ids):
            keep = {release.versions[name] for release in pinned if name in release.versions}
            found.append(garbage.collect(self.path, self._table(name), keep, older_than, dry_run=dry_run))
        return Garbage(tuple(file for part in found for file in part.files), sum(part.bytes for part in found))

    def _table(self, name: str) -> Table:
        if name not in TABLES:
            raise StoreError(f"There is no table {name!r}; there are {', '.join(TABLES)}.")
        return layout.table_of(self.path, name, self._ids.get(name))
