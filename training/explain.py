"""In which facets two sentences agree and differ: read off their embeddings, without a parser."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from features.errors import InputError
from features.parsers.devices import hide_progress_bars
from features.sentences import normalise
from training.facets import FacetLayout, cosines

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Mark = Literal["highest", "lowest", ""]


@dataclass(frozen=True, slots=True)
class FacetReading:
    """One facet of one pair.

    Args:
        name: the metric that it mirrors.
        similarity: of the two sub-vectors; a cosine in [-1, 1], unless the encoder was trained with another.
        prediction: what that means for the metric, by the scale β learnt for it; the metric itself lies in [0, 1].
        standing: share of the dev pairs that are less similar in this facet, in [0, 1]; None when unknown.
        mark: whether the facet stands highest or lowest of all.
    """

    name: str
    similarity: float
    prediction: float
    standing: float | None
    mark: Mark = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A pair of sentences, how similar it is, and in which facets.

    Args:
        sentence_a: as given, with single blanks.
        sentence_b: likewise.
        similarity: cosine of the whole embeddings, in [-1, 1].
        residual: cosine of what belongs to no facet; None where facets take every dimension.
        facets: in the order of their dimensions.
    """

    sentence_a: str
    sentence_b: str
    similarity: float
    residual: float | None
    facets: tuple[FacetReading, ...]


def explain(model: Path, pairs: Sequence[tuple[str, str]], *, device: str | None = None) -> list[Explanation]:
    """Explain pairs of sentences with an encoder that has facets.

    Args:
        model: folder of the encoder.
        pairs: the sentences.
        device: where to encode; PyTorch's choice when missing.

    Returns:
        One explanation a pair, in the order given.

    Raises:
        InputError: when a sentence is empty.
        ModelError: when the folder is no encoder with facets.
    """
    texts = [(normalise(a), normalise(b)) for a, b in pairs]
    for number, pair in enumerate(texts, start=1):
        if not all(pair):
            raise InputError(f"a sentence of pair {number} is empty: {pair!r}; give two sentences")
    layout = FacetLayout.load(model)
    if not texts:
        return []
    vectors = load_encoder(model, device=device).encode(
        [text for pair in texts for text in pair], convert_to_numpy=True, show_progress_bar=False
    )
    return explain_embeddings(texts, vectors[0::2], vectors[1::2], layout)


def load_encoder(folder: Path, *, device: str | None = None) -> "SentenceTransformer":
    """Load an encoder from its folder, with nothing asked of a hub."""
    from sentence_transformers import SentenceTransformer

    hide_progress_bars()
    return SentenceTransformer(str(folder), device=device, local_files_only=True)


def explain_embeddings(
    pairs: Sequence[tuple[str, str]], left: NDArray[np.float32], right: NDArray[np.float32], layout: FacetLayout
) -> list[Explanation]:
    """Explain pairs whose embeddings are known.

    Args:
        pairs: the sentences.
        left: embeddings of the first ones, (n_pairs, dimension).
        right: of the second ones.
        layout: the encoder's facets.
    """
    whole = cosines(left, right)
    rest = layout.residual
    residual = cosines(left[:, rest], right[:, rest]) if rest.start < rest.stop else None
    similarities = layout.similarities(left, right)
    predictions = layout.predictions(similarities)
    return [
        Explanation(
            sentence_a=a,
            sentence_b=b,
            similarity=float(whole[row]),
            residual=None if residual is None else float(residual[row]),
            facets=_readings(layout, similarities[row], predictions[row]),
        )
        for row, (a, b) in enumerate(pairs)
    ]


def _readings(
    layout: FacetLayout, similarities: NDArray[np.float64], predictions: NDArray[np.float64]
) -> tuple[FacetReading, ...]:
    standings = [facet.standing(float(value)) for facet, value in zip(layout.facets, similarities, strict=True)]
    # Facets are compared by how unusual they are: most pairs agree in negation, so that a 0.9 there is low.
    known = [standing for standing in standings if standing is not None]
    ranked = np.array(known) if len(known) == len(standings) else predictions
    marks: list[Mark] = [""] * len(standings)
    if ranked.max() > ranked.min():
        marks[int(ranked.argmax())], marks[int(ranked.argmin())] = "highest", "lowest"
    return tuple(
        FacetReading(
            name=facet.name,
            similarity=float(similarities[k]),
            prediction=float(predictions[k]),
            standing=standings[k],
            mark=marks[k],
        )
        for k, facet in enumerate(layout.facets)
    )
