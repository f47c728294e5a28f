"""The finished encoder: a folder that loads with plain `SentenceTransformer(folder)`, and knows its facets."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from training.facets import FacetLayout

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

QUANTILES = 41
"""Points of the distribution of a facet's similarity on dev pairs that `facets.json` keeps."""


def save_encoder(model: "SentenceTransformer", layout: FacetLayout, card: str, folder: Path) -> None:
    """Write model, facets.json and README.md; the folder appears when it is complete.

    Args:
        model: the trained encoder.
        layout: its facets.
        card: the model card.
        folder: is replaced if it exists.
    """
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.save_pretrained(str(partial), create_model_card=False)
    layout.save(partial)
    (partial / "README.md").write_text(card, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
