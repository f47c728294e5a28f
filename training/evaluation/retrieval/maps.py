"""Maps: embeddings in two dimensions, coloured by label, and two full-space numbers that a picture cannot show.

    t-SNE   van der Maaten & Hinton 2008, by scikit-learn
    UMAP    McInnes et al. 2018, where umap-learn is installed (`pip install 'facetflow[maps]'`)

Neighbours on a map are mostly neighbours in the full space; distances between clusters, and their sizes, mean little.
Maps are HTML without scripts: one point per text, at its place on each map, with the text shown on hover.

    encoder · agree 54 %         start model · agree 48 %
    ┌──────────────┐             ┌──────────────┐    a <label> per text: a radio button and a dot on each map, so that
    │  ∘ ∘   ● ←── the same text ──────→ ●  ∘   │    both light up together; Tab goes to the points, arrow keys from
    └──────────────┘             └──────────────┘    one to the next
    Deutsche Bank: … (country: Germany)              the text of the point that is hovered over or selected
    ● Germany  ● France  ○ others                    hovering over a label fades the others
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup
from numpy.typing import NDArray

from features.core.pages import render, tell, tell_number
from features.core.wording import clipped
from training.data.shared_labels import AspectLabels
from training.evaluation.retrieval.groups import Group
from training.evaluation.tables import NOTES
from training.nearest import neighbours_of

MAPS_FILE = "maps.parquet"
"""One row per point of each map: text, labels, colour, and its place by each method in each model's space."""
MOST_POINTS = 2000
LEAST_POINTS = 10
COLOURS = 9
"""Maximum number of labels with their own colour, `k0` … of the style sheet."""
_SHOWN_LETTERS = 220
MODELS = {"encoder": "encoder", "start": "start model"}
"""Key of a model → its display name."""
Project = Callable[[NDArray[np.float32], int], NDArray[np.float64]]
"""Embeddings and a seed → places, (n, 2)."""


@dataclass(frozen=True, slots=True)
class Map:
    """The points of a map, not yet projected, and its entry in the report.

    The entry has the `name` of the group of texts; the `aspect` whose labels give the colours; the number of `points`,
    drawn at random where there are fewer than the `of` texts of the group; the `seed` of the sampling and projections;
    the `legend`, the most frequent labels with the number of points in their colour, largest first; the `methods`;
    and of each model among the `sides` two numbers of the full space:

    agreement     share of the `k` nearest other points that share a label
    silhouette    mean silhouette of the coloured points by cosine distance (Rousseeuw 1987), in [-1, 1]; None where
                  fewer than two labels have a colour
    """

    entry: Mapping[str, Any]
    texts: Sequence[str]  # (n_points,)
    labels: Sequence[str]  # of each point, joined
    colours: Sequence[str]  # label that gives each point its colour; empty where it has none of the legend
    vectors: Mapping[str, NDArray[np.float32]]  # model → embeddings of the points

    def draw(self, projections: dict[str, NDArray[np.float64]]) -> pl.DataFrame:
        """Return the points with their places; `projections` has those made before, by the digest of their vectors."""
        columns: dict[str, Any] = {
            "map": [self.entry["name"]] * len(self.texts),
            "text": list(self.texts),
            "labels": list(self.labels),
            "colour": list(self.colours),
        }
        for side, vectors in self.vectors.items():
            for method, project in methods().items():
                key = f"{method} {hashlib.blake2b(vectors.tobytes()).hexdigest()}"
                if key not in projections:
                    projections[key] = fit_places(project(vectors, self.entry["seed"]))
                for axis, name in enumerate("xy"):
                    columns[place_column(side, method, name)] = projections[key][:, axis]
        return pl.DataFrame(columns)


def place_column(side: str, method: str, axis: str) -> str:
    """Return the column of maps.parquet with one coordinate of the points, in [0, 1]."""
    return f"{side} {method} {axis}"


def methods() -> dict[str, Project]:
    """Return name → projection method, for those that are installed."""
    return {"t-SNE": _tsne, **({"UMAP": _umap} if find_spec("umap") is not None else {})}


