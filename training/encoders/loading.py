"""Loading an encoder from its folder."""

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


def routes_of(model: "SentenceTransformer") -> tuple[str, ...]:
    """Return the routes of an encoder, in its order: what `encode` takes as `task`; none for most encoders."""
    from sentence_transformers.sentence_transformer.modules import Router

    return tuple(name for module in model.children() if isinstance(module, Router) for name in module.sub_modules)
