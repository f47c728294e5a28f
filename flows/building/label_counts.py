"""The labels of texts in numbers, for who is about to train an encoder of aspects: how many, how rare, the first ones.

Aspect 'country' of 'netflix': 94 labels on 6,900 texts, 41 with fewer than 5 training texts (`min_texts`); …
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from features.core.counting import counted
from features.ingest.label_faults import cut
from features.store.reader import StoreReader
from flows.project import Project
from training.encoders.aspect.settings import AspectSettings

_SHOWN = 3


def label_counts(project: Project, store: StoreReader) -> list[dict[str, Any]]:
    """Count the labels of the project's texts, by corpus and aspect; those of texts with one class are left out.

    Args:
        project: the project file.
        store: the store, with the rows that were read now.

    Returns:
        `corpus`, `aspect`, `labels`, `texts` (that have one), `rare` (labels with fewer training texts than
        `min_texts`), `min_texts` (of the first encoder that learns from them, else the usual one), and `most`
        (label → its texts, the most frequent ones).
    """
    rows = store.read("labels", columns=["corpus", "split", "sentence", "aspect", "label"])
    corpora = [corpus.name for corpus in project.corpora if corpus.record.kind != "classes"]
    found = []
    for (corpus, aspect), of in rows.filter(pl.col("corpus").is_in(corpora)).group_by("corpus", "aspect"):
        min_texts, train = _requirement(project, str(corpus), str(aspect))
        labels = of.group_by("label").agg(
            texts=pl.col("sentence").n_unique(), train=pl.col("sentence").filter(pl.col("split") == train).n_unique()
        )
        most = labels.sort("texts", "label", descending=[True, False]).head(_SHOWN)
        found.append(
            {
                "corpus": corpus,
                "aspect": aspect,
                "labels": labels.height,
                "texts": of["sentence"].n_unique(),
                "rare": int((labels["train"] < min_texts).sum()),
                "min_texts": min_texts,
                "most": dict(most.select("label", "texts").iter_rows()),
            }
        )
    return sorted(found, key=lambda each: (corpora.index(each["corpus"]), each["aspect"]))


def in_words(counts: Mapping[str, Any]) -> str:
    """Return one line about the labels of an aspect, from an entry of `label_counts`."""
    most = ", ".join(f"{cut(label)!r} ({texts:,})" for label, texts in counts["most"].items())
    return (
        f"Aspect {counts['aspect']!r} of {counts['corpus']!r}: {counted(counts['labels'], 'label')} on "
        f"{counted(counts['texts'], 'text')}, {counts['rare']:,} with fewer than {counts['min_texts']} training texts "
        f"(`min_texts`); the most frequent: {most}."
    )


def _requirement(project: Project, corpus: str, aspect: str) -> tuple[int, str]:
    """Return how many texts of which split a label needs to be trained on."""
    reading = [
        (encoder.min_texts, encoder.splits[0])
        for encoder in project.encoders
        if isinstance(encoder, AspectSettings)
        and corpus in (encoder.corpora or (corpus,))
        and aspect in (encoder.aspects or (aspect,))
    ]
    usual = AspectSettings.model_fields
    return reading[0] if reading else (usual["min_texts"].default, usual["splits"].default[0])
