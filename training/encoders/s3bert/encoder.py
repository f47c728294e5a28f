"""The finished encoder: a folder with its facets that plain `SentenceTransformer(folder)` loads."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from training.data.measured_pairs import MeasuredPairs
from training.encoders.judging import Embed
from training.encoders.running import write_encoder
from training.encoders.s3bert.facets import FILE_NAME, FacetLayout
from training.encoders.s3bert.model_card import write_card

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def save_encoder(model: "SentenceTransformer", layout: FacetLayout, training: Mapping[str, Any], folder: Path) -> None:
    """Write model, facets.json, training.json and README.md; the folder appears when it is complete.

    Args:
        model: the trained encoder.
        layout: its facets.
        training: content of training.json.
        folder: must not exist, or be empty.
    """
    write_encoder(model, training, folder, card=write_card(training), further={FILE_NAME: layout.text()})


def calibrated(layout: FacetLayout, embed: Embed, pairs: MeasuredPairs) -> FacetLayout:
    """Return a layout calibrated on pairs.

    Args:
        layout: the facets.
        embed: embeds texts as a user of the encoder does.
        pairs: pairs that it was not trained on. Only the positive ones are used: dev splits have no others unless a
            project asks for them. With negatives as well, BAMBOO's dev pairs are predicted slightly worse (mean
            absolute error 0.185 instead of 0.182), unrelated pairs better (0.092 instead of 0.116; 0.269 without
            calibration).
    """
    positive = pairs.select(kinds=("positive",))
    if not len(positive):
        return layout.calibrated(np.empty((0, len(layout.facets))), np.empty((0, len(layout.facets))))
    vectors = embed(positive.texts)
    similarities = layout.similarities(vectors[positive.first], vectors[positive.second])
    return layout.calibrated(similarities, positive.metrics(layout.names))
