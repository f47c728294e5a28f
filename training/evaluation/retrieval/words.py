"""Rankings by words alone, without an encoder: TF-IDF and BM25."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from training.nearest import Similarities

_K1, _B = 1.5, 0.75
_WORD = r"(?u)\b\w+\b"


def tfidf(texts: Sequence[str]) -> sparse.csr_array:
    """Return the TF-IDF vectors of texts, of unit length, (n_texts, n_words): scikit-learn's, with its defaults."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return _counted(TfidfVectorizer(token_pattern=_WORD, dtype=np.float32), texts)


def bm25(texts: Sequence[str]) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the factors of BM25: words of the queries and weights of the texts, each (n_texts, n_words).

    A word that occurs f times in a text of length |t| weighs idf · f (k₁ + 1) / (f + k₁ (1 − b + b |t| / mean length)),
    idf = ln(1 + (n − n_w + ½) / (n_w + ½)), k₁ = 1.5, b = 0.75 (Robertson & Zaragoza 2009, with Lucene's idf, which is
    never negative). A word counts once per query, however often it occurs there: queries are whole texts here.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    counts = _counted(CountVectorizer(token_pattern=_WORD, dtype=np.float32), texts)
    lengths = np.asarray(counts.sum(axis=1)).reshape(-1)
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((len(texts) - having + 0.5) / (having + 0.5))
    rows = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
    damping = _K1 * (1 - _B + _B * lengths[rows] / max(lengths.mean(), 1e-9))
    weights = counts.copy()
    weights.data = (idf[counts.indices] * counts.data * (_K1 + 1) / (counts.data + damping)).astype(np.float32)
    counts.data = np.ones_like(counts.data)
    return counts, weights


def products_of(queries: sparse.csr_array, texts: sparse.csr_array) -> Similarities:
    """Return the scalar product of queries and texts, as sparse rows."""

    def some_products(some: slice) -> NDArray[np.float32]:
        return np.asarray((queries[some] @ texts.T).toarray(), np.float32)

    return some_products


def _counted(vectorizer: Any, texts: Sequence[str]) -> sparse.csr_array:
    """Return the matrix of a scikit-learn vectorizer for texts; all zero where no text has a word."""
    try:
        return cast("sparse.csr_array", sparse.csr_array(vectorizer.fit_transform(texts)))
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        return cast("sparse.csr_array", sparse.csr_array((len(texts), 1), dtype=np.float32))
