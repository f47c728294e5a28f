"""Which words make two sentences similar: the cosine, overall or of a facet, as a sum over pairs of words.

Where a sentence embedding is the mean of its tokens' vectors, followed by linear layers at most, both numbers are sums:

    v = Σᵢ vᵢ,   w = Σⱼ wⱼ      cos(v, w) = Σᵢ Σⱼ  vᵢ·wⱼ / (|v| |w|)

with v, w cut to the dimensions of the facet, and the shares of a word's tokens added up. The vector of a token comes
from the last layer and has read the whole sentence: a share is what the model reads at that word, not what the word
alone means.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from features.core.faults import CannotExplain, UnknownName
from features.core.wording import did_you_mean
from features.sentences import normalise
from training.encoders.s3bert.facets import RESIDUAL, FacetLayout
from training.similarity import TINY

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

WHOLE = "sentence"
"""Stands for all dimensions, as in the tables of `explain`."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """A similarity of two sentences, divided among the pairs of their words."""

    facet: str  # what is similar: a facet, `residual`, or `sentence` for the whole
    # the words of the first sentence as its tokenizer separates them, with marks such as `[CLS]`
    words_a: tuple[str, ...]
    words_b: tuple[str, ...]  # those of the second sentence
    # share of each pair of words, (n_words_a, n_words_b), float64; some are negative. They sum to the cosine
    shares: NDArray[np.float64]

    @property
    def similarity(self) -> float:
        """The cosine, in [-1, 1]."""
        return float(self.shares.sum())

    @property
    def of_a(self) -> NDArray[np.float64]:
        """Share of each word of the first sentence, (n_words_a,)."""
        return np.asarray(self.shares.sum(axis=1))

    @property
    def of_b(self) -> NDArray[np.float64]:
        """Share of each word of the second sentence, (n_words_b,)."""
        return np.asarray(self.shares.sum(axis=0))

    def as_json(self) -> dict[str, Any]:
        """Return the fields, the shares as nested lists, rounded to 6 decimals."""
        shares = self.shares.round(6).tolist()
        return {"facet": self.facet, "words_a": self.words_a, "words_b": self.words_b, "shares": shares}

    def strongest(self, count: int) -> list[tuple[str, str, float]]:
        """Return the `count` pairs of words with the largest absolute shares: word a, word b, share."""
        order = np.argsort(-np.abs(self.shares), axis=None, kind="stable")[:count]
        rows, columns = np.unravel_index(order, self.shares.shape)
        return [
            (self.words_a[row], self.words_b[column], float(self.shares[row, column]))
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]


def attribute(
    model: "SentenceTransformer",
    layout: FacetLayout | None,
    a: str,
    b: str,
    facet: str = WHOLE,
    *,
    route: str | None = None,
) -> Attribution:
    """Divide a similarity of two sentences among the pairs of their words, for an encoder that pools by a mean."""
    dimensions = facet_dimensions(layout, facet)
    if layout is not None and layout.similarity != "cosine" and facet in layout.names:
        raise CannotExplain("this encoder compares facets by their L1 distance, which is no sum over pairs of words")
    (words_a, left), (words_b, right) = (_word_vectors(model, normalise(text), route) for text in (a, b))
    left, right = left[:, dimensions], right[:, dimensions]
    norm = np.linalg.norm(left.sum(axis=0)) * np.linalg.norm(right.sum(axis=0))
    return Attribution(facet, words_a, words_b, left @ right.T / max(float(norm), TINY))


def facet_dimensions(layout: FacetLayout | None, facet: str) -> slice:
    """Return the dimensions of a facet, of the `residual`, or of the whole `sentence`."""
    if facet == WHOLE:
        return slice(None)
    if layout is None:
        raise UnknownName(f"the encoder has no facets, so no facet {facet!r}; leave the facet out")
    dimensions = {each.name: slice(each.start, each.stop) for each in layout.facets}
    if layout.residual.start < layout.residual.stop:
        dimensions[RESIDUAL] = layout.residual
    if facet not in dimensions:
        names = f"choose from {', '.join(dimensions)}, or {WHOLE} for all of them"
        raise UnknownName(f"the encoder has no facet {facet!r}; {did_you_mean(facet, dimensions, names)}")
    return dimensions[facet]


def _word_vectors(
    model: "SentenceTransformer", text: str, route: str | None
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the words of a sentence and the sum of each word's token vectors, (n_words, d)."""
    import torch

    with torch.no_grad():
        tokens = _token_vectors(model, text, route).double().cpu().numpy()
    names, numbers = _words(model, text, len(tokens))
    vectors = np.zeros((len(names), tokens.shape[1]))
    np.add.at(vectors, numbers, tokens)
    return names, vectors


def _token_vectors(model: "SentenceTransformer", text: str, route: str | None) -> "torch.Tensor":
    """Return the vectors of a sentence's tokens whose mean is its embedding, up to the norm, (n_tokens, d)."""
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Router
    from sentence_transformers.util import batch_to_device
    from torch.nn import Identity

    modules: list[Any] = []
    for module in model:
        modules += cast("Any", module.sub_modules)[route] if isinstance(module, Router) else [module]
    kinds = [type(module) for module in modules]
    pooled = kinds.index(Pooling) if Pooling in kinds else len(kinds)
    if pooled == len(kinds) or modules[pooled].pooling_mode not in {"mean", ("mean",)}:
        raise CannotExplain(
            "words have shares only where an embedding is the mean of its tokens, and this encoder pools otherwise: "
            "leave the words out, or use an encoder of kind s3bert"
        )
    features: Any = batch_to_device(model.preprocess([text]), model.device)
    for module in modules[:pooled]:
        features = module(features)
    vectors: torch.Tensor = features["token_embeddings"][0][features["attention_mask"][0].bool()]
    for module in modules[pooled + 1 :]:
        if isinstance(module, Dense) and isinstance(module.activation_function, Identity):
            vectors = module.linear(vectors)  # a bias is the same for all tokens, so their mean has it once
        elif isinstance(module, Normalize):
            vectors = vectors / vectors.mean(dim=0).norm()
        else:
            raise CannotExplain(f"words have no shares: {type(module).__name__} follows the pooling and is not linear")
    return vectors


def _words(model: "SentenceTransformer", text: str, n_tokens: int) -> tuple[tuple[str, ...], list[int]]:
    """Return the words and marks of a sentence, and the number of the word of each token."""
    encoded = model.tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=n_tokens)
    names: list[str] = []
    numbers: list[int] = []
    last: int | None = None
    for word, (start, end), token in zip(encoded.word_ids(), encoded["offset_mapping"], encoded.tokens(), strict=True):
        if word is None:
            names.append(token)
        elif word != last:
            names.append(text[start:end])
        else:
            names[-1] += text[start:end]
        last = word
        numbers.append(len(names) - 1)
    return tuple(names), numbers
