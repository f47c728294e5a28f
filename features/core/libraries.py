"""Libraries that an extra of facetflow brings: what to do where one is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from features.core.faults import LibraryMissing


@contextmanager
def importing(purpose: str, extra: str) -> Iterator[None]:
    """Name the extra to install where an import in the block fails; `purpose` says what needs which library."""
    try:
        yield
    except ImportError as error:
        raise LibraryMissing(f"{purpose}; run `pip install 'facetflow[{extra}]'`.") from error


def not_installed(error: ModuleNotFoundError) -> LibraryMissing | None:
    """Return the fault for a package that is missing; None where one is there in another version, without a part."""
    if "." in (error.name or "."):
        return None
    return LibraryMissing(f"The package {error.name!r} is missing: install it by `pip install 'facetflow[all]'`.")
