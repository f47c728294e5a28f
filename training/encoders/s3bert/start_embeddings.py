"""Embeddings of the start model and of the teacher: those of the store where it has them, else encoded anew."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.settings import S3bertSettings

if TYPE_CHECKING:
    from training.encoders.backbone import Backbone, Tokens


class StartEmbeddings:
    """Embeddings that a training starts from; its backbone must not have been changed when they are asked for.

    Args:
        data: pairs and their sentences, with the embeddings of the store.
        further: sentences after those of the pairs, which the store need not have.
        backbone: the start model.
        settings: of the encoder.
        digest: digest of the files of the start model.
    """

    def __init__(
        self,
        data: MeasuredPairs,
        further: Sequence[str],
        backbone: "Backbone",
        settings: S3bertSettings,
        digest: str,
    ) -> None:
        self._data, self._further, self._backbone = data, further, backbone
        self._settings, self._digest = settings, digest

    @cached_property
    def tokens(self) -> "Tokens":
        """Word pieces of all sentences, in one list, because the states of frozen layers are indexed by it."""
        limit = self._settings.max_tokens if self._settings.layers_tuned else self._backbone.model.max_seq_length
        return self._backbone.tokenize([*self._data.texts, *self._further], max_tokens=limit or 2**30)

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Embeddings of all sentences by the start model, (n_texts, d)."""
        stored = self._data.teacher if self._data.teacher_digest == self._digest else None
        known = 0 if stored is None else len(stored)
        count = len(self._data.texts) + len(self._further)
        made = self._backbone.embed_many(self.tokens, np.arange(known, count)) if known < count else None
        return np.concatenate([part for part in (stored, made) if part is not None])

    @property
    def of_teacher(self) -> NDArray[np.float32]:
        """Embeddings of the sentences of the pairs by the teacher, (n_texts, t)."""
        if self._settings.teacher == "store" and self._data.teacher is not None:
            return self._data.teacher
        return self.vectors[: len(self._data.texts)]
