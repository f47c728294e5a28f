"""User settings shared by all kinds of encoders, and what these ask of the data that one learns from. No torch."""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationError, model_validator

from features.core.faults import (
    Conflict,
    NothingToLearn,
    NoTrainingData,
    RepeatedValue,
    UnknownName,
    WrongValue,
)
from features.core.wording import all_of
from training.data.labelled_pairs import LabelledPairs
from training.data.labelled_texts import LabelledTexts
from training.data.measured_pairs import MeasuredPairs
from training.data.releases import choose_rows
from training.loop.settings import Trainable
from training.progress import log
from training.thresholds import positive_of
from training.types import Part

BY_LOSS = "loss"
"""Value of `choose_by` when no set of ratings chooses the model."""


BY_POSITIVE = ("f1", "average_precision")
"""Further values of `choose_by` for kinds with a classifier: how well it finds dev pairs with the positive label."""

_IN_WORDS = {
    "total": "loss",
    "f1": "F1",
    "average_precision": "average precision",
    "mrr": "MRR",
    "ndcg": "nDCG",
}

OF_LOOP = ("learning_rate", "epochs", "warmup", "weight_decay")
"""Settings of the loop that may be searched. Their dev scores are comparable; those of different batch sizes are not
when the texts of a batch are each other's negatives."""


def score_in_words(score: str) -> str:
    """Return the name of a dev score for texts: `average precision`, or `MRR country` for `mrr_country`."""
    if score in _IN_WORDS:
        return _IN_WORDS[score]
    name, _, aspect = score.partition("_")
    return f"{_IN_WORDS.get(name, name)} {aspect}".rstrip()


