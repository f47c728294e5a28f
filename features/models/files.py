"""Digests of model files, and unpacking of archives, which cannot write outside their folder."""

import gzip
import hashlib
import tarfile
import zlib
from functools import lru_cache
from pathlib import Path

from features.core.durable import file_sha256
from features.core.faults import ArchiveUnsafe, ArchiveWrong, ModelDamaged


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

    Documentation (`*.md`) does not count, so that a corrected README makes no shard stale.
    """
    return _digest(path, stamp(path))


@lru_cache(maxsize=64)  # the stages of one plan share models
def _digest(path: Path, _stamp: object) -> str:
    if path.is_file():
        return file_sha256(path)
    files = [file for file in model_files(path) if file.suffix != ".md"] if path.is_dir() else []
    if not files:
        raise ModelDamaged(f"The model {str(path)!r} has no files; give the folder that holds its weights.")
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(path).as_posix()}\0{file_sha256(file)}\n".encode())
    return total.hexdigest()


def stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Return names, sizes and times of a model's files: a cheap cache key, where `digest` would read every byte.

    A worker outlives a run; with this in its key, it does not keep using a model that has since been replaced.
    """
    files = [path] if path.is_file() else model_files(path)
    return tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files)


def _without_links(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Refuse every link: Python before 3.11.13 and 3.12.11 takes some that lead elsewhere for others."""
    if not (member.isfile() or member.isdir()):
        raise tarfile.SpecialFileError(member)
    return tarfile.data_filter(member, folder)


def unpack_archive(archive_path: Path, target: Path) -> None:
    """Unpack a `.tar.gz` of a model to a new folder; a single enclosing folder is stripped."""
    unpacked = target.with_name(target.name + ".unpacked")
    try:
        with tarfile.open(archive_path) as archive:
            archive.extractall(unpacked, filter=_without_links)  # noqa: S202  # stricter than "data"
    except tarfile.FilterError as error:
        raise ArchiveUnsafe(
            f"The archive {archive_path.name!r} has the member {error.tarinfo.name!r}, which is a link or points"
            f" outside its folder; it is not trusted, and nothing was unpacked."
        ) from error
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ArchiveWrong(
            f"The file {str(archive_path)!r} cannot be unpacked ({error}); download it again."
        ) from error
    content = list(unpacked.glob("*"))  # none without a member: tarfile makes no folder then
    if not content:
        raise ArchiveWrong(f"The archive {str(archive_path)!r} is empty; download it again.")
    root = content[0] if len(content) == 1 and content[0].is_dir() else unpacked
    root.rename(target)
