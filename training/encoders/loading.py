"""Loading an encoder from its folder."""

import errno
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from features.core.errors import FacetflowError, ModelError
from features.core.faults import EncoderDamaged, ModelUnfit
from features.core.file_errors import system_number
from features.core.libraries import importing
from features.parsers.devices import hide_progress_bars, resolve_device
from features.parsers.sentence_encoder import FULL_PRECISION, TextEncoder, load_light, require_complete
from training.runs import training_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_WEIGHTS = "model.safetensors"
_WITHOUT_LIBRARY = {
    "training.modules.graph_pooling.GraphPooling": "training.modules.graph_pooling.GraphPooling",
    "training.modules.graph_pooling.NodeCombination": "training.modules.graph_pooling.NodeCombination",
    "training.modules.parsing_transformer.ParsingTransformer": "training.modules.trees.Trees",
    "training.modules.span_pooling.SpanPooling": "training.modules.span_pooling.SpanPooling",
    "training.modules.tagging_transformer.TaggingTransformer": "training.modules.spans.Spans",
}
"""Modules of facetflow that saved encoders may contain, and what stands for them without sentence-transformers."""


def load_encoder(folder: Path, *, device: str = "auto") -> "SentenceTransformer":
    """Load an encoder from its folder, without access to a hub.

    Modules are those of sentence-transformers and of `training.modules`; no code in the folder is run.
    """
    with importing("encoders need torch and sentence-transformers", "encoders"):
        from sentence_transformers import SentenceTransformer

        from features.parsers.onednn import use_onednn

    hide_progress_bars()
    options: Any = {"device": resolve_device(device), "local_files_only": True, "model_kwargs": FULL_PRECISION}
    try:
        # No public name loads classes that exist here already: `trust_remote_code` would run code from the folder.
        kinds = {module["type"] for module in _modules(folder)}
        own = {kind: resolve_name(kind) for kind in kinds & _WITHOUT_LIBRARY.keys()}
        encoder = SentenceTransformer._load_with_module_classes(str(folder), own, **options)
        require_complete(encoder)
        _require_layers(encoder, folder)
    except Exception as error:  # libraries raise anything where a configuration has another form
        if system_number(error) not in {None, errno.ENOENT} or (why := _damage(error, folder)) is None:
            raise
        raise _damaged(folder, f"cannot be loaded ({why})") from error
    use_onednn(encoder)
    return encoder


def load_reader(folder: Path, *, device: str = "auto") -> TextEncoder:
    """Load an encoder from its folder, only to encode texts: without sentence-transformers where possible.

    Raises:
        ModelError: as `load_encoder`.
    """
    return load_light(folder, device, _WITHOUT_LIBRARY) or load_encoder(folder, device=device)


def load_start(folder: Path, name: str, *, device: str) -> "SentenceTransformer":
    """Load the model that a training starts from, called `name` in messages.

    Raises:
        ModelError: if it cuts its embeddings, or reads more than word pieces.
    """
    from training.modules.structure import structure_of

    model = load_encoder(folder, device=device)
    if (structure := structure_of(model)) is not None:
        raise ModelUnfit(
            f"the backbone {name!r} reads {structure.what} of its sentences, and this training has only their word "
            "pieces: choose another backbone, such as all-MiniLM-L6-v2"
        )
    if model.truncate_dim is not None:
        raise ModelUnfit(
            f"the backbone {name!r} cuts its embeddings to {model.truncate_dim} dimensions, which training does not: "
            "take `truncate_dim` out of config_sentence_transformers.json in a copy of it, or choose another backbone"
        )
    return model


def _damage(error: Exception, folder: Path) -> str | None:
    """Return why an encoder cannot be loaded; None for an error that may be about something else."""
    from safetensors import SafetensorError

    text = str(error)
    if isinstance(error, OSError | ValueError | TypeError | SafetensorError):  # a TypeError where settings are lacking
        return text.partition("\n")[0].rstrip(".")
    module = re.search(r"loading state_dict for (\w+)", text)
    if not module and "ignore_mismatched_sizes" not in text:
        elsewhere = isinstance(error, FacetflowError | ImportError | RuntimeError)  # a RuntimeError: no memory on a GPU
        changed = [] if elsewhere else resized(folder, training_of(folder).get("files", {}))
        return f"{changed[0]!r} is not the file that was trained" if changed else None
    files = sorted(folder.rglob(_WEIGHTS), key=lambda file: len(file.parts))
    if module:  # its folder is called `2_GraphPooling`, or `country_0_Dense` in that of routes
        files = [file for file in files if file.parent.name.endswith(f"_{module[1]}")] or files
    named = str(files[0].relative_to(folder)) if files else _WEIGHTS
    return f"the weights in {named!r} have another shape than the configuration says"


def _require_layers(encoder: "SentenceTransformer", folder: Path) -> None:
    """Check that the file of the transformer has each of its layers and no other; a ValueError if not.

    transformers fills layers that the file lacks with random weights, and leaves out those that the configuration does
    not count.
    """
    from safetensors import safe_open

    from training.modules.layers import find_layers

    file = folder / transformer_folder(folder) / _WEIGHTS
    transformer: Any = encoder.transformers_model
    with suppress(ModelError):  # some architectures share one layer
        layers = find_layers(transformer)
        (name,) = (name for name, module in transformer.named_modules() if module is layers)
        if file.is_file():
            with safe_open(file, framework="pt") as weights:
                hits = (re.search(rf"(?:^|\.){re.escape(name)}\.(\d+)\.", key) for key in weights.keys())  # noqa: SIM118
                saved = {int(match[1]) for match in hits if match}  # empty where it calls the list otherwise
            if saved and saved != set(range(len(layers))):
                raise ValueError(
                    f"{str(file.relative_to(folder))!r} has weights of {len(saved)} layers, and the configuration says "
                    f"{len(layers)}"
                )


def resized(folder: Path, sizes: Mapping[str, int]) -> list[str]:
    """Return the files of an encoder, path → bytes, that are missing or have another size."""
    files = {name: folder / name for name in sizes}
    return [name for name, file in files.items() if not file.is_file() or file.stat().st_size != sizes[name]]


def transformer_folder(folder: Path) -> str:
    """Return the path of the transformer within an encoder; empty where that is a transformer alone."""
    modules = _modules(folder)
    return str(modules[0]["path"]) if modules else ""


def _modules(folder: Path) -> list[dict[str, Any]]:
    """Return the modules of an encoder as sentence-transformers lists them; none for a transformer alone."""
    file = folder / "modules.json"
    modules: list[dict[str, Any]] = json.loads(file.read_bytes()) if file.is_file() else []
    return modules


def routes_in(folder: Path) -> tuple[str, ...]:
    """Return the routes of an encoder in its order, the values of `task` in `encode`; empty for most encoders."""
    try:
        routers = [each for each in _modules(folder) if each["type"].endswith(".Router")]
        files = [folder / each["path"] / "router_config.json" for each in routers]
        return tuple(route for file in files for route in json.loads(file.read_bytes())["structure"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder, f"has damaged files ({error})") from error


def _damaged(folder: Path, how: str) -> EncoderDamaged:
    """Return the fault of an encoder; raise an OSError if the system refuses a file, which libraries hide."""
    str(folder).encode()  # nor is it damaged where its path is not UTF-8
    for path in (folder, *folder.rglob("*")):
        with suppress(FileNotFoundError):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    # An existing folder is neither trained nor pulled again.
    again = f"delete the folder {str(folder)!r}, then train or pull it again"
    return EncoderDamaged(f"the encoder {str(folder)!r} {how}; {again}")
