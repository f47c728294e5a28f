"""The store: who writes what, and what a reader sees.

    worker    write_shard ──> a Parquet file under a final name, in no table ──> Receipt
    flow      commit(receipts) ──> verify ──> rejects ──> tables: one transaction each
    reader    read(table, version) ──> the files that the log names, whole shards only

A process may die between any two steps. What was written and not committed is invisible and written again; a receipt
that is committed twice changes nothing; a shard is in a table once or not at all.
"""

import dataclasses
import hashlib
import importlib.metadata
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl

from features.errors import StoreError
from features.stages import StageOutput
from features.store import folder
from features.store.checks import check_columns, check_conservation, check_ids
from features.store.delta import DataFile, NewFile, Table
from features.store.fingerprints import Recipe, identity, identity_of
from features.store.garbage import Garbage, collect, collect_loose
from features.store.layout import local_path, read_description, table_of, write_description
from features.store.plan import Stage
from features.store.publishing import draft, same_content
from features.store.receipts import Receipt, WrittenFile
from features.store.releases import Release, read_release, release_numbers, write_release
from features.store.runs import RunRecord, read_runs, write_run
from features.store.schemas import REJECTS, TABLES, Columns
from features.types import Fingerprint, Shard

_FILE_PATH = "__file"
_PANIC: type[BaseException] = pl.exceptions.PanicException


