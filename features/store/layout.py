"""The layout of a store, and the file that identifies it.

    <root>/store.json               format, project, tables and their ids
    <root>/tables/<name>/           a Delta table; shard=…/fingerprint=…/<digest>.parquet
    <root>/releases/00001.json      versions that belong together (`features.store.releases`)
    <root>/runs/<run id>.json       what a flow run did (`features.store.runs`)

`store.json` is written last, so a store whose process died while making it is completed by the next.
"""

import errno
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from features.core import leftovers
from features.core.durable import sync
from features.core.errors import StoreError
from features.core.file_errors import explain
from features.stages.registry import STAGES
from features.store import folder
from features.store.delta import Table
from features.store.tables import TABLES

FORMAT = 2
"""Version of the layout above, of the tables and of their rows. A store of another one is refused."""

_DESCRIPTION = "store.json"


def local_path(root: str | Path) -> Path:
    """Return the folder that a path or a `file://` URL names.

    Raises:
        StoreError: for a URL of another scheme, and for a path with `%`.
    """
    text = str(root)
    path = Path(text).expanduser().absolute()
    if "://" in text:
        url = urlsplit(text)
        if url.scheme != "file":
            raise StoreError(
                f"The store {text!r} is not on a file system; give a local folder, or one that all workers share."
            )
        path = Path(unquote(url.path))
    if "%" in str(path):
        # deltalake 1.6.6 decodes `%20` in paths as well as in URLs, and then reads another folder.
        raise StoreError(f"The path {str(path)!r} of a store cannot contain '%'; give another folder.")
    return path


def table_of(path: Path, name: str, table_id: str | None = None) -> Table:
    """Return a table of the store in the folder `path`."""
    partitions = ("stage", "shard", "fingerprint") if name == "rejects" else ("shard", "fingerprint")
    extensible = name in STAGES and STAGES[name].extensible
    return Table(name, path / "tables" / name, TABLES[name], partitions, table_id, extensible=extensible)


@dataclass(frozen=True, slots=True)
class Description:
    """The content of `store.json`.

    Args:
        tables: table → id that it was made with.
        project: name of the project that owns the store; None if it was made without one.
    """

    tables: Mapping[str, str]
    project: str | None = None


def read(path: Path, *, or_empty: bool = False) -> Description:
    """Return the description of the store in the folder `path`.

    Args:
        path: the folder.
        or_empty: where `create` would make a store, describe one without tables instead of refusing.

    Raises:
        StoreError: when there is no store, or it is damaged or of another format.
    """
    known = _description(path)
    if known is None and or_empty:
        _check_free(path)
        return Description({})
    if known is None:
        raise StoreError(f"There is no store in {str(path)!r}; check the path, or make it with `facetflow build`.")
    return known


def create(path: Path, project: str | None = None) -> Description:
    """Make a store in the folder `path`, or its missing parts, and return its description.

    Args:
        path: the folder.
        project: the project that owns a new store.

    Raises:
        StoreError: when the folder holds something else, or cannot be written.
    """
    known = _description(path)
    if known is None:
        _check_free(path)
        known = Description({}, project)
    missing = [name for name in TABLES if name not in known.tables]
    if missing:
        with folder.clear_errors(f"Making a store in {str(path)!r}"):
            (path / "tables").mkdir(parents=True, exist_ok=True)
            known = replace(known, tables={**known.tables, **{name: _create_table(path, name) for name in missing}})
            _describe(path, known)
    return known


def claim(path: Path, project: str) -> Description:
    """Assign the store in the folder `path` to a project, and return its new description."""
    known = replace(read(path), project=project)
    with folder.clear_errors(f"Describing the store in {str(path)!r}"):
        _describe(path, known)
    return known


def _describe(path: Path, known: Description) -> None:
    project = {} if known.project is None else {"project": known.project}
    content = json.dumps({"format": FORMAT, **project, "tables": dict(known.tables)}, indent=2) + "\n"
    folder.write(path, _DESCRIPTION, content.encode())


def _check_free(path: Path) -> None:
    """Refuse a folder that holds anything that does not belong to a store."""
    with folder.clear_errors(f"Opening the store {str(path)!r}"):
        others = [entry.name for entry in path.iterdir() if not _ours(entry.name)] if path.exists() else []
    if others:
        raise StoreError(f"{str(path)!r} is not a store and holds {min(others)!r}; give an empty or a new folder.")


def _create_table(path: Path, name: str) -> str:
    """Make a table, or use the one that another process made; return its id."""
    table = table_of(path, name)
    temporary = path / f"{folder.TEMPORARY}{uuid.uuid4().hex}"
    if not table.path.exists():
        with leftovers.held_folder(temporary):
            try:
                Table(name, temporary, table.columns, table.partitions).create()
                temporary.rename(table.path)
                sync(table.path.parent)
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise
    return table.id()


def _ours(name: str) -> bool:
    return name == "tables" or name.startswith(folder.TEMPORARY)


def _description(path: Path) -> Description | None:
    file = path / _DESCRIPTION
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        version, tables = int(content["format"]), dict(content["tables"])
        project = content.get("project")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"Opening the store {str(path)!r} failed: {explain(error)}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{str(file)!r} is damaged; restore it, or build a new store.") from error
    if version != FORMAT:
        raise StoreError(
            f"The store {str(path)!r} has format {version}, and this version of facetflow reads format {FORMAT}: name "
            "another folder as `store` and build anew, or install the facetflow that made it."
        )
    return Description(tables, project)
