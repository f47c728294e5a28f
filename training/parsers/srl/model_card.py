"""The README.md of a tagger: its training data, accuracy, speed and licence terms."""

from collections.abc import Mapping
from typing import Any

from training.markdown import table
from training.runs import flattened

_ABOUT = """\
A tagger of semantic roles (PropBank) in the architecture and file format of AllenNLP's `srl_bert`: BERT with the
predicate marked by token types, BIO tags, constrained Viterbi. A separate head finds the predicates. Weights are in
half precision; the parameters that equal those of the base encoder are not stored here."""
_DATA = """\
Trained on `{file}`: {sentences:,} sentences, {predicates:,} predicates. Licence of these annotations: {licence}; it
also binds the use of the weights. The base encoder, {base} (`{digest}`), is under {base_licence}."""
_SCORES = """\
On `{file}`: {sentences:,} sentences, {predicates:,} predicates, none of them trained on. Arguments as `srl-eval.pl`
counts them, predicates (V) excluded."""


def write_card(report: Mapping[str, Any]) -> str:
    """Return the model card of `training.json` as Markdown."""
    settings = report["settings"]
    licences = {"licence": report["licence"], "base_licence": report["base_licence"]}
    parts = [
        f"# Semantic role tagger, from {settings['backbone']}",
        _ABOUT,
        "## Data and licence",
        _DATA.format(**report["train"], **licences, base=settings["backbone"], digest=report["base_digest"][:16]),
        "## Scores",
        _SCORES.format(**report["dev"]),
        _scores(report["scores"]),
        "## Training",
        f"{report['steps']:,} steps in {report['seconds'] / 60:.0f} minutes of one process. Settings:",
        "\n".join(f"- {name}: `{value}`" for name, value in flattened(settings).items()),
    ]
    return "\n\n".join(parts) + "\n"


def _scores(scores: Mapping[str, Any]) -> str:
    names = {
        "gold_predicates": "arguments, gold predicates",
        "own_predicates": "arguments, own predicates",
        "predicates": "predicates",
    }
    parts = ("precision", "recall", "f1")
    rows = [(names[name], *(f"{scores[name][part]:.4f}" for part in parts)) for name in names if name in scores]
    lines = [table(("", "precision", "recall", "F1"), rows)]
    if "sentences_per_second" in scores:
        lines += ["", f"Speed on these: {scores['sentences_per_second']:.0f} sentences per second on one core."]
    return "\n".join(lines)
