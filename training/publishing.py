"""An encoder as a folder for a model hub: its files, a card that says the terms of use, nothing of this machine.

encoder/ ── weights and configuration as they are ───────────────────────────────┐
         ── training.json without folders of this machine ───────────────────────┼── folder ── (Hub, if asked)
         ── README.md with licence and base model, and the name on the Hub ──────┘
"""

import shlex
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from features import models
from features.core.faults import ModelUnfit, NotThisModel, OutputOverwrites, UploadFailed
from features.core.file_errors import first_line
from features.models.cache import model_files
from features.models.records import Hub, Wheel, is_hub_name
from training.runs import TRAINING_FILE, training_of
from training.writing import read_json, whole_folder, write_json, write_text

CARD = "README.md"
_WITH_FOLDERS = {TRAINING_FILE, "sentence_bert_config.json"}  # the latter names the parser or tagger
_UNSAFE = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"})
_PLACEHOLDER = "path/to/this/folder"
_TERMS = """\
license: other
license_name: terms-of-the-training-data
license_link: README.md
"""


def write_folder(encoder: Path, folder: Path, name: str | None = None, base: Path = Path()) -> int:
    """Write the folder of an encoder for a hub, which is whole or absent, and return its size in bytes.

    The folder must be new, or empty. The name is `owner/name` on the Hub, for the card's examples. A relative path of
    the start model begins at `base`.
    """
    if not (encoder / TRAINING_FILE).is_file() or not (encoder / CARD).is_file():
        raise NotThisModel(
            f"{str(encoder)!r} has no {TRAINING_FILE} or no {CARD}, so its training data and their terms are unknown; "
            "publish an encoder that facetflow trained"
        )
    files = model_files(encoder)
    if links := [path for path in files if not path.resolve().is_relative_to(encoder.resolve())]:
        raise ModelUnfit(
            f"{str(links[0])!r} is a link to a file elsewhere, which may be private; put a copy in its place"
        )
    if unsafe := [path for path in files if path.suffix in _UNSAFE]:
        raise ModelUnfit(f"{str(unsafe[0])!r} may run code when it is loaded; save the weights as safetensors")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputOverwrites(f"There is something in {str(folder)!r} already; name a new folder")
    training, folder = training_of(encoder), folder.resolve()
    with whole_folder(folder) as partial:
        for path in files:
            target = partial / path.relative_to(encoder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            if path.name in _WITH_FOLDERS:
                write_json(target, without_folders(read_json(path), _models_of(training)))
        card = (encoder / CARD).read_text(encoding="utf-8")
        write_text(partial / CARD, published_card(card, training, name, base))
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def published_card(card: str, training: Mapping[str, Any], name: str | None, base: Path) -> str:
    """Return a model card with what the Hub reads: licence and base model; and with the encoder's name there."""
    settings = training["settings"]
    backbone = str(settings["backbone"])
    start = _name_on_hub(backbone, base)
    base_model = f"base_model: {start}\n" if start else ""
    named = _models_of(training)
    shown = {value: without_folders(value, named) for value in settings.values() if isinstance(value, str)}
    for value, last in (shown | ({} if start else {backbone: Path(backbone).name})).items():
        card = card.replace(value, last)
    card = card.replace("\ntags:\n", f"\n{_TERMS}{base_model}tags:\n", 1)
    return card if name is None else card.replace(_PLACEHOLDER, name)


def without_folders(value: Any, named: Collection[str] = ()) -> Any:
    """Return JSON data with the last part of each path in place of a path of this machine, or of those `named`."""
    if isinstance(value, Mapping):
        return {key: without_folders(each, named) for key, each in value.items()}
    if isinstance(value, list):
        return [without_folders(each, named) for each in value]
    if isinstance(value, str) and value.startswith(("/", "~")):
        return Path(value).name if value in named or Path(value).expanduser().exists() else value
    return value


def upload(folder: Path, name: str, *, public: bool) -> str:
    """Upload a published folder to the Hub, as a private repository unless `public`, and return its address."""
    from huggingface_hub import HfApi

    try:
        api = HfApi()
        address = api.create_repo(name, private=not public, exist_ok=True)
        api.upload_folder(repo_id=name, folder_path=folder, commit_message="Published by facetflow")
    except Exception as error:  # the client raises its own errors and those of its HTTP library
        private = "" if public else " --private"
        raise UploadFailed(
            f"{name!r} could not be uploaded to the Hub ({first_line(error)}); check the network and `hf auth login`: "
            f"the folder is complete, and `hf upload {name} {shlex.quote(str(folder))}{private}` uploads it"
        ) from error
    return str(address)


def _models_of(training: Mapping[str, Any]) -> list[str]:
    """Return the names of the models that an encoder was made with: folders of the machine of its training, perhaps."""
    return [str(training["settings"].get(key)) for key in ("backbone", "parser", "tagger")]


def _name_on_hub(backbone: str, base: Path) -> str | None:
    record = models.MODELS.get(backbone)
    if record is None:
        return backbone if is_hub_name(backbone) and not (base / backbone).exists() else None
    if isinstance(record.source, Hub):
        return record.source.repository
    return f"sentence-transformers/{record.name}" if isinstance(record.source, Wheel) else None
