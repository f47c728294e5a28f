"""The source files of facetflow: an upgrade replaces them while a process runs that began with others.

What it imports later, and workers and trainings that it starts, would have the new code, under its old recipes.
"""

import hashlib
from pathlib import Path

from features.core.faults import OtherCode

_ROOT = Path(__file__).parents[2]


def code_digest() -> str:
    """Return a hash of the files, as they are now, that decide what is in a shard or an encoder."""
    total = hashlib.blake2b(digest_size=8)
    for file in sorted(file for name in ("features", "tasks", "training") for file in (_ROOT / name).rglob("[!.]*.py")):
        total.update(f"{file.relative_to(_ROOT).as_posix()}\0".encode())
        total.update(file.read_bytes())
    return total.hexdigest()


OWN_CODE = code_digest()
"""That with which this process began."""


def check_code() -> None:
    """Refuse to go on after an upgrade."""
    try:
        same = code_digest() == OWN_CODE
    except OSError:  # it takes files away before it brings others
        same = False
    if not same:
        again = "run the same command again; what was committed or trained is kept"
        raise OtherCode(f"The code of facetflow was replaced while this command ran, as by an upgrade: {again}.")
