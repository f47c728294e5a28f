"""Judged pairs for training an encoder with spans, and checks that they suit it."""

import polars as pl

from features.core.counting import all_of
from features.core.draws import share_of
from features.core.faults import NothingToLearn
from training.data.labelled_pairs import LabelledPairs
from training.encoders.label_checks import check_dev, check_labels, found_positive, training_labels
from training.encoders.pas.settings import PasSettings


def resolved(data: LabelledPairs, settings: PasSettings) -> PasSettings:
    """Return the settings with the labels of the classifier, and the positive one, filled in.

    Args:
        data: all pairs.
        settings: settings, perhaps without labels.

    Raises:
        SettingsError: a corpus or a label is named that no pair has.
        InputError: there is no pair to train on, or all have the same label.
    """
    counts = training_labels(data, settings)
    known = tuple(counts)
    check_labels(settings.labels, known, settings)
    if len(known) == 1:
        have_the_same = "has the label" if counts[known[0]] == 1 else "have the same label,"
        raise NothingToLearn(
            f"{all_of(counts[known[0]], 'training pair')} {have_the_same} {known[0]!r}: a classifier learns nothing "
            f"from it. Give the encoder {settings.name!r} pairs with other labels as well."
        )
    labels = settings.labels or known
    positive = found_positive(labels, settings)
    return settings.model_copy(update={"labels": labels, "positive_label": positive})


def learnt_from(data: LabelledPairs, settings: PasSettings) -> LabelledPairs:
    """Return the dev pairs and the requested share of the training pairs.

    Args:
        data: all pairs.
        settings: as `resolved` returns them.

    Raises:
        InputError: so few are left that all have the same label, or the dev pairs cannot choose a model by the positive
            label.
    """
    chosen = data.select(splits=settings.splits, corpora=settings.corpora, labels=settings.labels)
    if settings.training_share < 1:
        kept = [
            split != settings.splits[0] or share_of(f"{settings.loop.seed}/{pair}") < settings.training_share
            for pair, split in chosen.pairs.select("pair_id", "split").iter_rows()
        ]
        chosen = chosen.keep(pl.Series(kept, dtype=pl.Boolean))
    _check(chosen, settings)
    return chosen


def _check(data: LabelledPairs, settings: PasSettings) -> None:
    train = data.pairs.filter(split=settings.splits[0])
    if train["label"].n_unique() < 2:
        raise NothingToLearn(
            f"The {train.height:,} training pairs left by `training_share` = {settings.training_share:g} of the "
            f"encoder {settings.name!r} do not differ in their labels: raise it."
        )
    check_dev(data, settings, settings.positive_label)
