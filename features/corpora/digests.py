"""Digests of files; a file that did not change since its digest was recorded is not read for it again.

size, times and inode as recorded ──> the recorded digest
anything else                     ──> the file is read
"""

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from features.core.files import open_bytes

_GRANULARITY = 2_000_000_000
"""Nanoseconds within which two changes of a file may have one time: FAT has the coarsest clock."""


class Recorded(NamedTuple):
    """A digest, and the state of the file: bytes, modification and change in nanoseconds since 1970, inode."""

    size: int
    modified: int
    changed: int
    inode: int
    sha256: str


class Digests:
    """SHA-256 of files, decompressed; `recorded` are earlier ones by path."""

    def __init__(self, recorded: Mapping[str, Recorded]) -> None:
        self._recorded = recorded
        self._now: dict[str, Recorded] = {}
        self._young: set[str] = set()

    def of(self, path: Path) -> str:
        """Return the digest of a file; raise an InputError if it cannot be read."""
        name = str(path)
        if name not in self._now:
            begun, state = time.time_ns(), _state(path)
            before = self._recorded.get(name)
            if before is None or before[:4] != state:
                # As in git's index: another change may still get the time that this one has.
                if max(state[1:3]) > begun - _GRANULARITY:
                    self._young.add(name)
                with open_bytes(path, in_lines=False) as file:
                    before = Recorded(*state, hashlib.file_digest(file, "sha256").hexdigest())
            self._now[name] = before
        return self._now[name].sha256

    def to_record(self) -> dict[str, Recorded] | None:
        """Return the digests that a later process may rely on; None if a file has changed since its digest was made."""
        try:
            same = all(_state(Path(name)) == state[:4] for name, state in self._now.items())
        except OSError:
            return None
        return {name: state for name, state in self._now.items() if name not in self._young} if same else None


def _state(path: Path) -> tuple[int, int, int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
