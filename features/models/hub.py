"""Sentence encoders from the Hugging Face Hub, by its own client, which honours HF_HUB_OFFLINE and HF_ENDPOINT."""

import errno
import shutil
from pathlib import Path

from features.core.faults import DownloadFailed, LibraryMissing
from features.core.file_errors import first_line
from features.models.records import Hub

_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)

# The same weights in other formats.
_LEFT_OUT = ("onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.tflite", "coreml/*")

_TOKENIZER = ["config.json", "tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "spiece.model"]


def fetch_tokenizer(repository: str, folder: Path) -> None:
    """Download the tokenizer of a model, without its weights.

    Raises:
        ModelError: as `fetch_repository`.
    """
    fetch_repository(Hub(repository), folder, only=_TOKENIZER)


def fetch_repository(source: Hub, folder: Path, only: list[str] | None = None) -> str:
    """Download a model repository.

    Args:
        source: the repository, and the commit.
        folder: where its files go.
        only: patterns of the files to download; all of the model's when None.

    Returns:
        The commit that was downloaded.

    Raises:
        ModelError: no client, no network, offline mode, or no such repository.
        OSError: when the disk is full or cannot be written.
    """
    try:
        from huggingface_hub import HfApi, snapshot_download
        from huggingface_hub.errors import OfflineModeIsEnabled
    except ImportError as error:
        raise LibraryMissing(
            f"The model {source.repository!r} comes from the Hub, whose client is not installed;"
            f" install it with `pip install facetflow[encoders]`."
        ) from error
    try:
        info = HfApi().model_info(source.repository, revision=source.revision)
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
