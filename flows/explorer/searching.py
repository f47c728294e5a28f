"""The view of a search: texts like a query, as a whole or by weighted facets, beside those of the plain encoder."""

from collections.abc import Collection, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from features.core.faults import EmptyText, NoEncoder
from features.sentences import normalise
from flows.console.explaining import Explainer
from flows.console.searching import rows_of, texts_among
from flows.explorer.session import Asked, Session, Tell
from flows.explorer.views import COLUMN, ENCODER, Answer, Parameter, Query, View
from training.encoders.s3bert.facets import RESIDUAL, FacetLayout
from training.search.blocks import VectorBlocks, best_texts, facet_cosines, weighted_scores
from training.search.choosing import task_of
from training.search.texts import SearchedTexts
from training.search.vectors import cached_vectors, embed, embed_in_parts

_WEIGHT = "w_"
_NO_ENCODER = "There is no encoder to search with: `facetflow models pull` gets the one that comes with facetflow."
_MOST = 100
SEED = 0  # of what is drawn at random
AMONG = Parameter(
    "among", "a file of texts or of vectors (`facetflow encode`), a folder, a corpus; by default the newest release"
)
PRESETS = (
    ("Same roles and frames", {"srl": 2, "frames": 1}),
    ("Same roles and frames, other names", {"srl": 2, "frames": 1, "named_entities": -1}),
    ("Same quantities", {"quantifiers": 1, "concepts": 1}),
    ("Same negation", {"negations": 1, "concepts": 1}),
)


class SearchView(View):
    """Texts like a query."""

    name = "search"
    title = "Search"
    gives = "the texts that are found, with their similarity in facets, and those that the plain encoder finds"
    parameters = (
        Parameter("q", "what the texts should be like"),
        AMONG,
        COLUMN,
        Parameter("k", "number of results, 10 by default", "integer"),
        Parameter(f"{_WEIGHT}FACET", "weight of a facet; below 0, texts that differ in it come first", "number"),
        ENCODER,
    )

    def form(self, query: Query) -> dict[str, Any]:
        """Return the facets, and what weighs them: the query, or presets."""
        weights = query.starting(_WEIGHT)
        names = facet_names(self, query, weights)
        return {
            "names": names,
            "weights": weights,
            "presets": [
                (title, query.changed(**{f"{_WEIGHT}{name}": preset.get(name) for name in names}))
                for title, preset in PRESETS
                if preset.keys() <= set(names)
            ],
        }

    def answer(self, query: Query) -> Answer | None:
        """Find the texts; say of each in which facets it is close."""
        text, k = query.text("q"), query.count("k", 10, _MOST)
        if not text:
            return None
        weights = {name: query.number(_WEIGHT + name) or 0.0 for name in query.starting(_WEIGHT)}
        weights = {name: weight for name, weight in weights.items() if weight}
        explainer = self.explainer(query)
        searched, vectors, key = embedded_texts(self.session, query, explainer)
        rows, plain = self.session.background.result_of(
            ("search", text, k, tuple(weights.items()), *key),
            lambda _: _find(explainer, text, searched, vectors, weights, k),
            "Searching",
            patience=query.patience,
        )
        self.session.remember(Asked(self.name, query.changed(), f"{text}{' by facets' if weights else ''}"))
        facts = explainer.facts
        is_map = explainer.layout is not None and explainer.layout.maps_start
        results = {"found": rows, "plain": plain}
        among = {"texts": len(searched), "from": searched.origin}
        return Answer(
            {"searched": searched, "by": weights, "facts": facts, "is_map": is_map} | results,
            {"text": text, "encoder": str(explainer.folder), "weights": weights, "among": among} | results,
        )


def facet_names(view: View, query: Query, more: Collection[str] = ()) -> list[str]:
    """Return the facets of the chosen encoder that follow their metrics clearly, and those of `more`."""
    name = query.text("encoder")
    layout = view.session.explainer_of(name if name in view.session.encoders() else "").layout
    return [] if layout is None else [facet.name for facet in layout.facets if facet.is_clear or facet.name in more]


