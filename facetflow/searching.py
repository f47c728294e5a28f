"""Search texts by their similarity to a query: overall, in facets, or in one aspect."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from facetflow import internals
from facetflow.arguments import Texts, read_texts, require_whole
from facetflow.encoders import Encoder, load_encoder
from features.core.faults import EmptyText
from features.core.wording import counted

Facets = str | Mapping[str, float] | None
"""The name of a facet, or facets with weights; None for the whole embedding."""


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text that a search found.

    Args:
        rank: 1 for the most similar one.
        text: the text.
        position: its position among the searched texts, from 0.
        similarity: cosine, in [-1, 1].
    """

    rank: int
    text: str
    position: int
    similarity: float


class TextIndex:
    """Texts embedded once, to be searched many times. The search is exact: every text is compared.

    Args:
        texts: one or more.
        encoder: an encoder, its folder, or that of the run that trained it.
        aspect: the aspect in which texts are compared; required if the encoder has routes.
        runs: folder of a project's runs, whose cache of embeddings is used and extended, as by `facetflow search`; by
            default nothing is cached.

    Raises:
        InputError: there is no text, or a text is not a string.
        ModelError: the folder holds no encoder, it was not trained for the aspect, or it has routes and none is given.
    """

    def __init__(
        self, texts: Texts, encoder: Encoder | str | Path, *, aspect: str | None = None, runs: str | Path | None = None
    ) -> None:
        self.texts = tuple(read_texts(texts, "text")[0])
        if not self.texts:
            raise EmptyText("there is no text to search; give at least one")
        self.encoder = encoder if isinstance(encoder, Encoder) else load_encoder(encoder)
        self.aspect = aspect
        self._task = internals.task_of(self.encoder.folder, aspect)
        self.vectors = internals.unit(
            internals.cached_vectors(
                None if runs is None else Path(runs).expanduser(),
                self.encoder.folder,
                self._task,
                self.texts,
                lambda new: internals.embed_in_parts(self.encoder.model, new, self._task),
            )
        )
        """Embeddings of the texts, (n_texts, d) float32, of unit length. Searches read them; change a copy."""

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.texts)

    @overload
    def search(self, query: str, k: int = 10, *, facet: Facets = None) -> list[FoundText]: ...  # type: ignore[overload-overlap]
    @overload
    def search(self, query: Texts, k: int = 10, *, facet: Facets = None) -> list[list[FoundText]]: ...
    def search(
        self, query: str | Texts, k: int = 10, *, facet: Facets = None
    ) -> list[FoundText] | list[list[FoundText]]:
        """Return the texts most similar to a query, best first.

        Args:
            query: a text, or several.
            k: number of texts to return; fewer if there are fewer.
            facet: the facet in which texts are compared, or facets with weights; below 0, texts that differ in it come
                first. `residual` is the dimensions of no facet; default: the whole embedding.

        Returns:
            A list for one query, a list of lists for several. Equally similar texts keep their order.

        Raises:
            InputError: a query is empty or not a string.
            ModelError: the encoder has no facets, or compares them by their L1 distance.
            SettingsError: k is not a whole number, or is below 1; the encoder has no such facet, or all weights are 0.
        """
        require_whole(k, "k is the number of texts to return")
        queries, single = read_texts(query, "query")
        if any(not text.strip() for text in queries):
            raise EmptyText("the query is empty; give a text")
        if not queries:
            return []
        vectors = internals.embed(self.encoder.model, queries, self._task)
        results = self._named(
            internals.find_nearest(self._similarities(vectors, facet), queries=len(queries), texts=len(self), k=k)
        )
        return results[0] if single else results

    def neighbours(self, k: int = 10) -> list[list[FoundText]]:
        """Return for each text the other texts most similar to it, best first.

        Args:
            k: number of texts to return; fewer if there are fewer.

        Raises:
            SettingsError: k is not a whole number, or is below 1.
        """
        require_whole(k, "k is the number of texts to return")
        similarities, count = internals.cosines_of(self.vectors, self.vectors), len(self)
        return self._named(internals.find_nearest(similarities, queries=count, texts=count, k=k, themselves=True))

    def _similarities(self, queries: NDArray[np.float32], facet: Facets) -> internals.Similarities:
        if facet is None or facet == internals.WHOLE:
            return internals.cosines_of(queries, self.vectors)
        weights = {facet: 1.0} if isinstance(facet, str) else facet
        return internals.weighted_similarities(queries, self.vectors, self.encoder._require_layout(), weights)

    def __repr__(self) -> str:
        aspect = "" if self.aspect is None else f" in {self.aspect}"
        return f"<index of {counted(len(self), 'text')}{aspect}, by {self.encoder!r}>"

    def _named(self, nearest: "internals.Nearest") -> list[list[FoundText]]:
        return [
            [
                FoundText(rank, self.texts[position], position, min(max(similarity, -1.0), 1.0))
                for rank, (position, similarity) in enumerate(zip(positions, similarities, strict=True), start=1)
            ]
            for positions, similarities in zip(nearest.positions.tolist(), nearest.similarities.tolist(), strict=True)
        ]


def search(
    query: str,
    texts: Texts,
    encoder: Encoder | str | Path,
    *,
    aspect: str | None = None,
    facet: Facets = None,
    k: int = 10,
) -> list[FoundText]:
    """Return the texts most similar to a query, best first; for many queries make a `TextIndex`.

    Args:
        query: a text.
        texts: the texts to search.
        encoder: an encoder, its folder, or that of the run that trained it.
        aspect: the aspect in which texts are compared; required if the encoder has routes.
        facet: the facet in which texts are compared, or facets with weights, as for `TextIndex.search`.
        k: number of texts to return; fewer if there are fewer.

    Raises:
        InputError: the query is empty, there is no text, or one of them is not a string.
        ModelError: the folder holds no encoder, it was not trained for the aspect, or it has routes and none is given;
            as `TextIndex.search`, of facets.
        SettingsError: k is not a whole number, or is below 1; the encoder has no such facet, or all weights are 0.
    """
    require_whole(k, "k is the number of texts to return")
    return TextIndex(texts, encoder, aspect=aspect).search(query, k, facet=facet)
