"""The view of texts in two dimensions: similar ones are close together, coloured by label, metric or facet.

    vectors of some texts ── a facet, or all of it ── t-SNE ──> places
    colour    label:topic     the most frequent labels of an aspect
              metric:smatch   the mean over the pairs of a text in the newest release
              facet:srl       the similarity to one text

The picture is drawn in the browser, on a canvas: any number of points, and what is encircled becomes a table.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import EmptyText, TooFewTexts, UnknownName
from features.sentences import normalise, sentence_id
from features.store.reader import decoding
from features.store.releases import Release
from features.store.store import Store
from flows.explorer.data import JOINED
from flows.explorer.searching import AMONG, SEED, embedded_texts, facet_names
from flows.explorer.session import Tell
from flows.explorer.views import COLUMN, ENCODER, Answer, Parameter, Query, View
from training.encoders.s3bert.facets import WHOLE, FacetLayout, facet_dimensions
from training.nearest import unit
from training.search.blocks import VectorBlocks, facet_cosines
from training.search.texts import SearchedTexts
from training.search.vectors import embed

_POINTS, _MOST_POINTS = 1000, 10_000
_COLOURS = 9


class MapView(View):
    """Texts in two dimensions."""

    name = "map"
    title = "Map"
    gives = "points with their place in [0, 1], their text, and the label or value that gives them their colour"
    parameters = (
        AMONG,
        COLUMN,
        Parameter("space", "the facet by which texts are placed; `sentence`, the default, for the whole embedding"),
        Parameter("colour", "`label:ASPECT`, `metric:NAME` or `facet:NAME`"),
        Parameter("like", "the text to which facets are compared for their colour"),
        Parameter("points", f"how many texts to draw, {_POINTS:,} by default", "integer"),
        ENCODER,
    )

    def form(self, query: Query) -> dict[str, Any]:
        """Return what to draw."""
        return {"facets": facet_names(self, query, (query.text("space"),)), "points": f"{_POINTS}"}

    def answer(self, query: Query) -> Answer | None:
        """Place the texts, and find what colours them."""
        if not query.starting(""):
            return None
        count, space = query.count("points", _POINTS, _MOST_POINTS), query.text("space", WHOLE)
        explainer = self.explainer(query)
        searched, vectors, key = embedded_texts(self.session, query, explainer, count)
        dimensions = facet_dimensions(explainer.layout, space)
        rows = np.arange(len(searched))
        if len(rows) > count:
            rows = np.sort(np.random.default_rng(SEED).choice(len(rows), count, replace=False))
        places = self.session.background.result_of(
            ("map", space, count, *key),
            lambda tell: _places(vectors, rows.tolist(), dimensions, tell),
            "Drawing the map",
            patience=query.patience,
            kept=8,
        )
        store, releases = self.session.releases()
        release = releases[-1] if releases else None
        chosen = [searched.texts[row] for row in rows.tolist()]
        options = _options(searched, release, store, facet_names(self, query))
        colour = query.choice("colour", options)
        kind, _, name = colour.partition(":")
        labels: list[str] = []
        values: Sequence[float | None] = []
        if kind == "label":
            labels = [", ".join(searched.labels[row].get(name, ())) for row in rows.tolist()]
        elif kind == "metric" and store is not None and release is not None:
            values = _metric_means(store, release, name, chosen)
        elif kind == "facet":
            if not (like := normalise(query.text("like"))):
                raise EmptyText("A facet colours texts by their similarity to one of them: name that text.")
            values = self.session.background.result_of(
                ("colour", name, like, count, *key),
                lambda _: _cosines(self.explainer(query).reader, like, vectors, rows.tolist(), explainer.layout, name),
                "Comparing the texts",
                patience=query.patience,
            )
        counts = Counter(label for label in labels if label).most_common(_COLOURS)
        points = [
            {"x": round(float(x), 4), "y": round(float(y), 4), "text": text}
            | ({"label": labels[n]} if labels else {})
            | ({"value": values[n]} if values else {})
            for n, ((x, y), text) in enumerate(zip(places, chosen, strict=True))
        ]
        legend = [{"label": label, "count": count} for label, count in counts]
        shown = [value for value in values if value is not None]
        scale = {"legend": legend, "ends": [min(shown), max(shown)] if shown else []}
        grey = {"others": sum(label not in dict(counts) for label in labels), "unmeasured": len(values) - len(shown)}
        texts, of = {"searched": searched, "drawn": len(points)}, searched.drawn_from or len(searched)
        return Answer(
            scale | grey | texts | {"options": options, "facts": explainer.facts, "seed": SEED},
            {"colour": colour, "of": of, "encoder": str(explainer.folder)} | scale | {"points": points},
        )


def _options(searched: SearchedTexts, release: Release | None, store: Store | None, facets: Sequence[str]) -> list[str]:
    aspects = sorted({aspect for labels in searched.labels for aspect in labels})
    metrics: list[str] = []
    if store is not None and release is not None and "metrics" in release.versions:
        columns = store.scan("metrics", release.versions["metrics"]).collect_schema()
        metrics = [name for name, kind in columns.items() if kind.is_numeric()]
    each = {"label": aspects, "metric": metrics, "facet": [WHOLE, *facets]}
    return [f"{kind}:{name}" for kind, names in each.items() for name in names]


def _places(vectors: VectorBlocks, rows: Sequence[int], dimensions: slice, tell: Tell) -> NDArray[np.float64]:
    """Return the places of some texts, (n, 2), in [0, 1]."""
    from training.evaluation.retrieval.maps import LEAST_POINTS, fit_places, methods

    if len(rows) < LEAST_POINTS:
        raise TooFewTexts(f"A map needs at least {LEAST_POINTS} texts, and it would have {len(rows)}.")
    tell(f"Drawing a map of {len(rows):,} texts")
    return fit_places(methods()["t-SNE"](unit(vectors.vectors(rows)[:, dimensions]), SEED))


def _cosines(
    model: Any, like: str, vectors: VectorBlocks, rows: Sequence[int], layout: FacetLayout | None, facet: str
) -> list[float]:
    """Return the similarity of some texts to another, in a facet."""
    if layout is None:
        raise UnknownName("There is no encoder with facets.")
    some = VectorBlocks.of(vectors.vectors(rows))
    return [round(value, 4) for value in facet_cosines(embed(model, [like]), some, layout, [facet])[:, 0].tolist()]


def _metric_means(store: Store, release: Release, metric: str, texts: Sequence[str]) -> list[float | None]:
    """Return the mean of a metric over the pairs of each text in a release; None for a text without one."""
    pairs = store.scan("pairs", release.versions["pairs"])
    values = store.scan("metrics", release.versions["metrics"]).select("pair_id", value=pl.col(metric).cast(pl.Float64))
    measured = pairs.join(values, on="pair_id").drop_nulls("value")
    sides = [measured.select(sentence=side, value="value") for side in ("sentence_a", "sentence_b")]
    mean = pl.concat(sides).group_by("sentence").agg(pl.mean("value").round(4))
    with decoding(JOINED, store.location):
        means = dict(mean.collect().iter_rows())
    return [means.get(sentence_id(text)) for text in texts]
