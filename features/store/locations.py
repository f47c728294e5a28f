"""Which storage the location of a store names."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from features.core.faults import StorePathWrong
from features.core.libraries import importing
from features.store.storage import FolderStorage, Storage

Location = str | Path
"""A folder, as a path or a `file://` URL, or the URL of another storage."""


def _objects(url: str) -> Storage:
    with importing(f"The store {url!r} needs obstore", "objects"):
        from features.store.object_storage import ObjectStorage  # which needs a library that only its users install
    return ObjectStorage(url)


STORAGES: dict[str, Callable[[str], Storage]] = {
    "file": lambda url: FolderStorage(str(Path(unquote(urlsplit(url).path)))),
    **dict.fromkeys(("s3", "gs", "az"), _objects),
}
"""Scheme of a URL → the storage behind it."""


def storage_at(location: Location) -> Storage:
    """Return the storage that a path or a URL names."""
    text = str(location)
    if "://" not in text:
        storage: Storage = FolderStorage(str(Path(text).expanduser().absolute()))
    elif (scheme := urlsplit(text).scheme) in STORAGES:
        storage = STORAGES[scheme](text)
    else:
        raise StorePathWrong(
            f"The store {text!r} is neither a folder nor one of {', '.join(f'{name}://' for name in STORAGES)}."
        )
    signs = "%\\\n\0" if storage.options is None else "%\\\n\0#"  # what follows a # is no part of a URL's path
    if wrong := next((sign for sign in storage.location if sign in signs or "\ud800" <= sign <= "\udfff"), None):
        # deltalake 1.6.6 decodes `%20` in paths as well as in URLs, takes `\` for a slash, and reads another folder; a
        # path with a line break, or a byte that is not UTF-8, it reads not at all.
        raise StorePathWrong(f"The path {storage.location!r} of a store cannot contain {wrong!r}; give another folder.")
    return storage
