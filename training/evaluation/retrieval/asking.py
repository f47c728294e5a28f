"""Scores of one group of texts: how well each ranking finds the texts that belong together, as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.metrics.bootstrap import Bootstrap
from training.data.shared_labels import AspectLabels
from training.evaluation.retrieval.groups import Group
from training.evaluation.retrieval.scoring import summarise
from training.evaluation.retrieval.words import bm25, products_of, tfidf
from training.nearest import Similarities, cosines_of, find_nearest
from training.ranking import MEASURES, expected_at_random, judge

BANDS = (2, 5, 10, 25, 100)
"""Minimum number of texts with a label, for each frequency band."""


def word_rankings(texts: Sequence[str]) -> dict[str, Similarities]:
    """Return the rankings of texts among themselves that need no encoder."""
    weights = tfidf(texts)
    return {"bm25": products_of(*bm25(texts)), "tfidf": products_of(weights, weights)}


def ask(
    group: Group, vectors: Mapping[str, NDArray[np.float32]], texts: Sequence[str], k: int, bootstrap: Bootstrap
) -> tuple[dict[str, NDArray[np.int64]], dict[str, Any], pl.DataFrame]:
    """Use each text of a group as a query for the others that belong to it.

    Args:
        group: the texts, and which of them belong together.
        vectors: `encoder`, and `start` where it is known → embeddings of the group's texts, of unit length.
        texts: the group's texts.
        k: rank at which rankings are cut off.
        bootstrap: how queries are drawn.

    Returns:
        The rankings; the scores; and one row per query with its text, its number of relevant texts, and the encoder's
        values.
    """
    similarities = {name: cosines_of(of, of) for name, of in vectors.items()} | word_rankings(texts)
    rankings = {
        name: find_nearest(of, queries=len(group), texts=len(group), k=k, themselves=True).positions
        for name, of in similarities.items()
    }
    counts, values = judge(group.relevant, rankings, texts=len(group), k=k)
    asked = counts > 0
    found: dict[str, Any] = {
        "name": group.name,
        "corpus": group.corpus,
        "way": group.way,
        "aspects": list(group.aspects),
        "texts": len(group),
        "queries": int(asked.sum()),
        "without": int((~asked).sum()),
        "labels": {aspect: len(labels.names) for aspect, labels in group.labels.items()},
        "rankings": summarise({name: of[asked] for name, of in values.items()}, bootstrap),
        "random": dict(
            zip(MEASURES, expected_at_random(counts[asked], len(group), k).mean(axis=0).tolist(), strict=True)
        ),
    }
    if group.way == "one":
        (labels,) = group.labels.values()
        found["bands"] = _by_frequency(labels, asked, values, bootstrap)
    table = pl.DataFrame(
        {
            "group": [group.name] * int(asked.sum()),
            "text": [text for text, kept in zip(texts, asked, strict=True) if kept],
            "relevant": counts[asked],
            **{name: values["encoder"][asked, column] for column, name in enumerate(MEASURES)},
        }
    )
    return rankings, found, table


def ask_for(
    labels: Sequence[str], group: Group, rankings: Mapping[str, NDArray[np.int64]], k: int, bootstrap: Bootstrap
) -> dict[str, Any] | None:
    """Return how well texts with certain labels find each other, None where there are none.

    Labels are drawn for the intervals, each with its queries: the question is whether other labels would be found.

    Args:
        labels: the labels, of the one aspect of the group.
        group: the texts.
        rankings: of the group.
        k: rank at which rankings are cut off.
        bootstrap: how labels are drawn.
    """
    (aspect,) = group.aspects
    known = group.shared.labels[aspect].only(labels)
    # A label of a single text finds nothing, and must not stand for the query where it has another one.
    asking = [name for name, texts in zip(known.names, known.frequencies, strict=True) if texts > 1]
    if not asking:
        return None
    chosen = replace(group, shared=group.shared.only(asking))
    counts, values = judge(chosen.relevant, rankings, texts=len(group), k=k)
    asked = counts > 0
    label = chosen.labels[aspect].matrix[asked].argmax(axis=1)  # of several, the first
    return {
        "name": group.name,
        "labels": len(asking),
        "queries": int(asked.sum()),
        "rankings": summarise({name: of[asked] for name, of in values.items()}, bootstrap, np.ravel(label)),
    }


def band_of(labels: AspectLabels) -> NDArray[np.int64]:
    """Return for each text the index in `BANDS` of the rarest of its labels that another text has, or -1."""
    frequencies = np.where(labels.frequencies > 1, labels.frequencies, np.iinfo(np.int64).max)
    rarest = np.full(labels.matrix.shape[0], np.iinfo(np.int64).max)
    rows = np.repeat(np.arange(labels.matrix.shape[0]), np.diff(labels.matrix.indptr))
    np.minimum.at(rarest, rows, frequencies[labels.matrix.indices])
    places = np.searchsorted(BANDS, rarest, side="right") - 1
    return np.where(rarest == np.iinfo(np.int64).max, -1, places).astype(np.int64)


def _by_frequency(
    labels: AspectLabels,
    asked: NDArray[np.bool_],
    values: Mapping[str, NDArray[np.float64]],
    bootstrap: Bootstrap,
) -> list[dict[str, Any]]:
    """Return the scores of the queries in each band."""
    bands, frequencies = band_of(labels), labels.frequencies
    found = []
    for place, least in enumerate(BANDS):
        most = BANDS[place + 1] - 1 if place + 1 < len(BANDS) else None
        of_band = asked & (bands == place)
        if of_band.any():
            within = (frequencies >= least) & (frequencies <= (most or len(asked)))
            found.append(
                {
                    "least": least,
                    "most": most,
                    "labels": int(within.sum()),
                    "queries": int(of_band.sum()),
                    "rankings": summarise({name: of[of_band] for name, of in values.items()}, bootstrap),
                }
            )
    return found
