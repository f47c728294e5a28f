"""Loading an encoder from its folder."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from features.errors import ModelError
from features.parsers.devices import hide_progress_bars

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def load_encoder(folder: Path, *, device: str | None = None) -> "SentenceTransformer":
    """Load an encoder from its folder, with nothing asked of a hub.

    Raises:
        ModelError: when files of it are missing or damaged.
    """
    from safetensors import SafetensorError
    from sentence_transformers import SentenceTransformer

    hide_progress_bars()
    try:
        return SentenceTransformer(str(folder), device=device, local_files_only=True)
    except (OSError, ValueError, SafetensorError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise ModelError(f"the encoder {str(folder)!r} cannot be loaded ({why}); train or pull it again") from error


def routes_in(folder: Path) -> tuple[str, ...]:
    """Return the routes of an encoder, in its order: what `encode` takes as `task`; none for most encoders.

    Args:
        folder: of the encoder, as sentence-transformers saves one with a `Router`.

    Raises:
        ModelError: when its files are damaged.
    """
    modules = folder / "modules.json"
    if not modules.is_file():
        return ()
    try:
        routers = [each for each in json.loads(modules.read_bytes()) if each["type"].endswith(".Router")]
        files = [folder / each["path"] / "router_config.json" for each in routers]
        return tuple(route for file in files for route in json.loads(file.read_bytes())["structure"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"the encoder {str(folder)!r} has damaged files ({error}); train or pull it again") from error