def embedded_texts(
    session: Session, query: Query, explainer: Explainer, most: int | None = None
) -> tuple[SearchedTexts, VectorBlocks, tuple[Hashable, ...]]:
    """Return the chosen texts with their vectors, and a key that changes when they do.

    Of texts that have to be embedded, `most` are drawn at random; all when None. A `Working` is raised when that takes
    longer than the query waits.
    """
    among, column = query.text("among", session.texts), query.text("column")
    key = (str(explainer.folder), among, column, most, *_state_of(session, among))
    searched, vectors = session.background.result_of(
        ("texts", *key),
        lambda tell: _embed(session, explainer, among, column, most, tell),
        "Embedding the texts",
        patience=query.patience,
        kept=3,
    )
    return searched, vectors, key


def _embed(
    session: Session, explainer: Explainer, among: str, column: str, most: int | None, tell: Tell
) -> tuple[SearchedTexts, VectorBlocks]:
    """Return the texts and their vectors: those of their file, or else, in a project, stored ones."""
    if (folder := explainer.folder) is None or (model := explainer.reader) is None:
        raise NoEncoder(_NO_ENCODER)
    searched = texts_among(session.here, among or None, [column] if column else [])
    task = task_of(folder, None)
    if searched.encoded is not None:
        return searched, searched.encoded.vectors(folder, task)
    if most is not None:
        searched = searched.sample(most, SEED)

    def on_rows(done: int, total: int) -> None:
        tell(f"Embedding the texts: {done:,} of {total:,}")

    vectors = cached_vectors(
        session.here.runs, folder, task, searched.texts, lambda new: embed_in_parts(model, new, task, on_rows)
    )
    return searched, VectorBlocks.of(vectors)


def _find(
    explainer: Explainer,
    text: str,
    searched: SearchedTexts,
    vectors: VectorBlocks,
    weights: dict[str, float],
    k: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the texts that are found, and those that the plain encoder finds, or the whole embedding without it."""
    if (model := explainer.reader) is None or (layout := explainer.layout) is None:
        raise NoEncoder(_NO_ENCODER)
    if not (normal := normalise(text)):
        raise EmptyText("The text to search for is empty: give one.")
    query = embed(model, [normal])
    scores = weighted_scores(query, vectors, layout, weights) if weights else vectors.cosines(query)
    best = best_texts(scores, k)
    plain: dict[int, float] = {}
    ranks: dict[int, int] = {}
    compares = layout.similarity == "cosine"  # else only the whole embedding can be searched by
    beside = None
    if layout.maps_start and compares:  # then the residual is the embedding of the start model
        beside = facet_cosines(query, vectors, layout, [RESIDUAL])[:, 0]
    elif weights:
        beside = vectors.cosines(query)
    if beside is not None:
        plain = best_texts(beside, k)
        ranks = {at: int(np.sum(beside > beside[at])) + 1 for at in best}
    shown = list(weights) or [facet.name for facet in layout.facets if facet.is_clear and compares]
    near: list[list[float]] = [[] for _ in best]
    if shown:
        near = facet_cosines(query, VectorBlocks.of(vectors.vectors(list(best))), layout, shown).tolist()
    rows = [
        row | {"plain_rank": ranks.get(at), "facets": _closest(shown, cosines, layout, most=len(weights) or 2)}
        for row, at, cosines in zip(rows_of(searched, best), best, near, strict=True)
    ]
    return rows, rows_of(searched, plain)


def _closest(names: Sequence[str], cosines: Sequence[float], layout: FacetLayout, *, most: int) -> list[dict[str, Any]]:
    """Return the similarity in some facets; of many, those in which the fewest dev pairs are as similar."""
    standing = {facet.name: facet.standing for facet in layout.facets}
    facets: list[dict[str, Any]] = [
        {"name": name, "similarity": round(cosine, 4), "standing": standing[name](cosine) if name in standing else None}
        for name, cosine in zip(names, cosines, strict=True)
    ]
    return facets if len(facets) == most else sorted(facets, key=lambda facet: -(facet["standing"] or 0.0))[:most]


def _state_of(session: Session, among: str) -> list[int]:
    """Return what changes when a file, one in a folder, or the newest release does, so that it is read again."""
    path = Path(among).expanduser()
    if not among or not path.exists():
        return [release.number for release in session.releases()[1][-1:]]
    states = [file.stat() for file in (path, *path.glob("*")) if file.exists()]
    return [number for state in states for number in (state.st_mtime_ns, state.st_size)]
