"""Environment variables set temporarily, for this process and those that it starts meanwhile."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def exported(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                del os.environ[name]
            else:
                os.environ[name] = earlier
