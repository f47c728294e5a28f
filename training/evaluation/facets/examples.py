"""Facets on single pairs: all pairs as a table, and a few explained."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.metrics.explanation.anchors import joined
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.explain import explain_embeddings, with_measured
from training.encoders.s3bert.facets import FacetLayout
from training.evaluation.facets.scoring import EmbeddedPairs
from training.evaluation.models import Embed
from training.similarity import cosines

_LIKE = 0.6
_SHOWN_FACETS = ("negations", "quantifiers", "named_entities", "srl", "frames", "root")


def pair_table(
    data: MeasuredPairs, layout: FacetLayout, embedded: EmbeddedPairs, similarities: NDArray[np.float64]
) -> pl.DataFrame:
    """Return one row per pair: ids, texts, similarities, and measured and predicted value of each metric."""
    texts = np.array(data.texts, dtype=object)
    predictions = layout.predictions(similarities)
    # Without a calibration, show what the training compared with the metrics.
    predictions = np.where(np.isnan(predictions), layout.scaled(similarities), predictions)
    return data.pairs.select(
        "pair_id",
        "corpus",
        pl.Series("text_a", texts[data.first], dtype=pl.String),
        pl.Series("text_b", texts[data.second], dtype=pl.String),
        "score",
        pl.Series("similarity", cosines(embedded.encoder_left, embedded.encoder_right)),
        pl.Series("start_similarity", cosines(embedded.start_left, embedded.start_right)),
        *(pl.col(name).alias(f"{name}_measured") for name in layout.names),
        *(pl.Series(f"{name}_similarity", similarities[:, k]) for k, name in enumerate(layout.names)),
        *(pl.Series(f"{name}_predicted", predictions[:, k]) for k, name in enumerate(layout.names)),
    )


def choose_examples(
    asked: Sequence[tuple[str, str]],
    data: MeasuredPairs,
    layout: FacetLayout,
    embedded: EmbeddedPairs,
    encoder: Embed,
    similarities: NDArray[np.float64],
) -> list[dict[str, Any]]:
    """Return explained pairs: those requested, and for some facets the similar pair that agrees least in it.

    The choice uses predictions alone, so an example may be wrong; the measured values are shown next to them.
    """
    examples: list[dict[str, Any]] = []
    if asked:
        left, right = (encoder([pair[side] for pair in asked]) for side in (0, 1))
        examples += [asdict(explained) for explained in explain_embeddings(asked, left, right, layout)]
    whole = cosines(embedded.encoder_left, embedded.encoder_right)
    alike = np.flatnonzero(whole >= _LIKE)
    chosen: dict[int, list[str]] = {}
    for name in (name for name in _SHOWN_FACETS if name in layout.names and len(alike)):
        row = int(alike[similarities[alike, layout.names.index(name)].argmin()])
        chosen.setdefault(row, []).append(name)
    for row, names in chosen.items():
        pair = (data.texts[data.first[row]], data.texts[data.second[row]])
        explained = explain_embeddings([pair], embedded.encoder_left[[row]], embedded.encoder_right[[row]], layout)[0]
        measured = dict(zip(layout.names, embedded.metrics[row].astype(float).round(4).tolist(), strict=True))
        why = f"Chosen for {joined(names)}: of pairs with a similarity of {_LIKE:g} or more, the least similar there."
        examples.append(asdict(replace(with_measured(explained, measured), notes=(why,))))
    return examples
