"""The source files of facetflow, which an upgrade replaces while processes run that began with others.

What a process imports later, and the workers and trainings that it starts, would have the new code, under old recipes.
"""

import hashlib
from functools import cache
from pathlib import Path

from features.core.faults import OtherCode

_ROOT = Path(__file__).parents[2]


def code_digest() -> str:
    """Return a hash of the files on the disk that decide what is in a shard or an encoder."""
    total = hashlib.blake2b(digest_size=8)
    for package in ("features", "tasks", "training"):
        for file in sorted((_ROOT / package).rglob("*.py")):
            total.update(f"{file.relative_to(_ROOT).as_posix()}\0".encode())
            total.update(file.read_bytes())
    return total.hexdigest()


own_code = cache(code_digest)
"""Return the same of the code that this process began with: as it was when first asked."""


def check_code() -> None:
    """Refuse to go on once the files on the disk are no longer those that this process began with."""
    try:
        same = code_digest() == own_code()
    except OSError:  # an upgrade takes files away before it brings others
        same = False
    if not same:
        raise OtherCode(
            "The code of facetflow was replaced while this command ran, as by an upgrade: run the same command again; "
            "what was finished is kept."
        )
