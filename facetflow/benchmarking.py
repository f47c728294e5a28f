"""An encoder, or one of its facets, as a model of MTEB: `mteb.evaluate(encoder.for_mteb("srl"), task)`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from facetflow import internals
from features.core.libraries import importing
from features.models import digest

if TYPE_CHECKING:
    from mteb.models import ModelMeta

    from facetflow.encoders import Encoder


class MtebEncoder:
    """What MTEB asks of a model (its `EncoderProtocol`), by the dimensions of a facet or of the whole embedding."""

    def __init__(self, encoder: "Encoder", dimensions: slice, aspect: str | None, name: str) -> None:
        self._encoder, self._dimensions, self._aspect, self._name = encoder, dimensions, aspect, name

    def encode(
        self, inputs: Iterable[Mapping[str, Sequence[str]]], *, batch_size: int = 32, **_task: Any
    ) -> NDArray[np.float32]:
        """Return the embeddings of the texts in batches of MTEB, (n_texts, d), float32."""
        texts = [text for batch in inputs for text in batch["text"]]
        return self._encoder.encode(texts, aspect=self._aspect, batch_size=batch_size)[:, self._dimensions]

    def similarity(self, embeddings1: ArrayLike, embeddings2: ArrayLike) -> NDArray[np.float32]:
        """Return the cosine of each embedding with each other, (n, m)."""
        return np.asarray(np.dot(internals.unit(_rows(embeddings1)), internals.unit(_rows(embeddings2)).T))

    def similarity_pairwise(self, embeddings1: ArrayLike, embeddings2: ArrayLike) -> NDArray[np.float64]:
        """Return the cosines of pairs of embeddings, (n,)."""
        return internals.cosines(_rows(embeddings1), _rows(embeddings2))

    @property
    def mteb_model_meta(self) -> "ModelMeta":
        """What MTEB writes beside the scores: name and dimensions; the model card has the rest."""
        with importing("this needs mteb", "mteb"):
            from mteb.models import ModelMeta
        width = len(range(*self._dimensions.indices(self._encoder.dimension)))
        # MTEB keeps scores by name and revision, and would take those of another encoder in a folder of this name.
        revision = digest(self._encoder.folder)
        return ModelMeta.create_empty({"name": self._name, "revision": revision, "embed_dim": width})


def _rows(embeddings: ArrayLike) -> NDArray[np.float32]:
    return np.atleast_2d(np.asarray(embeddings, np.float32))
