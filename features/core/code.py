"""The source files of facetflow, which an upgrade may replace while a process runs.

What the process imports later, and workers and trainings that it starts, would be of the new code, under old recipes.
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
"""The digest when this process started."""


def check_code() -> None:
    """Refuse to go on after an upgrade."""
    try:
        replaced = code_digest() != OWN_CODE
    except OSError:  # pip removes files before it writes the new ones
        replaced = True
    if replaced:
        again = "run the same command again; what was committed or trained is kept"
        raise OtherCode(f"The code of facetflow was replaced while this command ran, as by an upgrade: {again}.")
