"""The cache folder of pulled models, digests of models, and the check that a model's files are those that were pulled.

    <cache>/<name>/manifest.json    where it came from, sha256 and size of every file
    <cache>/<name>/files/...        the model, as its library loads it
    <cache>/<hex>/<name>/...        one that comes with facetflow: two versions of facetflow have one each
    <cache>/.pull-<hex>/...         a model that is being pulled, and the copy that it replaces
    <cache>/.digests/<hex>          the digest of a model's files, named by their sizes, times and inodes

A model appears by a single rename of its whole folder, so it is there completely or not at all.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from features.core.durable import file_sha256, sync, sync_all, write_whole
from features.core.faults import ModelDamaged
from features.models.records import MODELS, Shipped, Wheel

ENVIRONMENT_VARIABLE = "FACETFLOW_MODELS"
PULLING = ".pull-"  # prefix of the names of temporary folders in the cache
_DIGESTS = ".digests"
_TICK = 2_000_000_000  # nanoseconds; the coarsest clock is that of FAT


@dataclass(frozen=True, slots=True)
class Manifest:
    """The record of a pulled model."""

    name: str  # name of the model
    source: str  # requirement, URL, repository or file that it came from
    version: str  # sha256 of the wheel or archive, commit of the repository, `shipped_version` of what comes with us
    pinned: bool  # whether one of our records gave the version in advance; False if the first pull could only record it
    files: Mapping[str, tuple[str, int]]  # path within the model → (sha256, bytes)


def model_files(folder: Path) -> list[Path]:
    """Return the files of a model folder in a fixed order; hidden files and byte code are not part of a model."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
    )


def digest(path: Path) -> str:
    """Return the sha256 of a model's folder or file: of the names and contents that determine its results.

    Documentation (`*.md`) does not count, so that a corrected README makes no shard stale. The digest of files that
    have not changed since is read from the cache: a model may have gigabytes, and each plan asks for it.
    """
    begun, state = time.time_ns(), stamp(path)
    inodes = [Path(file).stat().st_ino for file, *_ in state]  # a folder made at the same time may have the rest
    remembered = hashlib.sha256(repr((state, inodes)).encode()).hexdigest()
    with suppress(OSError, ValueError):  # a file that is lacking or damaged
        if len(kept := bytes.fromhex((cache_folder() / _DIGESTS / remembered).read_text(encoding="ascii"))) == 32:
            return kept.hex()
    result = _digest(path)
    # A file that is changed twice within a tick of the file system's clock has the same times.
    if max(changed for *_, changed in state) < begun - _TICK:
        with suppress(OSError):  # a cache that cannot be written
            write_whole(cache_folder() / _DIGESTS, remembered, result.encode())
    return result


def _digest(path: Path) -> str:
    if path.is_file():
        return file_sha256(path)
    files = [file for file in model_files(path) if file.suffix != ".md"] if path.is_dir() else []
    if not files:
        raise ModelDamaged(f"The model {str(path)!r} has no files; give the folder that holds its weights.")
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(path).as_posix()}\0{file_sha256(file)}\n".encode())
    return total.hexdigest()


def stamp(path: Path) -> tuple[tuple[str, int, int, int], ...]:
    """Return names, sizes and times of a model's files: a cheap cache key, where `digest` would read every byte.

    A worker outlives a run; with this in its key, it does not keep using a model that has since been replaced. The
    time of a change (ctime) tells a file that was replaced by one with older times.
    """
    files = [path] if path.is_file() else model_files(path)
    return tuple((str(file), (state := file.stat()).st_size, state.st_mtime_ns, state.st_ctime_ns) for file in files)


def cache_folder() -> Path:
    """Return the folder of pulled models: `$FACETFLOW_MODELS`, else a folder in the user's cache."""
    if named := os.environ.get(ENVIRONMENT_VARIABLE):
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "facetflow" / "models"


def entry(name: str) -> Path:
    """Return the folder of one model in the cache, pulled or not."""
    return cache_folder() / shipped_version(name)[:8] / name.replace("/", "--")


def shipped_version(name: str) -> str:
    """Return the digest of the files of a model that comes with facetflow, and its pinned start model; else nothing."""
    record = MODELS.get(name)
    if record is None or not isinstance(record.source, Shipped):
        return ""
    start = MODELS[record.source.start].source
    return f"{digest(record.source.folder)}+{start.sha256 if isinstance(start, Wheel) else record.source.start}"


def read_manifest(name: str) -> Manifest | None:
    """Return the record of a pulled model, None if it is not pulled; a ModelError if it cannot be read."""
    path = entry(name) / "manifest.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        files = {file: (str(sha256), int(size)) for file, (sha256, size) in content.pop("files").items()}
        return Manifest(files=files, **content)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelDamaged(f"The record {str(path)!r} cannot be read ({error}); {_pull_again(name)}.") from error


def pulled() -> list[str]:
    """Return the names of all pulled models, also of those whose record cannot be read."""
    here = (path.parent.name.replace("--", "/") for path in cache_folder().glob("[!.]*/manifest.json"))
    return sorted(name for name in {*MODELS, *here} if (entry(name) / "manifest.json").is_file())


def check(manifest: Manifest, *, contents: bool) -> None:
    """Compare the sizes of a model's files, and on request their contents, with what was pulled."""
    folder = entry(manifest.name) / "files"
    for name, (sha256, size) in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise ModelDamaged(
                f"The model {manifest.name!r} lacks its file {str(path)!r}; {_pull_again(manifest.name)}."
            )
        if path.stat().st_size != size or (contents and file_sha256(path) != sha256):
            raise ModelDamaged(
                f"The file {str(path)!r} of the model {manifest.name!r} is corrupted; {_pull_again(manifest.name)}."
            )


def install(folder: Path, name: str, *, source: str, version: str, pinned: bool) -> Path:
    """Publish an unpacked model in the cache: record it, flush it, rename it; return its folder there.

    The model is moved from a temporary folder within the cache, and a copy that it replaces is put there. The version
    is that of the `Manifest`, pinned if it was given in advance.
    """
    staged = folder.parent / "staged"
    staged.mkdir()
    files = staged / "files"
    folder.rename(files)
    digests = {
        path.relative_to(files).as_posix(): (file_sha256(path), path.stat().st_size) for path in model_files(files)
    }
    manifest = Manifest(name, source, version, pinned, digests)
    (staged / "manifest.json").write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")
    sync_all(staged)
    target = entry(name)
    target.parent.mkdir(exist_ok=True)
    with suppress(ModelDamaged):
        if (other := read_manifest(name)) is not None:  # of a process that was faster, and may be reading it
            check(other, contents=True)
            return target / "files"
    if target.exists():  # a damaged copy, which may be open elsewhere: deleted with the temporary folder
        target.rename(folder.with_name("replaced"))
    staged.rename(target)
    sync(target.parent)
    return target / "files"


def _pull_again(name: str) -> str:
    return f"pull it again with `facetflow models pull {name}`"
