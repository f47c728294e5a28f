"""The view of a search: texts like a query, as a whole or by weighted facets, beside those of the plain encoder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features.core.faults import EmptyText, NoEncoder
from flows.explorer.background import Tell
from flows.explorer.session import Asked
from flows.explorer.views import Answer, Query, View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from training.encoders.s3bert.facets import FacetLayout
    from training.search.texts import SearchedTexts

    Vectors = NDArray[np.float32]

_WEIGHT = "w_"
_NO_ENCODER = "There is no encoder to search with: `facetflow models pull` gets the one that comes with facetflow."
_MOST = 100
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

    def form(self, query: Query) -> dict[str, Any]:
        """Return the query, what to search, and the weights of the facets."""
        layout = self.session.explainer.layout
        weights = query.starting(_WEIGHT)
        names = (
            [] if layout is None else [facet.name for facet in layout.facets if facet.is_clear or facet.name in weights]
        )
        return {
            "q": query.text("q"),
            "among": query.text("among", self.session.texts),
            "column": query.text("column"),
            "k": query.text("k", "10"),
            "names": names,
            "weights": weights,
            "presets": [
                (title, query.changed(**{f"{_WEIGHT}{name}": preset.get(name) for name in names}))
                for title, preset in PRESETS
                if preset.keys() <= set(names)
            ],
            "in_project": self.session.here.store is not None,
            "corpora": [corpus.name for corpus in self.session.here.corpora],
            "history": self.session.history(self.name),
        }

    def answer(self, query: Query) -> Answer | None:
        """Find the texts; say of each in which facets it is close."""
        text, k = query.text("q"), query.count("k", 10, _MOST)
        among, column = query.text("among", self.session.texts), query.text("column")
        if not text:
            return None
        explainer = self.session.explainer
        if explainer.layout is None:
            raise NoEncoder(_NO_ENCODER)
        weights = {name: query.number(_WEIGHT + name) or 0.0 for name in query.starting(_WEIGHT)}
        weights = {name: weight for name, weight in weights.items() if weight}
        ask, patience = self.session.background.result_of, query.patience
        searched, vectors = ask(
            ("texts", among, column, _changed(among)),
            lambda tell: self._embedded(among, column, tell),
            "Embedding the texts",
            patience=patience,
        )
        found, plain = ask(
            ("search", text, among, column, _changed(among), k, tuple(weights.items())),
            lambda _: self._find(text, searched, vectors, weights, k),
            "Searching",
            patience=patience,
        )
        self.session.remember(Asked(self.name, query.changed(), f"{text}{' by facets' if weights else ''}"))
        facts = explainer.facts
        return Answer(
            {"found": found, "plain": plain, "searched": searched, "by": weights, "encoder": facts},
            {
                "text": text,
                "encoder": str(explainer.folder),
                "weights": weights,
                "among": {"texts": len(searched), "from": searched.origin},
                "found": found,
                "plain": plain,
            },
        )

    def _embedded(self, among: str, column: str, tell: Tell) -> "tuple[SearchedTexts, Vectors]":
        """Return the texts and their vectors, of which those of a project are stored."""
        from flows.console.searching import texts_among
        from training.search.choosing import task_of
        from training.search.vectors import cached_vectors, embed_in_parts

        explainer, here = self.session.explainer, self.session.here
        if (model := explainer.model) is None or (folder := explainer.folder) is None:
            raise NoEncoder(_NO_ENCODER)
        searched = texts_among(here, among or None, [column] if column else [])
        task = task_of(folder, None)

        def on_rows(done: int, of: int) -> None:
            tell(f"Embedding the texts: {done:,} of {of:,}")

        return searched, cached_vectors(
            here.runs, folder, task, searched.texts, lambda new: embed_in_parts(model, new, task, on_rows)
        )

    def _find(
        self, text: str, searched: "SearchedTexts", vectors: "Vectors", weights: dict[str, float], k: int
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the texts that are found, and those that the plain encoder finds, if it is part of ours."""
        import numpy as np

        from features.sentences import normalise
        from training.encoders.s3bert.facets import RESIDUAL
        from training.nearest import unit
        from training.search.by_facets import facet_cosines, weighted_scores
        from training.search.vectors import embed

        if (model := self.session.explainer.model) is None or (layout := self.session.explainer.layout) is None:
            raise NoEncoder(_NO_ENCODER)
        if not (normal := normalise(text)):
            raise EmptyText("The text to search for is empty: give one.")
        query = embed(model, [normal])
        scores = weighted_scores(query, vectors, layout, weights) if weights else (unit(vectors) @ query.T)[:, 0]
        best = _nearest(scores, k)
        plain: dict[int, float] = {}
        ranks: dict[int, int] = {}
        compares = layout.similarity == "cosine"  # else only the whole embedding can be searched by
        if layout.maps_start and compares:  # then the residual is the embedding of the start model
            of_start = facet_cosines(query, vectors, layout, [RESIDUAL])[:, 0]
            plain = _nearest(of_start, k)
            ranks = {at: int(np.sum(of_start > of_start[at])) + 1 for at in best}
        shown = list(weights) or [facet.name for facet in layout.facets if facet.is_clear and compares]
        near = facet_cosines(query, vectors[list(best)], layout, shown).tolist()
        found = [
            row | {"plain_rank": ranks.get(at), "facets": _why(shown, cosines, layout, most=len(weights) or 2)}
            for row, at, cosines in zip(_rows(searched, best), best, near, strict=True)
        ]
        return found, _rows(searched, plain)


def _why(names: Sequence[str], cosines: Sequence[float], layout: "FacetLayout", *, most: int) -> list[dict[str, Any]]:
    """Return the similarity in some facets; of many, those in which the fewest dev pairs are as similar."""
    standing = {facet.name: facet.standing for facet in layout.facets}
    facets: list[dict[str, Any]] = [
        {"name": name, "similarity": round(cosine, 4), "standing": standing[name](cosine) if name in standing else None}
        for name, cosine in zip(names, cosines, strict=True)
    ]
    return facets if len(facets) == most else sorted(facets, key=lambda facet: -(facet["standing"] or 0.0))[:most]


def _nearest(scores: "Vectors", k: int) -> dict[int, float]:
    """Return position → score of the texts with the highest scores, the best first."""
    from training.nearest import find_nearest

    nearest = find_nearest(lambda _: scores[None, :].copy(), queries=1, texts=len(scores), k=k)
    return dict(zip(nearest.positions[0].tolist(), nearest.similarities[0].tolist(), strict=True))


def _rows(searched: "SearchedTexts", best: dict[int, float]) -> list[dict[str, Any]]:
    return [
        {"rank": rank, "similarity": round(value, 6), "text": searched.texts[at]}
        | ({"id": searched.ids[at]} if searched.ids else {})
        for rank, (at, value) in enumerate(best.items(), start=1)
    ]


def _changed(among: str) -> Sequence[int]:
    """Return what changes when a file does, so that it is read again."""
    path = Path(among)
    return (path.stat().st_mtime_ns, path.stat().st_size) if among and path.exists() else ()
