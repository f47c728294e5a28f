"""The README.md of an S3BERT: its training data and training, its scores, and the terms of its use."""

from collections.abc import Mapping
from typing import Any

from training.encoders.cards import LAST_KEPT, model_card
from training.encoders.s3bert.facets import RESIDUAL
from training.encoders.settings import is_chosen

_ABOUT = """\
A sentence encoder whose embedding is divided into facets, each trained to mirror one AMR metric (S3BERT; Opitz & Frank
2022). The cosine of the whole embedding is the similarity of two sentences; {similarity} is to say how similar
they are in one respect. How far each facet follows its metric is under Scores."""
_SIMILARITIES = {
    "cosine": "the cosine of a facet",
    "manhattan": "1 minus the Manhattan distance of two sentences in a facet's dimensions",
}


def write_card(training: Mapping[str, Any]) -> str:
    """Return the model card of `training.json` as Markdown; an evaluation writes its scores into it."""
    similarity = _SIMILARITIES[training["settings"].get("similarity", "cosine")]
    return model_card(
        training,
        tag="s3bert",
        title="S3BERT encoder",
        about=_ABOUT.format(similarity=similarity),
        usage=_usage(training),
        learns_from="measured pairs",
        chosen=_chosen(training),
    )


def _usage(training: Mapping[str, Any]) -> str:
    facets, dimension = training["facets"], training["dimension"]
    first = facets[0]
    parts = [(facet["name"], facet["start"], facet["stop"]) for facet in facets]
    parts = [(RESIDUAL, 0, first["start"]), *parts, (RESIDUAL, facets[-1]["stop"], dimension)]
    spans = ", ".join(f"{name} {start}–{stop - 1}" for name, start, stop in parts if start < stop)
    return f"""\
```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/to/this/folder")
embeddings = encoder.encode(["Two cats sleep.", "A cat is awake."])
{first["name"]} = embeddings[:, {first["start"]}:{first["stop"]}]
```

Dimensions of the {dimension}: {spans}; `facets.json`
has the same, with the scale of each facet.{_of_start(training) if first["start"] else ""}"""


def _of_start(training: Mapping[str, Any]) -> str:
    settings, rest = training["settings"], training["facets"][0]["start"]
    if settings["layers_tuned"]:
        return ""
    return f"""

The first {rest} dimensions are the embedding of {settings["backbone"]} itself, so an index of such embeddings stays
valid, and vectors that exist already get facets without encoding anything again:

```python
import facetflow

facetflow.load_encoder("path/to/this/folder").facets_of(vectors)  # (n, {rest}) -> (n, {training["dimension"]})
```"""


def _chosen(training: Mapping[str, Any]) -> str:
    dev = training["dev"] or {}
    by = training.get("chosen_by", {})
    parts = [] if is_chosen(training["settings"]) else [f"{LAST_KEPT}."]
    if by.get("set"):
        start = "Human ratings" if parts else "Chosen by human ratings"
        parts.append(f"{start}: Spearman {dev['spearman']:.4f} on the {by['pairs']} pairs of {by['set']}.")
    if "total" in dev:
        parts.append(
            f"Dev loss {dev['total']:.5f} (decomposition {dev['decomposition']:.5f}, consistency "
            f"{dev['consistency']:.5f})."
        )
    return " ".join(parts) or "There were no dev pairs to choose by."
