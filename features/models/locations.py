"""Where a model is on this machine, given its name or its folder."""

from contextlib import suppress
from pathlib import Path

from features.core.errors import ModelError
from features.core.faults import ModelNotPulled
from features.models.assembling import is_current
from features.models.cache import Manifest, check, entry, read_manifest
from features.models.pulling import pull
from features.models.records import BUNDLED_ENCODER, MODELS, Hub, Shipped, is_hub_name, unknown


def locate(name_or_path: str, base: Path | None = None) -> Path:
    """Return the folder of a model, ready to load.

    A known name means the pulled model; then a folder on disk, relative to `base` or the working directory; then a Hub
    name (`owner/name`), pulled by us or in the Hub's own cache.
    """
    if name_or_path not in MODELS:
        folder = (base or Path()) / Path(name_or_path).expanduser()
        if folder.is_dir():
            return folder.resolve()
        if not is_hub_name(name_or_path):
            raise unknown(name_or_path)
    manifest, record = read_manifest(name_or_path), MODELS.get(name_or_path)
    if record and isinstance(record.source, Shipped) and not is_current(manifest, record.source):
        locate(record.source.start)
        return pull(name_or_path)  # nothing is downloaded
    if manifest is not None:
        check(manifest, contents=False)
        return entry(name_or_path) / "files"
    repository = record.source.repository if record and isinstance(record.source, Hub) else name_or_path
    if is_hub_name(repository) and (cached := _in_hub_cache(repository)):
        return cached
    raise ModelNotPulled(
        f"The model {name_or_path!r} is not on this machine; get it with `facetflow models pull {name_or_path}`."
    )


def bundled_encoder() -> Path | None:
    """Return the folder of the encoder that comes with facetflow; None where its start model is not pulled."""
    with suppress(ModelError):
        return locate(BUNDLED_ENCODER)
    return None


def verify(name: str) -> Manifest:
    """Compare every file of a pulled model with what was pulled, and return that record."""
    manifest = read_manifest(name)
    if manifest is None:
        if name not in MODELS and not is_hub_name(name):
            raise unknown(name)
        raise ModelNotPulled(f"The model {name!r} is not pulled; get it with `facetflow models pull {name}`.")
    check(manifest, contents=True)
    return manifest


def _in_hub_cache(repository: str) -> Path | None:
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    config = try_to_load_from_cache(repository, "config.json")
    return Path(config).parent if isinstance(config, str) else None
