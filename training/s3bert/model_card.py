"""The README.md of an encoder: what it learnt from, how, how good it is, and what its use is bound to."""

from collections.abc import Mapping, Sequence
from typing import Any


def write_card(training: Mapping[str, Any], scores: Mapping[str, Any] | None = None) -> str:
    """Return the model card as Markdown.

    Args:
        training: content of `training.json`.
        scores: content of `metrics.json`, once the encoder was evaluated.
    """
    settings = training["settings"]
    facets = training["facets"]
    example = facets[0]
    parts = [
        "---\nlibrary_name: sentence-transformers\npipeline_tag: sentence-similarity\ntags:\n- facetflow\n- s3bert\n---",
        f"# S3BERT encoder, from {settings['backbone']}",
        "A sentence encoder whose embedding is cut into facets, each of which mirrors one AMR metric "
        "(Opitz & Frank 2022, S3BERT). The cosine of the whole embedding is the similarity of two sentences; the cosine "
        "of a facet says how similar they are in one respect.",
        "```python\n"
        "from sentence_transformers import SentenceTransformer\n\n"
        'encoder = SentenceTransformer("path/to/this/folder")\n'
        'embeddings = encoder.encode(["Two cats sleep.", "A cat is awake."])\n'
        f"{example['name']} = embeddings[:, {example['start']}:{example['stop']}]\n"
        "```",
        f"Facets ({training['dimension']} dimensions): "
        + ", ".join(f"{facet['name']} {facet['start']}–{facet['stop'] - 1}" for facet in facets)
        + f", residual {facets[-1]['stop']}–{training['dimension'] - 1}. The same is in `facets.json`.",
        "## Training data",
        _origin(training["source"]),
        _table(
            ("corpus", "training pairs", "dev pairs", "licence"),
            [
                (name, counts["train"], counts["dev"], counts["licence"] or "not recorded; ask its source")
                for name, counts in training["corpora"].items()
            ],
        ),
        "The encoder was made from these corpora; the terms of the strictest of them may bind its use. The licence of "
        f"the backbone ({settings['backbone']}) is {training['backbone_licence'] or 'not recorded'}.",
        "## Training",
        f"{training['steps']} steps in {training['seconds']:.0f} s, the model of step {training['best_step']} kept. "
        + (
            "There were no dev pairs to choose by."
            if training["dev"] is None
            else f"Dev loss {training['dev']['total']:.5f} (decomposition {training['dev']['decomposition']:.5f}, "
            f"consistency {training['dev']['consistency']:.5f})."
        ),
        _table(("setting", "value"), [(name, f"`{value}`") for name, value in settings.items()]),
        f"Backbone `{training['backbone_digest'][:16]}`, data `{training['data_digest']}`, "
        f"{training['precision']} on {training['device']}.",
        "## Scores",
        *(_scores(scores) if scores else ["Not evaluated yet."]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _origin(source: Mapping[str, Any]) -> str:
    if "release" not in source:
        return "An exported table of measured pairs, " + ", ".join(f"{k} `{v}`" for k, v in source.items()) + "."
    versions = ", ".join(f"{table} {version}" for table, version in source["versions"].items())
    return f"Release {source['release']} of a facetflow store; table versions: {versions}."


def _scores(scores: Mapping[str, Any]) -> list[str]:
    facets = scores["facets"]
    held_out = _table(
        ("facet", "SB-full", "SB-rand", "SB-ILP", "this encoder"),
        [
            (row["name"], *(_number(row[column]) for column in ("full", "random", "assigned", "encoder")))
            for row in facets["rows"]
        ],
    )
    ratings = _table(
        ("human ratings", "pairs", "teacher", "this encoder"),
        [(row["name"], row["pairs"], _number(row["teacher"]), _number(row["encoder"])) for row in scores["ratings"]],
    )
    return [
        f"Spearman × 100 of facet and metric on {facets['pairs']} positive pairs ({facets['split']}); – where the metric "
        "is constant. The baselines read the start model: all dimensions, random ones, and those that an integer "
        "programme assigns.",
        held_out,
        "Spearman × 100 with human ratings:" if scores["ratings"] else "",
        ratings if scores["ratings"] else "",
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)