@dataclass(frozen=True, slots=True)
class Committed:
    """What the log knows of a committed shard: what was done to what, its rows, and its size in bytes."""

    fingerprint: Fingerprint
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a committed shard comes from.

    Args:
        version: version of the table in which the shard appeared.
        run_id: the run that committed it.
        code_version: version of this package that ran.
        recipe: how it was made; None when the commit does not say.
        versions: versions of all tables just before that commit, which tell what the shard was made from.
    """

    version: int
    run_id: str
    code_version: str
    recipe: Recipe | None
    versions: Mapping[str, int]


class Store:
    """A feature store in a folder. Open it with `Store.open`; it is small and picklable.

    Args:
        path: the folder.
        table_ids: ids of the tables as they were made, to notice a table that was deleted and made again.
    """

    def __init__(self, path: Path, table_ids: Mapping[str, str]) -> None:
        self.path = path
        self._ids = dict(table_ids)

    @classmethod
    def open(cls, root: str | Path, *, create: bool = False) -> "Store":
        """Open a store, and make it first where that is asked for and needed.

        Args:
            root: a folder, as a path or a `file://` URL.
            create: make what is missing: the folder, the tables. For the flow process only, never for workers.

        Raises:
            StoreError: when there is no store, or it cannot be read, made or understood by this version.
        """
        path = local_path(root)
        with folder.clear_errors(f"Opening the store {str(path)!r}"):
            if path.exists() and not path.is_dir():
                raise StoreError(f"The store {str(path)!r} is a file; give a folder.")
            description = read_description(path)
            if description is None and not create:
                raise StoreError(f"There is no store in {str(path)!r}; check the path, or build one.")
            if description is None and path.is_dir() and any(entry.name != "tables" for entry in path.iterdir()):
                raise StoreError(f"{str(path)!r} has files but is no store; give an empty or a new folder.")
            known = description or {}
            if not known.keys() >= TABLES.keys() and create:
                known = {**known, **{name: table_of(path, name).create() for name in TABLES if name not in known}}
                write_description(path, known)
        return cls(path, known)

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
            StoreError: when a table, shard or column is missing, or a file is missing or damaged.
        """
        frame = self.scan(table, version, shards, columns, with_shard=with_shard)
        where = f"Reading table {table!r} in {str(self.path)!r} failed"
        try:
            return frame.collect()
        except (pl.exceptions.PolarsError, OSError, _PANIC) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise StoreError(
                f"{where}: a file is damaged ({reason}); delete the table's folder from a copy, or build a new store."
            ) from error

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

        The frame is fixed to the version found now. Errors in the content of a file appear when it is collected, as
        polars raises them.

        Raises:
            StoreError: when a table, shard or column is missing, or a file is missing or has another size.
        """
        files = self._select(table, version, shards)
        schema = dict(self._columns(table))
        if table == "rejects":
            schema["stage"] = pl.String
        wanted = list(columns) if columns is not None else list(schema)
        if unknown := [name for name in wanted if name not in schema]:
            raise StoreError(f"Table {table!r} has no column {unknown[0]!r}; it has {', '.join(schema)}.")
        base = self._table(table).path
        by_path = {str(base / file.path): file for file in files}
        self._check_sizes(table, by_path)
        if not files:
            frame = pl.LazyFrame(schema={**schema, "shard": pl.String})
        else:
            frame = pl.scan_parquet(
                list(by_path), glob=False, hive_partitioning=False, include_file_paths=_FILE_PATH
            ).with_columns(
                pl.col(_FILE_PATH)
                .replace_strict({path: file.shard for path, file in by_path.items()}, return_dtype=pl.String)
                .alias("shard"),
                *(
                    pl.col(_FILE_PATH)
                    .replace_strict({path: file.stage for path, file in by_path.items()}, return_dtype=pl.String)
                    .alias("stage")
                    for _ in range(table == "rejects")
                ),
            )
        return frame.select([*wanted, "shard"] if with_shard else wanted)

    def committed(self, table: str, version: int | None = None) -> dict[Shard, Committed]:
        """Return what is committed of every shard of a table, from the log alone; not for `rejects`."""
        if table == "rejects":
            raise StoreError("A shard may have rejects of several stages: ask for rejected() instead of 'rejects'.")
        return {
            file.shard: Committed(file.fingerprint, file.rows, file.bytes) for file in self._table(table).files(version)
        }

    def rejected(self, version: int | None = None) -> dict[tuple[str, Shard], Committed]:
        """Return the committed rejects of every stage and shard that has any, from the log alone."""
        return {
            (file.stage or "", file.shard): Committed(file.fingerprint, file.rows, file.bytes)
            for file in self._table("rejects").files(version)
        }

    def versions(self) -> dict[str, int]:
        """Return the newest version of every table."""
        return {name: self._table(name).version() for name in TABLES}

    def provenance(self, table: str) -> dict[tuple[Shard, Fingerprint], Provenance]:
        """Return where every shard that was ever committed to a table comes from; reads the whole log."""
        found: dict[tuple[Shard, Fingerprint], Provenance] = {}
        for record in self._table(table).history():
            recipes = record.content.get("recipes", {})
            for shard, made in record.content.get("shards", {}).items():
                recipe = recipes.get(identity_of(Fingerprint(made)))
                found.setdefault(
                    (Shard(shard), Fingerprint(made)),
                    Provenance(
                        record.version,
                        record.content.get("run_id", ""),
                        record.content.get("code_version", ""),
                        Recipe.from_dict(recipe) if recipe else None,
                        record.content.get("versions", {}),
                    ),
                )
        return found

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
        columns = self._columns(table)
        if table == "rejects":
            raise StoreError("Rejects are written with the rows of their stage, or by write_rejects().")
        where = f"shard {shard!r} of table {table!r}"
        check_columns(output.rows, columns, where)
        check_columns(output.rejects, REJECTS, f"the rejects of {where}")
        check_ids(output, next(iter(columns)), where)
        check_conservation(output.rows.height, output.rejects.height, expected, where)
        return Receipt(
            stage=table,
            shard=Shard(shard),
            fingerprint=Fingerprint(fingerprint),
            data=self._write(table, f"shard={shard}/fingerprint={fingerprint}", output.rows),
            reject_data=self._write_rejects(table, shard, fingerprint, output.rejects),
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
        check_columns(rejects, REJECTS, f"the rejects of {shard!r} of stage {stage!r}")
        return Receipt(
            stage=stage,
            shard=Shard(shard),
            fingerprint=Fingerprint(fingerprint),
            data=None,
            reject_data=self._write_rejects(stage, shard, fingerprint, rejects),
        )

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
        unique = _unique(receipts)
        for receipt in unique:
            self._verify(receipt, recipes)
        if not unique:
            return {}
        metadata = {
            "run_id": run_id,
            "code_version": code_version or importlib.metadata.version("facetflow"),
        }
        start = self.versions()
        versions = {"rejects": self._commit_rejects(unique, metadata | {"versions": start}, recipes)}
        for table in TABLES:
            mine = [receipt for receipt in unique if receipt.table == table and receipt.data]
            if mine:
                new = [NewFile(r.data, r.shard, r.fingerprint, None) for r in mine if r.data]
                said = metadata | {"versions": start | versions} | _described(mine, recipes)
                versions[table] = self._table(table).replace(new, (), said)
        return versions

    def _commit_rejects(
        self, receipts: Sequence[Receipt], metadata: dict[str, Any], recipes: Mapping[str, Recipe]
    ) -> int:
        with_rejects = [receipt for receipt in receipts if receipt.reject_data]
        return self._table("rejects").replace(
            [NewFile(r.reject_data, r.shard, r.fingerprint, r.stage) for r in with_rejects if r.reject_data],
            [(receipt.stage, receipt.shard) for receipt in receipts if not receipt.reject_data],
            metadata | _described(with_rejects, recipes),
        )

    def _verify(self, receipt: Receipt, recipes: Mapping[str, Recipe]) -> None:
        where = f"shard {receipt.shard!r} of stage {receipt.stage!r}"
        recipe = recipes.get(receipt.stage)
        if recipe is None:
            raise StoreError(f"There is no recipe for {where}; give the recipe of every stage that is committed.")
        if identity(recipe) != identity_of(receipt.fingerprint):
            raise StoreError(
                f"The fingerprint {receipt.fingerprint!r} of {where} is not of the recipe given ({identity(recipe)!r}"
                "); plan again with the settings in use."
            )
        check_conservation(receipt.rows, receipt.rejects, receipt.expected, where)
        for table, file in ((receipt.table, receipt.data), ("rejects", receipt.reject_data)):
            if file:
                self._verify_file(self._table(table).path / file.path, file, where)

    def _verify_file(self, path: Path, file: WrittenFile, where: str) -> None:
        try:
            same = path.stat().st_size == file.bytes and folder.sha256(path) == file.sha256
        except OSError as error:
            raise StoreError(f"The file {str(path)!r} of {where} cannot be read; run the shard again.") from error
        if not same:
            raise StoreError(f"The file {str(path)!r} of {where} is not what was written; run the shard again.")

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
        """Return a release by its number."""
        return read_release(self.path, number)

    def releases(self) -> list[Release]:
        """Return all releases, oldest first."""
        return [read_release(self.path, number) for number in release_numbers(self.path)]

    def latest_release(self) -> Release | None:
        """Return the newest release, None before the first."""
        numbers = release_numbers(self.path)
        return read_release(self.path, numbers[-1]) if numbers else None

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
        """
        if older_than < timedelta(0):
            raise StoreError(f"The age {str(older_than)!r} of garbage is negative; give 0 or more.")
        pinned = self.releases()
        found = [collect_loose(self.path, older_than, dry_run=dry_run)]
        for name in TABLES:
            keep = {release.versions[name] for release in pinned if name in release.versions}
            found.append(collect(self.path, self._table(name), keep, older_than, dry_run=dry_run))
        return Garbage(
            tuple(file for garbage in found for file in garbage.files), sum(garbage.bytes for garbage in found)
        )

    # -- files -------------------------------------------------------------------------------------------------------

    def _write_rejects(self, stage: str, shard: str, fingerprint: str, rejects: pl.DataFrame) -> WrittenFile | None:
        if rejects.is_empty():
            return None
        return self._write("rejects", f"stage={stage}/shard={shard}/fingerprint={fingerprint}", rejects)

    def _write(self, table: str, partition: str, rows: pl.DataFrame) -> WrittenFile:
        buffer = io.BytesIO()
        rows.write_parquet(buffer, compression="zstd")
        content = buffer.getvalue()
        digest = hashlib.sha256(content).hexdigest()
        # Named by content: a shard that is written again after a crash is the same file, not one more.
        name = f"{partition}/{digest[:20]}.parquet"
        with folder.clear_errors(f"Writing {name!r} of table {table!r} in {str(self.path)!r}"):
            folder.write(self._table(table).path, name, content)
        return WrittenFile(name, rows.height, len(content), digest)

    def _select(self, table: str, version: int | None, shards: Collection[str] | None) -> list[DataFile]:
        files = self._table(table).files(version)
        if shards is None:
            return files
        wanted = set(shards)
        # A shard without rejects has no file there.
        missing = wanted - {file.shard for file in files} if table != "rejects" else set()
        if missing:
            raise StoreError(f"Shard {min(missing)!r} is not committed to table {table!r} in {str(self.path)!r}.")
        return [file for file in files if file.shard in wanted]

    def _check_sizes(self, table: str, files: Mapping[str, DataFile]) -> None:
        # polars panics, and cannot be caught cleanly everywhere, when a file is shorter than it believes.
        for path, file in files.items():
            try:
                size = Path(path).stat().st_size
            except OSError as error:
                raise StoreError(
                    f"The file {path!r} of table {table!r} cannot be read: {folder.explain(error)}; restore it."
                ) from error
            if size != file.bytes:
                raise StoreError(
                    f"The file {path!r} of table {table!r} has {size} bytes instead of {file.bytes}; restore it."
                )

    def _columns(self, table: str) -> Columns:
        if table not in TABLES:
            raise StoreError(f"There is no table {table!r}; there are {', '.join(TABLES)}.")
        return TABLES[table]

    def _table(self, name: str) -> Table:
        self._columns(name)
        return table_of(self.path, name)


def _unique(receipts: Iterable[Receipt]) -> list[Receipt]:
    unique: dict[tuple[str, Shard], Receipt] = {}
    for receipt in receipts:
        other = unique.get((receipt.stage, receipt.shard))
        if other and other.fingerprint != receipt.fingerprint:
            raise StoreError(
                f"Shard {receipt.shard!r} of stage {receipt.stage!r} was made in two ways ({other.fingerprint!r} and "
                f"{receipt.fingerprint!r}); commit one of them."
            )
        unique[receipt.stage, receipt.shard] = receipt
    return list(unique.values())


def _described(receipts: Sequence[Receipt], recipes: Mapping[str, Recipe]) -> dict[str, Any]:
    used = {receipt.stage: recipes[receipt.stage] for receipt in receipts}
    return {
        "shards": {receipt.shard: receipt.fingerprint for receipt in receipts},
        "recipes": {identity(recipe): recipe.as_dict() for recipe in used.values()},
    }
