"""Libraries that an extra of facetflow brings: what to do where one is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from features.core.faults import LibraryMissing


@contextmanager
def importing(purpose: str, extra: str) -> Iterator[None]:
    """Import what an extra brings in the block; `purpose` begins the error where it is missing: what needs which."""
    try:
        yield
    except ImportError as error:
        raise LibraryMissing(f"{purpose}; run `pip install 'facetflow[{extra}]'`.") from error
