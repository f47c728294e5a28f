"""What a training will refuse, found from the judgements and labels of a store before anything costly is made of it."""

from typing import Any

import polars as pl

from features.core.faults import NoTrainingData
from training.data.labelled_pairs import LabelledPairs
from training.data.labelled_texts import LabelledTexts
from training.data.releases import choose_rows
from training.encoders.aspect.settings import AspectSettings
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.settings import EncoderSettings, PairSettings, check_dev, training_labels
from training.kinds import tables_of


def check_ahead(settings: EncoderSettings, pairs: pl.DataFrame, labels: pl.DataFrame) -> None:
    """Check that the rows of a store suit an encoder, by the checks of its training.

    Pairs have `corpus`, `split` and `label`; labels of texts also `sentence` and `aspect`.
    """
    if isinstance(settings, AspectSettings):
        _check_texts(settings, labels)
    elif "pairs" in tables_of(settings):
        _check_pairs(settings, pairs, has_texts=labels.height > 0)


def _check_pairs(settings: Any, pairs: pl.DataFrame, *, has_texts: bool) -> None:
    from training.encoders.s3bert.data import check_layers

    pairs = choose_rows(pairs, corpus=settings.corpora)
    if not pairs.filter(split=settings.splits[0]).height:
        texts = ": they have texts with labels, from which encoders of kind `aspect` learn"
        raise NoTrainingData(
            f"The encoder {settings.name!r} learns from pairs of sentences, and its corpora have none in the split "
            f"{settings.splits[0]!r}{texts if has_texts and not pairs.height else ''}."
        )
    if isinstance(settings, S3bertSettings):
        check_layers(settings, sorted(set(pairs.filter(split=settings.splits[0])["corpus"])))
    if not isinstance(settings, PairSettings):
        return
    judged = pairs.drop_nulls("label")
    if not judged.height:
        raise NoTrainingData(
            f"The encoder {settings.name!r} learns from labels of pairs, and no pair of its corpora has one: name the "
            'column, columns = { label = "…" }, or choose another kind of encoder.'
        )
    settings = settings.with_labels(training_labels(LabelledPairs((), judged), settings))  # which reads no sentence
    check_dev(LabelledPairs((), choose_rows(judged, label=settings.labels)), settings)


def _check_texts(settings: AspectSettings, labels: pl.DataFrame) -> None:
    from training.encoders.aspect.data import check_labels, require_training_texts, resolved

    if not labels.height:
        raise NoTrainingData(
            f"The encoder {settings.name!r} learns from texts with labels, and there are none: where the store is "
            'built, name a corpus of them, dataset = "texts".'
        )
    data = LabelledTexts.from_table(labels.rename({"sentence": "text"}), source={})
    settings = resolved(data, settings)
    data = data.select(corpora=settings.corpora)
    require_training_texts(data, data, settings)
    check_labels(data.labels.filter(split=settings.splits[0]), settings)
