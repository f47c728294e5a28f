"""Judged pairs for training an encoder with a graph, and checks that they suit it."""

from features.core.faults import Conflict, UnknownLabel
from training.data.labelled_pairs import LabelledPairs
from training.encoders.label_checks import check_dev, check_labels, classes_of, found_positive, training_labels
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.settings import BY_POSITIVE

# Negative label of inference pairs; pairs of another kind need not have it.
_USUAL_NEGATIVE: str = RgcnSettings.model_fields["negative_label"].default


def resolved(data: LabelledPairs, settings: RgcnSettings) -> RgcnSettings:
    """Return the settings with the labels of the classifier filled in."""
    counts = training_labels(data, settings)
    names = tuple(counts)
    if settings.objective == "multiple_negatives":
        positive = found_positive(names, settings)
        if settings.negative_label not in (*names, _USUAL_NEGATIVE):
            others = ", ".join(label for label in names if label != positive)
            raise UnknownLabel(
                f"`negative_label` of the encoder {settings.name!r} is {settings.negative_label!r}, which no training "
                f"pair has; {f'name one of: {others}, or ' if others else ''}leave it out."
            )
        if settings.negative_label == positive:
            raise Conflict(f"`negative_label` of the encoder {settings.name!r} is {positive!r}, the positive one.")
        return settings.model_copy(update={"positive_label": positive})
    if settings.objective == "distillation":
        check_labels(settings.labels, names, settings)
        return settings
    labels = classes_of(
        counts, settings, f"Set another `objective` for the encoder {settings.name!r}, or add pairs with other labels."
    )
    if settings.choose_by in BY_POSITIVE:
        settings = settings.model_copy(update={"positive_label": found_positive(labels, settings)})
    return settings.model_copy(update={"labels": labels})


def learnt_from(data: LabelledPairs, settings: RgcnSettings) -> LabelledPairs:
    """Return the training and dev pairs; settings as `resolved` returns them."""
    labels = settings.labels
    if settings.objective == "multiple_negatives":
        labels = (settings.positive_label, settings.negative_label)
    chosen = data.select(splits=settings.splits, corpora=settings.corpora, labels=labels)
    check_dev(chosen, settings, settings.positive_label)
    return chosen
