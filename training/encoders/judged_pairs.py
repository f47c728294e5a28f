"""What is asked of judged pairs before an encoder learns from them. No torch."""

from features.core.faults import NothingToLearn, NoTrainingData
from training.data.labelled_pairs import LabelledPairs
from training.data.releases import choose_rows
from training.encoders.settings import BY_POSITIVE, EncoderSettings, PairSettings, check_corpora


def training_labels(data: LabelledPairs, settings: EncoderSettings) -> dict[str, int]:
    """Return the labels of the training pairs, sorted, with their counts."""
    check_corpora(settings, data)
    of_corpora = choose_rows(data.pairs, corpus=settings.corpora)
    of_train = of_corpora.filter(split=settings.splits[0])
    if not of_train.height:
        splits = ", ".join(sorted(set(of_corpora["split"])))
        raise NoTrainingData(
            f"No pair in the split {settings.splits[0]!r} has a label, which the encoder {settings.name!r} needs; "
            f"splits with such pairs: {splits}. Name one of these first in its `splits`."
        )
    return dict(of_train.group_by("label").len().sort("label").iter_rows())


def check_dev(data: LabelledPairs, settings: PairSettings) -> None:
    """Check that the dev pairs can choose a model by a score of `BY_POSITIVE`."""
    positive = settings.positive_label
    dev = data.pairs.filter(split=settings.splits[1])
    positives = dev.filter(label=positive).height
    if settings.choose_by in BY_POSITIVE and dev.height and positives in {0, dev.height}:
        raise NothingToLearn(
            f"Dev pairs with the label {positive!r}: {positives:,} of {dev.height:,}, so no model can be chosen by "
            f"`{settings.choose_by}`: give the encoder {settings.name!r} dev pairs of both kinds, or set "
            'choose_by = "loss".'
        )
