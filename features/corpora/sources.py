"""Where the files of a corpus are, and their digests, for which a file that did not change is not read again.

size, times and inode as recorded ──> the recorded digest
anything else                     ──> the file is read
"""

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from glob import glob
from importlib.resources import files as package_files
from pathlib import Path
from typing import NamedTuple

from features.core.faults import FileMissing, NotAFile, SplitUnclear
from features.core.files import changed, open_bytes
from features.core.types import SPLITS, Split
from features.core.wording import counted
from features.corpora.dataset import Dataset, GraphLayout, TableLayout
from features.corpora.settings import CorpusSettings, EvaluationSet, Files

_GRANULARITY = 2_000_000_000
"""Nanoseconds within which two changes of a file may have one time: FAT has the coarsest clock."""


class Source(NamedTuple):
    """A file to read, named as the user wrote it, with the split to read, or several if it has a column of them.

    `partner` is the file of sentences b, if sentences a and b are in two files.
    """

    path: Path
    name: str
    splits: tuple[Split, ...]
    partner: Path | None = None


def locate(named: CorpusSettings | EvaluationSet, files: Mapping[Split, Files], base: Path) -> list[Source]:
    """Return the files to read of a corpus or an evaluation set, each once, in the order of the splits.

    `files` are its paths or patterns by split, or some of them, relative to `base`; none for data that come with
    facetflow.

    Raises:
        InputError: a file does not exist or is a folder, no file matches a pattern, or graphs are not in two files.
    """
    dataset, key = named.record, named.files_key
    if not files and dataset.package_file is not None:
        path = Path(str(package_files("features.corpora"))) / dataset.package_file
        return [Source(path, f"{dataset.name}/{path.name}", SPLITS)]
    if isinstance(dataset.layouts[0], GraphLayout):
        return [
            _parallel(dataset, split, _expand(files[split], base, key.format(split=split)))
            for split in SPLITS
            if split in files
        ]
    wanted: dict[Path, Source] = {}
    for split in SPLITS:
        for path, name in _expand(files.get(split, ()), base, key.format(split=split)):
            file = path.resolve()
            before = wanted[file].splits if file in wanted else ()
            wanted[file] = Source(path, name, tuple(dict.fromkeys((*before, split))))
    return list(wanted.values())


def _expand(files: Files, base: Path, key: str) -> list[tuple[Path, str]]:
    """Return the files behind paths and patterns, each with its name in messages; `key` is the setting, for these."""
    expanded: list[tuple[Path, str]] = []
    for name in (files,) if isinstance(files, str) else files:
        path = base / os.path.expanduser(name)  # noqa: PTH111 - the method raises for a user who does not exist
        # A link keeps its name: in a cache of downloads, only the link has the suffix.
        path = Path(os.path.realpath(path.parent), path.name)
        if path.is_dir():
            raise NotAFile(
                f"{str(path)!r}, which {key} names, is a folder: name a file in it, or a pattern such as "
                f"{str(Path(name) / ('*' + (path.suffix or '.tsv')))!r}."
            )
        if path.is_file():
            expanded.append((path, name.encode(errors="surrogateescape").decode(errors="replace")))
            continue
        if path.exists():
            raise NotAFile(
                f"{str(path)!r}, which {key} names, is a pipe or a device, and a corpus is read several times: "
                "write it to a file."
            )
        link = path.is_symlink()
        if link or not any(sign in name for sign in "*?["):
            missing = f"is a link to {str(path.readlink())!r}, where there is no file" if link else "does not exist"
            raise FileMissing(f"{str(path)!r}, which {key} names, {missing}: correct the path, or put the file there.")
        # The project's folder is no part of the pattern. Path.glob refuses absolute ones.
        matches = sorted(glob(os.path.expanduser(name), root_dir=base, recursive=True))  # noqa: PTH111, PTH207
        if not matches:
            raise FileMissing(
                f"No file matches {name!r}, which {key} names (relative to {str(base)!r}): check the pattern."
            )
        expanded += _expand(tuple(matches), base, key)
    return expanded


def _parallel(dataset: Dataset, split: Split, files: list[tuple[Path, str]]) -> Source:
    if len(files) != 2:
        raise SplitUnclear(
            f"split {split!r} of {dataset.name!r} names {counted(len(files), 'file')} ({[name for _, name in files]}): "
            "give two, the graphs of sentences a and of sentences b."
        )
    (first, name), (second, _) = files
    return Source(first, name, (split,), partner=second)


def files_of(dataset: Dataset, source: Source) -> Iterator[Path]:
    """Yield every file that is read for a source: itself, its partner, and scores that are in a file of their own."""
    yield source.path
    if source.partner is not None:
        yield source.partner
    for layout in dataset.layouts:
        if isinstance(layout, TableLayout) and layout.scores_beside is not None:
            scores = scores_of(layout.scores_beside, source.path)
            if scores.is_file():
                yield scores


def scores_of(beside: tuple[str, str], path: Path) -> Path:
    """Return the file with the scores of a file, whose name has one part of `beside` in place of the other."""
    return path.with_name(path.name.replace(*beside))


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

    def to_record(self) -> dict[str, Recorded]:
        """Return the digests that a later process may rely on; raise an InputError if a file has changed since."""
        for name, state in self._now.items():
            if not Path(name).is_file() or _state(Path(name)) != state[:4]:
                raise changed(Path(name))
        return {name: state for name, state in self._now.items() if name not in self._young}


def _state(path: Path) -> tuple[int, int, int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
