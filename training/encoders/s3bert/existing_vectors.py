"""Facets of vectors that exist: embeddings by the start model, which an encoder without tuned layers only maps."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from features.core.faults import NotThisModel, VectorsWrong
from training.encoders.s3bert.facets import FacetLayout

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def facets_of(
    folder: Path, encoder: "SentenceTransformer", layout: FacetLayout | None, vectors: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Return the embeddings of an encoder from those of its start model.

    Args:
        folder: folder of the encoder, for messages.
        encoder: the encoder.
        layout: its facets; None if it has none.
        vectors: embeddings by the start model, (d_start,) or (n, d_start).

    Returns:
        (dimension,) or (n, dimension).

    Raises:
        InputError: the vectors have another number of dimensions.
        ModelError: the encoder is no map of its start model's embeddings.
    """
    if layout is None or not layout.maps_start:
        raise NotThisModel(
            f"the encoder {str(folder)!r} is no map of its start model's embeddings, so it has to encode the sentences "
            "themselves; train one of kind s3bert with layers_tuned = 0"
        )
    given, width = np.asarray(vectors, dtype=np.float32), layout.residual.stop
    if given.ndim not in {1, 2} or given.shape[-1] != width:
        raise VectorsWrong(
            f"The vectors have the shape {given.shape}, but {str(folder)!r} maps embeddings of {width} dimensions; "
            "give those of the model that it was trained from."
        )
    dense: Any = list(encoder)[-1]
    facets = dense.linear.weight.detach().cpu().numpy()[width:]
    return np.concatenate([given, given @ facets.T], axis=-1)
