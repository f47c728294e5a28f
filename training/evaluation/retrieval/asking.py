"""Scores of one group of texts: how well each ranking finds the texts that belong together, as JSON.

Means are over the queries that have a relevant text; the bootstrap draws queries, the same for all rankings, or, where
the question is how far other labels would be found, all queries of a label at once. Beside the encoder stand rankings
by words alone, TF-IDF and BM25.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import compress, zip_longest
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from features.metrics.bootstrap import Bootstrap
from training.data.shared_labels import AspectLabels
from training.evaluation.bootstrap import GroupedBootstrap, compare, differing, draw_means, interval
from training.evaluation.retrieval.groups import Group
from training.nearest import Similarities, cosines_of, find_nearest
from training.ranking import MEASURES, expected_at_random, judge

BANDS = (2, 5, 10, 25, 100)
"""Minimum number of texts with a label, for each frequency band."""
_K1, _B = 1.5, 0.75
_WORD = r"(?u)\b\w+\b"


def ask(
    group: Group, vectors: Mapping[str, NDArray[np.float32]], texts: Sequence[str], k: int, bootstrap: Bootstrap
) -> tuple[dict[str, NDArray[np.int64]], dict[str, Any], list[str], dict[str, NDArray[Any]]]:
    """Use each text of a group as a query for the others that belong to it; rankings are cut off at rank k.

    Vectors, of unit length, are those of `encoder`, and of `start` where it is known.

    Returns the rankings; the scores; the text of each query; and its number of relevant texts and the encoder's values.
    """
    words = count_words(texts)
    weights = tfidf(words)
    by_words = {"bm25": products_of(*bm25(words)), "tfidf": products_of(weights, weights)}
    similarities = {name: cosines_of(own, own) for name, own in vectors.items()} | by_words
    rankings = {
        name: find_nearest(similarity, queries=len(group), texts=len(group), k=k, themselves=True).positions
        for name, similarity in similarities.items()
    }
    counts, values = judge(group.relevant, rankings, texts=len(group), k=k)
    queries = counts > 0
    summary = summarise({name: quality[queries] for name, quality in values.items()}, bootstrap)
    mrr, at_random = summary["encoder"]["mrr"], expected_at_random(counts[queries], len(group), k)
    score: dict[str, Any] = {
        "name": group.name,
        "encoder": mrr["value"],
        "encoder_interval": {end: mrr[end] for end in ("low", "high")},
        "corpus": group.corpus,
        "way": group.way,
        "aspects": list(group.aspects),
        "texts": len(group),
        "queries": int(queries.sum()),
        "without": int((~queries).sum()),
        "labels": {aspect: len(labels.names) for aspect, labels in group.labels.items()},
        "rankings": summary,
        "random": dict(zip(MEASURES, at_random.mean(axis=0).tolist(), strict=True)),
    }
    if group.way == "one":
        (labels,) = group.labels.values()
        score["bands"] = _by_frequency(labels, queries, values, bootstrap)
    of_each = {"relevant": counts[queries]} | dict(zip(MEASURES, values["encoder"][queries].T, strict=True))
    return rankings, score, list(compress(texts, queries)), of_each


def ask_for(
    labels: Sequence[str], group: Group, rankings: Mapping[str, NDArray[np.int64]], k: int, bootstrap: Bootstrap
) -> dict[str, Any] | None:
    """Return how well texts with certain labels of the group's one aspect find each other, None where there are none.

    Labels are drawn for the intervals, each with its queries: the question is whether other labels would be found.
    """
    (aspect,) = group.aspects
    selection = group.shared.labels[aspect].only(labels)
    # A label of a single text finds nothing, and must not stand for the query where it has another one.
    asking = [name for name, texts in zip(selection.names, selection.frequencies, strict=True) if texts > 1]
    if not asking:
        return None
    chosen = replace(group, shared=group.shared.only(asking))
    counts, values = judge(chosen.relevant, rankings, texts=len(group), k=k)
    queries = counts > 0
    label = chosen.labels[aspect].matrix[queries].argmax(axis=1)  # of several, the first
    return {
        "name": group.name,
        "labels": len(asking),
        "queries": int(queries.sum()),
        "rankings": summarise({name: quality[queries] for name, quality in values.items()}, bootstrap, np.ravel(label)),
    }


def band_of(labels: AspectLabels) -> NDArray[np.int64]:
    """Return for each text the index in `BANDS` of the rarest of its labels that another text has, or -1."""
    frequencies = np.where(labels.frequencies > 1, labels.frequencies, np.iinfo(np.int64).max)
    rarest = np.full(labels.matrix.shape[0], np.iinfo(np.int64).max)
    rows = np.repeat(np.arange(labels.matrix.shape[0]), np.diff(labels.matrix.indptr))
    np.minimum.at(rarest, rows, frequencies[labels.matrix.indices])
    bands = np.searchsorted(BANDS, rarest, side="right") - 1
    return np.where(rarest == np.iinfo(np.int64).max, -1, bands).astype(np.int64)


def _by_frequency(
    labels: AspectLabels,
    queries: NDArray[np.bool_],
    values: Mapping[str, NDArray[np.float64]],
    bootstrap: Bootstrap,
) -> list[dict[str, Any]]:
    bands, frequencies = band_of(labels), labels.frequencies
    scores = []
    for number, (least, above) in enumerate(zip_longest(BANDS, BANDS[1:])):
        of_band = queries & (bands == number)
        if of_band.any():
            within = (frequencies >= least) & (frequencies < (above or len(queries) + 1))
            scores.append(
                {
                    "least": least,
                    "most": above and above - 1,
                    "labels": int(within.sum()),
                    "queries": int(of_band.sum()),
                    "rankings": summarise({name: quality[of_band] for name, quality in values.items()}, bootstrap),
                }
            )
    return scores


def summarise(
    values: Mapping[str, NDArray[np.float64]], bootstrap: Bootstrap, labels: NDArray[np.int64] | None = None
) -> dict[str, dict[str, Any]]:
    """Return means, their intervals, and how much the first ranking differs from each of the others.

    Values, ranking → (n_queries, 5), are those of `MEASURES`, the encoder's first. If labels of the queries are given,
    (n_queries,), labels are drawn.

    Ranking → measure → `value`, `low`, `high`; and for the others `difference`, measure → the first ranking minus this
    one, as a `Difference`. What is of an interval is None where there are too few queries, or labels, for one.
    """
    names = list(values)
    first = values[names[0]]
    drawn = np.arange(len(first)) if labels is None else np.unique(labels, return_inverse=True)[1]
    grouped = GroupedBootstrap(bootstrap.resamples, bootstrap.seed, bootstrap.confidence, drawn)
    # From per-query differences: between means of equal values, rounding leaves a small non-zero value of one sign.
    both = np.concatenate([*values.values(), *(first - values[name] for name in names[1:])], axis=1)
    draws = draw_means(both, grouped).reshape(bootstrap.resamples, -1, len(MEASURES))
    summary: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        exact = values[name].mean(axis=0)
        summary[name] = {"difference": {}} if number else {}
        for column, measured in enumerate(MEASURES):
            ends = interval(draws[:, number, column], grouped, mean=True)
            summary[name][measured] = {"value": float(exact[column]), **(ends or {"low": None, "high": None})}
            if number:
                differences = draws[:, len(names) + number - 1, column]
                differ = differing(first[:, column], values[name][:, column], drawn.tolist())
                over = compare(differences, np.zeros(1), grouped, mean=True, differ=differ)
                summary[name]["difference"][measured] = over and asdict(over)
    return summary


def count_words(texts: Sequence[str]) -> sparse.csr_array:
    """Return how often each word occurs in each text, (n_texts, n_words); all zero where no text has a word."""
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        counts = CountVectorizer(token_pattern=_WORD, dtype=np.float32).fit_transform(texts)
    except ValueError:  # no text has a word
        counts = (len(texts), 1)
    return cast("sparse.csr_array", sparse.csr_array(counts, dtype=np.float32))


def tfidf(counts: sparse.csr_array) -> sparse.csr_array:
    """Return the TF-IDF vectors of texts, of unit length, (n_texts, n_words): scikit-learn's, with its defaults."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return cast("sparse.csr_array", sparse.csr_array(TfidfTransformer().fit_transform(counts)))


def bm25(counts: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the factors of BM25: words of the queries and weights of the texts, each (n_texts, n_words).

    A word that occurs f times in a text of length |t| weighs idf · f (k₁ + 1) / (f + k₁ (1 − b + b |t| / mean length)),
    idf = ln(1 + (n − n_w + ½) / (n_w + ½)), k₁ = 1.5, b = 0.75 (Robertson & Zaragoza 2009, with Lucene's idf, which is
    never negative). A word counts once per query, however often it occurs there: queries are whole texts here.
    """
    lengths = np.asarray(counts.sum(axis=1)).reshape(-1)
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((counts.shape[0] - having + 0.5) / (having + 0.5))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    damping = _K1 * (1 - _B + _B * lengths[rows] / max(lengths.mean(), 1e-9))
    weights = counts.copy()
    weights.data = (idf[counts.indices] * counts.data * (_K1 + 1) / (counts.data + damping)).astype(np.float32)
    return counts.astype(np.bool_).astype(np.float32), weights


def products_of(queries: sparse.csr_array, texts: sparse.csr_array) -> Similarities:
    """Return the scalar product of queries and texts, as sparse rows."""
    return lambda some: np.asarray((queries[some] @ texts.T).toarray(), np.float32)
