"""Where things are in a store, and the file that says what store it is.

<root>/store.json               format, tables and their ids
<root>/tables/<name>/           a Delta table; shard=…/fingerprint=…/<digest>.parquet
<root>/releases/00001.json      versions that belong together (`features.store.releases`)
<root>/runs/<run id>.json       what a flow run did (`features.store.runs`)
"""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from features.errors import StoreError
from features.store import folder
from features.store.delta import Table
from features.store.schemas import TABLES

FORMAT = 1
"""Version of the layout above. A store of a newer format is refused."""


def table_of(path: Path, name: str) -> Table:
    """Return a table of the store in the folder `path`."""
    partitions = ("stage", "shard", "fingerprint") if name == "rejects" else ("shard", "fingerprint")
    return Table(name, path / "tables" / name, TABLES[name], partitions)


def local_path(root: str | Path) -> Path:
    """Return the folder that a path or a `file://` URL names.

    Raises:
        StoreError: for the URL of anything else.
    """
    text = str(root)
    if "://" not in text:
        return Path(text).expanduser().absolute()
    url = urlsplit(text)
    if url.scheme != "file":
        raise StoreError(f"The store {text!r} is not on a file system; give a local or shared folder.")
    return Path(unquote(url.path))


def read_description(path: Path) -> dict[str, str] | None:
    """Return table → id of the store in the folder `path`, or None where there is no store.

    Raises:
        StoreError: when the file is damaged, or of a newer format.
    """
    file = path / "store.json"
    if not file.exists():
        return None
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        version, tables = int(content["format"]), dict(content["tables"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{str(file)!r} is damaged; restore it, or build a new store.") from error
    if version > FORMAT:
        raise StoreError(
            f"The store {str(path)!r} has format {version}, and this version of facetflow reads up to {FORMAT}; "
            "install a newer facetflow."
        )
    return tables


def write_description(path: Path, tables: Mapping[str, str]) -> None:
    """Write what store this is, which makes the folder `path` a store."""
    content = json.dumps({"format": FORMAT, "tables": dict(tables)}, indent=2) + "\n"
    folder.write(path, "store.json", content.encode())
