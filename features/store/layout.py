"""The layout of a store, and the file that identifies it.

    <root>/store.json               format, project, tables and their ids
    <root>/tables/<name>/           a Delta table; shard=…/fingerprint=…/<digest>.parquet
    <root>/releases/00001.json      versions that belong together (`features.store.releases`)
    <root>/runs/<run id>.json       what a flow run did (`features.store.runs`)
    <root>/ingest.json              what the corpora gave when they were last read (`features.ingest.unread`)
    <root>/graphs/<digest>.arrow    the user's graphs by sentence, if a project has some (`features.parsers.bank`)
    <root>/build.lock               the lease of the process that builds or cleans up (`Storage.lease`)

`store.json` is written last, so a store whose process died while making it is completed by the next.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from features.core.faults import NoStore, NotAStore, StoreDamaged, StoreVersion
from features.core.file_errors import clear_errors
from features.stages.registry import STAGES, TABLES
from features.store.delta import Table
from features.store.storage import Storage

FORMAT = 2
"""Version of the layout above, of the tables and of their rows. A store of another one is refused."""

_DESCRIPTION = "store.json"


def table_of(storage: Storage, name: str, table_id: str | None = None) -> Table:
    """Return a table of a store."""
    partitions = ("stage", "shard", "fingerprint") if name == "rejects" else ("shard", "fingerprint")
    extensible = name in STAGES and STAGES[name].extensible
    return Table(name, storage, TABLES[name], partitions, table_id, extensible=extensible)


@dataclass(frozen=True, slots=True)
class Description:
    """The content of `store.json`: table → id that it was made with, and the project that owns the store, if any."""

    tables: Mapping[str, str]
    project: str | None = None


def read(storage: Storage, *, or_empty: bool = False) -> Description:
    """Return the description of a store; with `or_empty`, of one without tables where `create` would make a store."""
    description = _description(storage)
    if description is None and not or_empty:
        raise NoStore(f"There is no store in {storage.location!r}; check the path, or make it with `facetflow build`.")
    return description or _nothing_yet(storage)


def create(storage: Storage, project: str | None = None) -> Description:
    """Make a store, or its missing parts, and return its description; a new one belongs to `project`."""
    known = _description(storage)
    description = known or _nothing_yet(storage, project)
    missing = [name for name in TABLES if name not in description.tables]
    if missing:
        with clear_errors(f"Making a store in {storage.location!r}"):
            tables = [table_of(storage, name) for name in missing]
            made = dict(zip(missing, storage.map(Table.create, tables), strict=True))
            description = replace(description, tables={**description.tables, **made})
            put = storage.put if known else storage.put_if_absent
            try:
                put(_DESCRIPTION, _written(description))
            except FileExistsError:  # another process has made it in the meantime, perhaps for another project
                return read(storage)
    return description


def claim(storage: Storage, project: str) -> Description:
    """Assign a store to a project, and return its new description."""
    description = replace(read(storage), project=project)
    with clear_errors(f"Describing the store in {storage.location!r}"):
        storage.put(_DESCRIPTION, _written(description))
    return description


def _written(description: Description) -> bytes:
    project = {} if description.project is None else {"project": description.project}
    content = json.dumps({"format": FORMAT, **project, "tables": dict(description.tables)}, indent=2) + "\n"
    return content.encode()


def _nothing_yet(storage: Storage, project: str | None = None) -> Description:
    """Describe a store that is to be made; refuse a folder that holds anything else."""
    with clear_errors(f"Opening the store {storage.location!r}"):
        others = [name for name in storage.names() if name != "tables"]
    if others:
        raise NotAStore(f"{storage.location!r} is not a store and holds {others[0]!r}; give an empty or a new folder.")
    return Description({}, project)


def _description(storage: Storage) -> Description | None:
    with clear_errors(f"Opening the store {storage.location!r}"):
        try:
            text = storage.read(_DESCRIPTION)
        except FileNotFoundError:
            return None
    try:
        content = json.loads(text)
        version, tables = int(content["format"]), dict(content["tables"])
        project = content.get("project")
    except (ValueError, KeyError, TypeError) as error:
        name = storage.url(_DESCRIPTION)
        raise StoreDamaged(f"{name!r} is damaged; restore it, or build a new store.") from error
    if version != FORMAT:
        raise StoreVersion(
            f"The store {storage.location!r} has format {version}, and this version of facetflow reads format "
            f"{FORMAT}: name another folder as `store` and build anew, or install the facetflow that made it."
        )
    return Description(tables, project)
