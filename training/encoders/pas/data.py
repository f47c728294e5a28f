"""Judged pairs for training an encoder with spans, and checks that they suit it."""

import polars as pl

from features.core.draws import share_of
from features.core.faults import NothingToLearn
from training.data.labelled_pairs import LabelledPairs
from training.encoders.label_checks import check_dev, classes_of, found_positive, training_labels
from training.encoders.pas.settings import PasSettings


def resolved(data: LabelledPairs, settings: PasSettings) -> PasSettings:
    """Return the settings with the labels of the classifier, and the positive one, filled in."""
    remedy = f"Give the encoder {settings.name!r} pairs with other labels as well."
    labels = classes_of(training_labels(data, settings), settings, remedy)
    return settings.model_copy(update={"labels": labels, "positive_label": found_positive(labels, settings)})


def learnt_from(data: LabelledPairs, settings: PasSettings) -> LabelledPairs:
    """Return the dev pairs and the requested share of the training pairs; settings as `resolved` returns them."""
    chosen = data.select(splits=settings.splits, corpora=settings.corpora, labels=settings.labels)
    if settings.training_share < 1:
        kept = [
            split != settings.splits[0] or share_of(f"{settings.loop.seed}/{pair}") < settings.training_share
            for pair, split in chosen.pairs.select("pair_id", "split").iter_rows()
        ]
        chosen = chosen.keep(pl.Series(kept, dtype=pl.Boolean))
    train = chosen.pairs.filter(split=settings.splits[0])
    if train["label"].n_unique() < 2:
        raise NothingToLearn(
            f"The {train.height:,} training pairs left by `training_share` = {settings.training_share:g} of the "
            f"encoder {settings.name!r} do not differ in their labels: raise it."
        )
    check_dev(chosen, settings, settings.positive_label)
    return chosen
