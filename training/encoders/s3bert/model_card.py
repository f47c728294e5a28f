"""The README.md of an S3BERT: its training data and training, its scores, and the terms of its use."""

from collections.abc import Mapping
from typing import Any

from training.encoders.cards import LAST_KEPT, closing_parts, course, data_parts, front_matter
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
    """Return the model card as Markdown; an evaluation writes its scores into it.

    Args:
        training: content of `training.json`.
    """
    settings = training["settings"]
    similarity = _SIMILARITIES[settings.get("similarity", "cosine")]
    parts = [
        front_matter("s3bert"),
        f"# S3BERT encoder, from {settings['backbone']}",
        _ABOUT.format(similarity=similarity),
        _usage(training),
        *data_parts(training, unit="pairs", exported="measured pairs"),
        "## Training",
        course(training, _chosen(training)),
        *closing_parts(settings),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(training: Mapping[str, Any]) -> str:
    facets = training["facets"]
    first, rest, dimension = facets[0], facets[-1]["stop"], training["dimension"]
    spans = ", ".join(f"{facet['name']} {facet['start']}–{facet['stop'] - 1}" for facet in facets)
    residual = f", residual {rest}–{dimension - 1}" if rest < dimension else ""
    return f"""\
```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/to/this/folder")
embeddings = encoder.encode(["Two cats sleep.", "A cat is awake."])
{first["name"]} = embeddings[:, {first["start"]}:{first["stop"]}]
```

Dimensions of the {dimension}: {spans}{residual}; `facets.json`
has the same, with the scale of each facet."""


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