def is_chosen(settings: Mapping[str, Any]) -> bool:
    """Return whether dev chose the model of recorded settings: unless the last one was kept and nothing searched."""
    return bool(settings.get("loop", {}).get("keep", "best") != "last" or settings.get("search"))


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of the searched values."""

    values: Mapping[str, float]  # by setting; empty when nothing is searched
    settings: Any  # settings of the encoder with these values

    @property
    def name(self) -> str:
        """The values as text, which is also a folder name: `learning_rate=2e-05,epochs=4`."""
        return ",".join(f"{name}={value!r}" for name, value in self.values.items())


class EncoderSettings(Trainable):
    """Settings shared by all kinds of encoders.

    Args:
        name: name of the encoder and of the folder of its runs.
        kind: kind of encoder; `training.kinds` lists them.
        backbone: sentence encoder to start from, by name or path.
        corpora: corpora to train on; all when empty.
        splits: splits to train on, and to choose the best model by.
        choose_by: what chooses the best model: the dev `loss`, or the name of a rated dev set under `[[evaluation]]`
            (Spearman's correlation).
        search: values to try, in every combination; the best on dev is kept: `{ learning_rate = [1e-5, 2e-5, 5e-5] }`.
        pool: Prefect work pool of its trainings and evaluations; by default the project's. `facetflow deploy` again
            after a change.
    """

    OWN_CHOICES: ClassVar[tuple[str, ...]] = (BY_LOSS,)
    """Values of `choose_by` other than sets of ratings: the kind's own scores on its dev split."""
    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ()
    """Settings that `search` may name in addition to those of the loop."""

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    kind: str
    backbone: str = "all-MiniLM-L6-v2"
    corpora: tuple[str, ...] = ()
    splits: tuple[str, str] = ("train", "dev")
    choose_by: str = BY_LOSS
    search: Mapping[str, tuple[int | float, ...]] = {}
    pool: Annotated[str, Field(pattern=r"^[\w.-]+$")] | None = None

    @model_validator(mode="after")
    def _check_search(self) -> Self:
        searchable = (*OF_LOOP, *self.OWN_SEARCHED)
        for name, values in self.search.items():
            if name not in searchable:
                raise UnknownName(f"search cannot vary {name!r}; it can vary: {', '.join(searchable)}")
            if not values or len(set(values)) < len(values):
                raise RepeatedValue(
                    f"search.{name} must be a list of values that differ from one another, got {list(values)}"
                )
        try:
            self.points()
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{first['loc'][-1]} {first['input']!r}" if first["loc"] else "some of its values"
            raise WrongValue(
                f"search: {what} cannot be tried ({first['msg'].removeprefix('Value error, ')})"
            ) from error
        return self

    def points(self) -> list[Point]:
        """Return every combination of the searched values, the last setting varying fastest; one point for no search.

        search = { learning_rate = [1e-5, 2e-5], epochs = [2, 4] }  ──>  4 points, each a whole set of settings
        """
        if not self.search:
            return [Point({}, self)]
        every = [dict(zip(self.search, chosen, strict=True)) for chosen in itertools.product(*self.search.values())]
        return [Point(values, self.with_values(values)) for values in every]

    def with_values(self, values: Mapping[str, float]) -> Self:
        """Return the settings with some values replaced, and without a search."""
        written = self.model_dump(exclude={"search"})
        loop = {name: value for name, value in values.items() if name in OF_LOOP}
        own = {name: value for name, value in values.items() if name not in OF_LOOP}
        return type(self).model_validate({**written, **own, "loop": {**written["loop"], **loop}})

    @property
    def unread(self) -> frozenset[str]:
        """Tables of the store that its kind reads but these settings do not need, as for a twin without structure."""
        return frozenset()

    @property
    def by_ratings(self) -> bool:
        """Whether a set of human ratings chooses the model."""
        return self.choose_by not in self.OWN_CHOICES


def check_corpora(settings: EncoderSettings, data: LabelledPairs | LabelledTexts | MeasuredPairs) -> None:
    """Check that every corpus that an encoder names has some of the data that it learns from."""
    corpora = data.corpora
    if unknown := [name for name in settings.corpora if name not in corpora]:
        raise UnknownName(
            f"`corpora` of the encoder {settings.name!r} names {unknown[0]!r}, which has no {data.WHAT}; there are: "
            f"{', '.join(corpora)}."
        )


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


class TunedSettings(EncoderSettings):
    """Settings shared by the kinds that tune the last layers of a backbone.

    Args:
        max_tokens: longer texts are truncated, also by the finished encoder; an S3BERT without tuned layers has the
            limit of its start model.
        layers_tuned: how many of the last layers to tune; `all` includes the token embeddings.
        dropout: dropout of the tuned layers: `true` as in the backbone, `false` none, `"states"` without that of
            attention, which on a CPU doubles the time of long texts.
        cache_gib: memory for the frozen layers' outputs.
        disk_gib: disk space for more of them, in the folder for temporary files; what exceeds both is recomputed.
    """

    max_tokens: Annotated[int, Field(ge=8)] = 128
    layers_tuned: Annotated[int, Field(ge=1)] | Literal["all"] = 2
    dropout: bool | Literal["states"] = True
    cache_gib: Annotated[float, Field(ge=0)] = 2.0
    disk_gib: Annotated[float, Field(ge=0)] = 20.0


class PairSettings(TunedSettings):
    """Settings shared by the kinds that train on judged pairs.

    Args:
        labels: labels to classify; all that occur when empty.
        positive_label: positive label of `f1` and `average_precision`.
        classifier: input of the classifier, from a pair's embeddings u and v; with `u` and `v` their order counts.
        layers: how many of the backbone's first layers to keep; by default all.
        words_below: how many layers below the last the structure's word vectors come from; less than `layers_tuned`.
        new_learning_rate: peak learning rate of the modules that the backbone does not have, and of the classifier.
    """

    OWN_CHOICES: ClassVar[tuple[str, ...]] = (BY_LOSS, *BY_POSITIVE)
    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ("new_learning_rate",)

    labels: tuple[str, ...] = ()
    positive_label: str
    classifier: Annotated[tuple[Part, ...], Field(min_length=1)]
    layers: Annotated[int, Field(ge=1)] | None = None
    words_below: Annotated[int, Field(ge=0)] = 0
    new_learning_rate: Annotated[float, Field(gt=0)] = 5e-4

    @property
    def classifies(self) -> bool:
        """Whether its encoders have a classifier, which needs pairs of two labels."""
        return True

    @property
    def hard_label(self) -> str | None:
        """Label of pairs whose sentence b is a hard negative of a; None if the objective uses none."""
        return None

    @property
    def learnt_labels(self) -> tuple[str, ...]:
        """Labels of the pairs to learn from; all when empty."""
        return self.labels

    def with_labels(self, counts: Mapping[str, int]) -> Self:
        """Return the settings with labels filled in, from those of the training pairs, sorted, with their numbers."""
        labels = self._classes(counts, f"Give the encoder {self.name!r} pairs with other labels as well.")
        return self.model_copy(update={"labels": labels, "positive_label": self._positive(labels)})

    def positive_among(self, labels: Collection[str]) -> str | None:
        """Return which of the labels of pairs is the positive one, None if it is not among them.

        The default `positive_label` stands for any label that means yes, if no pair has it itself.
        """
        if self.positive_label in labels:
            return self.positive_label
        usual = type(self).model_fields["positive_label"].default
        return positive_of(labels) if self.positive_label == usual else None

    def _classes(self, counts: Mapping[str, int], remedy: str) -> tuple[str, ...]:
        """Return the labels that a classifier learns: those of the settings, or else all that training pairs have."""
        self._check_labels(counts)
        (label, count), *others = counts.items()
        if not others:
            have_the_same = "has the label" if count == 1 else "have the same label,"
            raise NothingToLearn(
                f"{all_of(count, 'training pair')} {have_the_same} {label!r}: a classifier learns nothing from it. "
                f"{remedy}"
            )
        return self.labels or tuple(counts)

    def _check_labels(self, labels: Collection[str]) -> None:
        """Check that every label occurs in the training pairs."""
        if unknown := [name for name in self.labels if name not in labels]:
            raise UnknownName(
                f"`labels` of the encoder {self.name!r} names {unknown[0]!r}, which no training pair has; there are: "
                f"{', '.join(labels) or 'none'}."
            )

    def _positive(self, labels: Collection[str]) -> str:
        """Return which of the labels of the training pairs is the positive one."""
        label = self.positive_among(labels)
        if label is None:
            raise UnknownName(
                f"No training pair of the encoder {self.name!r} has the label {self._positive_in_words}; set it to one "
                f"of: {', '.join(labels)}."
            )
        if label != self.positive_label:
            log.info("the positive label is %r: no pair has the label %s", label, self._positive_in_words)
        return label

    @property
    def _positive_in_words(self) -> str:
        usual = self.positive_label == type(self).model_fields["positive_label"].default
        return f"{self.positive_label!r}, {'the usual' if usual else 'its'} `positive_label`"

    def _refuse(self, why: str, *names: str) -> None:
        """Refuse settings that have no effect, for a reason in which `{}` stands for the setting."""
        for name in names:  # a job names all of them, so presence says nothing
            if getattr(self, name) != type(self).model_fields[name].default:
                raise Conflict(f"{why.format(name)}: leave `{name}` out")

    @model_validator(mode="after")
    def _parts_and_labels_differ(self) -> Self:
        if len(set(self.labels)) < len(self.labels):
            raise RepeatedValue(f"labels must differ from one another, got {list(self.labels)!r}")
        if self.classifies and len(self.labels) == 1:
            raise WrongValue(f"labels has only {self.labels[0]!r}: a classifier needs at least two")
        if len(set(self.classifier)) < len(self.classifier):
            raise RepeatedValue(f"the parts of classifier must differ from one another, got {list(self.classifier)!r}")
        if self.layers is not None and self.layers_tuned != "all" and self.layers_tuned > self.layers:
            raise WrongValue(
                f"layers_tuned is {self.layers_tuned}, but only {self.layers} layers are kept: raise layers, or lower "
                "layers_tuned"
            )
        by, tuned = ("layers", self.layers) if self.layers_tuned == "all" else ("layers_tuned", self.layers_tuned)
        if tuned is not None and self.words_below >= tuned:
            raise WrongValue(
                f"words_below is {self.words_below}, but only {tuned} layers are tuned: raise {by} to at least "
                f"{self.words_below + 1}, or lower words_below"
            )
        return self


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
