"""The store of a build, opened: looked at by a command at once, and by the flow once more when it begins."""

from features.errors import RunError
from features.store.store import Store
from flows.project import Project


def open_store(settings: Project, *, only_failed: bool, adopt: bool = False) -> Store:
    """Return the store of a project, made where there is none.

    Args:
        settings: of the project.
        only_failed: what failed before is to run again: there must be a store, and something in it.
        adopt: take it although it belongs to another project.

    Raises:
        StoreError: it is not there, damaged, or another project's.
        RunError: nothing has failed before.
    """
    store = Store.open(settings.store, create=not only_failed, project=settings.name)
    if not adopt:
        store.check_owner(settings.name)
    if only_failed and not store.committed("sentences"):
        raise RunError(f"The store {str(store.path)!r} is empty, so no shard has failed: run `facetflow build`.")
    return store
