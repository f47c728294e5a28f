"""Checks of the labels of judged pairs before a training, shared by the kinds that learn from them."""

from collections.abc import Mapping, Sequence

import polars as pl

from features.core.faults import NothingToLearn, NoTrainingData, UnknownLabel
from features.core.wording import all_of
from training.data.labelled_pairs import LabelledPairs
from training.encoders.settings import BY_POSITIVE, EncoderSettings, PairSettings, check_corpora
from training.progress import log


def training_labels(data: LabelledPairs, settings: EncoderSettings) -> dict[str, int]:
    """Return the labels of the training pairs, sorted, with their counts."""
    corpora = sorted(set(data.pairs["corpus"]))
    check_corpora(settings, corpora, "pairs with labels")
    of_corpora = data.pairs.filter(pl.col("corpus").is_in(list(settings.corpora or corpora)))
    of_train = of_corpora.filter(split=settings.splits[0])
    if not of_train.height:
        splits = ", ".join(sorted(set(of_corpora["split"])))
        raise NoTrainingData(
            f"No pair in the split {settings.splits[0]!r} has a label, which the encoder {settings.name!r} needs; "
            f"splits with such pairs: {splits}. Name one of these first in its `splits`."
        )
    return dict(of_train.group_by("label").len().sort("label").iter_rows())


def check_labels(labels: Sequence[str], known: Sequence[str], settings: EncoderSettings) -> None:
    """Check that every label occurs in the training pairs."""
    if unknown := [name for name in labels if name not in known]:
        raise UnknownLabel(
            f"`labels` of the encoder {settings.name!r} names {unknown[0]!r}, which no training pair has; there are: "
            f"{', '.join(known) or 'none'}."
        )


def classes_of(counts: Mapping[str, int], settings: PairSettings, remedy: str) -> tuple[str, ...]:
    """Return the labels that a classifier learns: those of the settings, or else all that training pairs have."""
    labels = tuple(counts)
    check_labels(settings.labels, labels, settings)
    if len(labels) == 1:
        have_the_same = "has the label" if counts[labels[0]] == 1 else "have the same label,"
        raise NothingToLearn(
            f"{all_of(counts[labels[0]], 'training pair')} {have_the_same} {labels[0]!r}: a classifier learns nothing "
            f"from it. {remedy}"
        )
    return settings.labels or labels


def found_positive(known: Sequence[str], settings: PairSettings) -> str:
    """Return which of the labels of the training pairs is the positive one."""
    label = settings.positive_among(known)
    if label is None:
        raise UnknownLabel(
            f"`positive_label` of the encoder {settings.name!r} is {settings.positive_label!r}, which no training pair "
            f"has; name one of: {', '.join(known)}."
        )
    if label != settings.positive_label:
        log.info("the positive label is %r: no pair has the label %r", label, settings.positive_label)
    return label


def check_dev(data: LabelledPairs, settings: EncoderSettings, positive: str) -> None:
    """Check that the dev pairs can choose a model by a score of `BY_POSITIVE`."""
    dev = data.pairs.filter(split=settings.splits[1])
    positives = dev.filter(label=positive).height
    if settings.choose_by in BY_POSITIVE and dev.height and positives in {0, dev.height}:
        raise NothingToLearn(
            f"Of the {dev.height:,} dev pairs {positives:,} have the label {positive!r}, so no model can be chosen by "
            f"`{settings.choose_by}`: give the encoder {settings.name!r} dev pairs of both kinds, or set "
            'choose_by = "loss".'
        )