def choose_points(
    group: Group, texts: Sequence[str], vectors: Mapping[str, NDArray[np.float32]], seed: int, k: int
) -> list[Map]:
    """Return the map of a group of one aspect; none where it has too few texts. Embeddings have unit length."""
    if len(group) < LEAST_POINTS:
        return []
    drawn = np.arange(len(group))
    if len(group) > MOST_POINTS:
        drawn = np.sort(np.random.default_rng(seed).choice(len(group), MOST_POINTS, replace=False))
    ((aspect, labels),) = group.labels.items()
    of_points = AspectLabels(labels.names, labels.matrix[drawn])
    alike = group.shared.matrix(drawn, drawn)  # 2,000 points at most, so all at once
    order = np.argsort(-of_points.frequencies, kind="stable")[:COLOURS].tolist()
    ranks = {labels.names[position]: rank for rank, position in enumerate(order)}
    indices, starts = of_points.matrix.indices, of_points.matrix.indptr
    names = [sorted(labels.names[i] for i in indices[a:b].tolist()) for a, b in pairwise(starts)]
    # A text with several labels has the colour of the most frequent one.
    colours = [min((name for name in of_text if name in ranks), key=ranks.__getitem__, default="") for of_text in names]
    counts = Counter(colours)
    k = min(k, len(drawn) - 1)
    points = {side: np.ascontiguousarray(embeddings[drawn]) for side, embeddings in vectors.items()}
    sides = {
        side: {
            "agreement": float(np.take_along_axis(alike, neighbours_of(embeddings, k), axis=1).mean()),
            "silhouette": _silhouette(embeddings, colours),
        }
        for side, embeddings in points.items()
    }
    entry = {
        "name": group.name,
        "aspect": aspect,
        "points": len(drawn),
        "of": len(group),
        "seed": seed,
        "k": k,
        "legend": {name: counts[name] for name in sorted(ranks, key=lambda name: -counts[name]) if counts[name]},
        "methods": list(methods()),
        "sides": sides,
    }
    chosen = [texts[position] for position in drawn.tolist()]
    return [Map(entry, chosen, [", ".join(of_text) for of_text in names], colours, points)]


def _silhouette(vectors: NDArray[np.float32], colours: Sequence[str]) -> float | None:
    from sklearn.metrics import silhouette_score

    coloured = np.array([bool(colour) for colour in colours])
    names = [colour for colour in colours if colour]
    if not 2 <= len(set(names)) < len(names):
        return None
    return float(silhouette_score(vectors[coloured], names, metric="cosine"))


def fit_places(places: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return places, (n, 2), scaled into the middle of a square with sides of length 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    size = max(float((high - low).max()), 1e-9)
    return np.asarray(0.5 + (places - (low + high) / 2) / size, np.float64)


def _tsne(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    if (vectors == vectors[0]).all():  # scikit-learn divides by their spread, and crashes on what comes out
        return np.zeros((len(vectors), 2))
    wide = min(30.0, (len(vectors) - 1) / 3)
    # Vectors have unit length, so distances order neighbours as cosines do.
    return np.asarray(TSNE(perplexity=wide, init="pca", random_state=seed).fit_transform(vectors), np.float64)


def _umap(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float64]:
    from umap import UMAP

    # With a seed UMAP uses one thread, and warns unless n_jobs says so.
    model = UMAP(n_neighbors=min(15, len(vectors) - 1), random_state=seed, n_jobs=1)
    return np.asarray(model.fit_transform(vectors), np.float64)


def draw_points(
    drawn: Mapping[str, Any], points: pl.DataFrame, name: str, titles: Mapping[str, str] | None = None
) -> Markup:
    """Return the maps of one aspect side by side, as HTML, from the entry of a `Map` and the rows of maps.parquet."""
    sides, methods = list(drawn["sides"]), drawn["methods"]
    coordinates = [
        points[place_column(side, method, axis)].to_list() for method in methods for side in sides for axis in "xy"
    ]
    kinds = {label: f"k{number}" for number, label in enumerate(drawn["legend"])}
    # Order for the arrow keys: by colour, and from left to right on the first map.
    order = sorted(range(points.height), key=lambda row: (kinds.get(points["colour"][row], "kn"), coordinates[0][row]))
    texts, labels, colours = (points[column].to_list() for column in ("text", "labels", "colour"))
    shown = [clipped(text, _SHOWN_LETTERS) for text in texts]
    others = points.height - sum(drawn["legend"].values())
    legend = [{"kind": kinds[label], "label": label, "count": count} for label, count in drawn["legend"].items()]
    return render(
        "training.evaluation/map.html",
        name=name,
        drawn=drawn,
        methods=methods,
        captions=[_caption(drawn, side, titles) for side in sides],
        points=[
            {
                "kind": kinds.get(colours[row], "kn"),
                # A coordinate for each side and method, in hundredths of a map.
                "at": ";".join(f"--{'abcdefgh'[n]}:{100 * values[row]:.1f}" for n, values in enumerate(coordinates)),
                "labels": labels[row],
                "text": shown[row],
            }
            for row in order
        ],
        legend=[*legend, *([{"kind": "kn", "label": "other", "count": others}] if others else [])],
        note=tell(NOTES, "map", drawn, methods),
    )


def _caption(drawn: Mapping[str, Any], side: str, titles: Mapping[str, str] | None) -> str:
    scores = drawn["sides"][side]
    silhouette = "" if scores["silhouette"] is None else f", silhouette {tell_number(scores['silhouette'], 2)}"
    what = MODELS[side].capitalize() if titles is None else titles[side]
    return f"{what}: {100 * scores['agreement']:.0f} % of the {drawn['k']} nearest share a label{silhouette}"
