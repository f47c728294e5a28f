"""The finished encoder: a folder that loads with plain `SentenceTransformer(folder)`, and knows its facets."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.facets import FacetLayout
from training.jobs import write_json, write_text
from training.s3bert.model_card import write_card

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TRAINING_FILE = "training.json"
"""How the encoder was made."""
QUANTILES = 41
"""Points of the distribution of a facet's similarity on dev pairs that `facets.json` keeps."""


def save_encoder(model: "SentenceTransformer", layout: FacetLayout, training: Mapping[str, Any], folder: Path) -> None:
    """Write model, facets.json, training.json and README.md; the folder appears when it is complete.

    Args:
        model: the trained encoder.
        layout: its facets.
        training: how it was made.
        folder: must not exist, or be empty.
    """
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        model.save_pretrained(str(partial), create_model_card=False)
        layout.save(partial)
        write_json(partial / TRAINING_FILE, training)
        write_text(partial / "README.md", write_card(training))
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)  # half an encoder would keep a full disk full
