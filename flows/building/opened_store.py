"""Opening the store of a build: checked by a command at once, and again by the flow when it begins."""

from features.core.faults import NoRelease
from features.store.store import Store
from flows.project import Project


def open_store(settings: Project, *, only_failed: bool, adopt: bool = False) -> Store:
    """Return the store of a project, created if missing.

    Args:
        settings: settings of the project.
        only_failed: whether only failed shards are rerun: there must be a store that is not empty.
        adopt: open it although it belongs to another project.

    Raises:
        StoreError: it is missing, damaged, or belongs to another project.
        RunError: nothing has failed before.
    """
    store = Store.open(settings.store, create=not only_failed, project=settings.name)
    if not adopt:
        store.check_owner(settings.name)
    if only_failed and not store.committed("sentences"):
        raise NoRelease(f"The store {store.location!r} is empty, so no shard has failed: run `facetflow build`.")
    return store
