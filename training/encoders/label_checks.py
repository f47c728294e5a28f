"""Checks of the labels of judged pairs before a training, shared by the kinds that learn from them."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from features.core.faults import NothingToLearn, NoTrainingData, UnknownLabel
from training.encoders.settings import BY_POSITIVE, check_corpora

if TYPE_CHECKING:
    from training.data.labelled_pairs import LabelledPairs
    from training.encoders.settings import EncoderSettings, PairSettings

_log = logging.getLogger("training")


def training_labels(data: "LabelledPairs", settings: "EncoderSettings") -> dict[str, int]:
    """Return the labels of the training pairs, sorted, with their counts.

    Args:
        data: all pairs.
        settings: corpora and splits.

    Raises:
        SettingsError: no pair is from a corpus that is named.
        InputError: there is no pair to train on.
    """
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


def check_labels(labels: Sequence[str], known: Sequence[str], settings: "EncoderSettings") -> None:
    """Check that every label occurs in the training pairs.

    Raises:
        SettingsError: one does not; the message names the first.
    """
    if unknown := [name for name in labels if name not in known]:
        raise UnknownLabel(
            f"`labels` of the encoder {settings.name!r} names {unknown[0]!r}, which no training pair has; there are: "
            f"{', '.join(known) or 'none'}."
        )


def found_positive(known: Sequence[str], settings: "PairSettings") -> str:
    """Return the positive label of the training pairs.

    Args:
        known: labels of the training pairs.
        settings: with the `positive_label`.

    Raises:
        SettingsError: no training pair has it.
    """
    found = settings.positive_among(known)
    if found is None:
        raise UnknownLabel(
            f"`positive_label` of the encoder {settings.name!r} is {settings.positive_label!r}, which no training pair "
            f"has; name one of: {', '.join(known)}."
        )
    if found != settings.positive_label:
        _log.info("the positive label is %r: no pair has the label %r", found, settings.positive_label)
    return found


def check_dev(data: "LabelledPairs", settings: "EncoderSettings", positive: str) -> None:
    """Check that the dev pairs can choose a model by a score of `BY_POSITIVE`.

    Raises:
        InputError: when all of them have the positive label, or none has.
    """
    dev = data.pairs.filter(split=settings.splits[1])
    positives = dev.filter(label=positive).height
    if settings.choose_by in BY_POSITIVE and dev.height and positives in {0, dev.height}:
        raise NothingToLearn(
            f"Of the {dev.height:,} dev pairs {positives:,} have the label {positive!r}, so no model can be chosen by "
            f"`{settings.choose_by}`: give the encoder {settings.name!r} dev pairs of both kinds, or set "
            'choose_by = "loss".'
        )


def warn_of_few(pairs: int, settings: "EncoderSettings") -> None:
    """Warn when there are too few pairs to learn much from."""
    if pairs < settings.loop.batch_size:
        _log.warning("few pairs to train on: %d, less than one batch (%d)", pairs, settings.loop.batch_size)


def warn_of_no_dev(pairs: int, least: int, settings: "EncoderSettings") -> None:
    """Warn where too few dev pairs choose the model.

    Args:
        pairs: number of dev pairs.
        least: how many the objective needs.
        settings: of the encoder.
    """
    if pairs >= least:
        return
    there = "no dev pairs" if not pairs else "only one dev pair, with none to be told from,"
    _log.warning("%s (split %r) to choose the best model by: the last one is kept", there, settings.splits[1])
