"""Texts and labels for training an encoder of aspects, and checks that they suit it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from features.core.faults import NothingToLearn, NoTrainingData
from features.core.wording import all_of, counted
from training.data.labelled_texts import LabelledTexts
from training.data.pair_tables import also_elsewhere
from training.data.shared_labels import ChosenLabels, How, choose_labels
from training.data.triplets import TripletMaker
from training.encoders.aspect.settings import AspectSettings
from training.encoders.settings import check_corpora
from training.progress import log
from training.types import Positions


@dataclass(frozen=True, slots=True)
class Lesson:
    """One meaning of similarity, for the whole encoder or for one route."""

    route: str | None  # name of the route; None if the encoder has no routes
    maker: TripletMaker  # draws the training triplets
    dev: TripletMaker  # has the texts to choose the best model by, and draws the triplets of their loss


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Everything that is trained on."""

    lessons: tuple[Lesson, ...]  # one, or one per route
    chosen: ChosenLabels  # training labels
    texts: Positions  # positions of the training texts

    @property
    def dev(self) -> Positions:
        """Positions of the texts that the best model is chosen by."""
        return _united(lesson.dev.texts for lesson in self.lessons)


def resolved(data: LabelledTexts, settings: AspectSettings) -> AspectSettings:
    """Return the settings with the aspects filled in."""
    check_corpora(settings, data)
    return settings.with_aspects(data.select(corpora=settings.corpora).aspects)


def learnt_from(data: LabelledTexts, settings: AspectSettings) -> LabelledTexts:
    """Return the training and the dev texts; a training text that is also in another split is dropped.

    So is one that differs from a text of another split only in case or punctuation.
    """
    train, dev = settings.splits
    # The other splits in every corpus, selected or not: the encoder is evaluated on them.
    rows = data.labels.filter((pl.col("split") != train) | pl.col("corpus").is_in(settings.corpora or data.corpora))
    texts = rows.select("text", "split").unique()
    both = texts.filter(also_elsewhere(texts, ("text",), data.texts, train, "text"))["text"]
    rows = rows.filter((pl.col("split") != train) | ~pl.col("text").is_in(both.implode()))
    chosen = LabelledTexts(data.texts, rows, data.source).select(splits=(train, dev), corpora=settings.corpora)
    require_training_texts(chosen, data, settings)
    return chosen


def require_training_texts(chosen: LabelledTexts, data: LabelledTexts, settings: AspectSettings) -> None:
    """Check that a text of the training split is left to train on, of all texts in `data`."""
    train = settings.splits[0]
    if not chosen.labels.filter(pl.col("aspect").is_in(list(settings.aspects)), split=train).height:
        corpora = f"of {', '.join(settings.corpora)} " if settings.corpora else ""
        splits = ", ".join(data.select(corpora=settings.corpora).by_split)
        raise NoTrainingData(
            f"No text {corpora}in the split {train!r} has a label in {', '.join(settings.aspects)}, which the encoder "
            f"{settings.name!r} is trained for; splits with texts: {splits}. `draw` splits a corpus of one file."
        )


def plan_lessons(data: LabelledTexts, settings: AspectSettings) -> Curriculum:
    """Return the lessons with texts and labels, from training and dev texts and settings with aspects filled in."""
    train, dev = settings.splits
    of_train, of_dev = (data.labels.filter(split=split) for split in (train, dev))
    chosen = check_labels(of_train, settings)
    seen = chosen.without_hidden(of_dev)
    makes = partial(TripletMaker, n_texts=len(data), other_aspects=settings.negatives == "other_aspect")
    how: How = "all" if settings.combine == "intersection" else "any"
    meanings: list[tuple[str | None, tuple[str, ...]]] = [(None, settings.aspects)]
    if settings.combine == "routes":
        meanings = [(aspect, (aspect,)) for aspect in settings.aspects]
    lessons = [
        Lesson(route, makes(chosen.kept, names, how, every=of_train), makes(seen, names, how, every=seen))
        for route, names in meanings
    ]
    if settings.objective != "simcse":
        _check_lessons(lessons, settings)
        texts = _united(lesson.maker.texts for lesson in lessons)
    else:
        texts = np.unique(chosen.without_hidden(of_train)["text"].to_numpy()).astype(np.int64)
    return Curriculum(tuple(lessons), chosen, texts)


def _united(some: Iterable[Positions]) -> Positions:
    return np.unique(np.concatenate(list(some))).astype(np.int64)


def check_labels(labels: pl.DataFrame, settings: AspectSettings) -> ChosenLabels:
    """Return the labels of the training texts to train on, which differ unless the objective needs none."""
    chosen = choose_labels(
        labels,
        settings.aspects,
        min_texts=settings.min_texts,
        held_out=settings.held_out_labels,
        seed=settings.held_out_seed,
    )
    for aspect, counts in chosen.counts.items() if settings.objective != "simcse" else ():
        own = labels.filter(aspect=aspect)
        if own["label"].n_unique() == 1:
            texts = own["text"].n_unique()
            have_the_same = "has the label" if texts == 1 else "have the same,"
            raise NothingToLearn(
                f"{all_of(texts, 'training text')} with a label in the aspect {aspect!r} {have_the_same} "
                f"{own['label'][0]!r}: there is nothing to learn. Check the column of the corpus, or leave the "
                f"aspect out of `aspects` of the encoder {settings.name!r}."
            )
        if counts["labels"] < 2:
            raise NothingToLearn(
                f"Of the {own['label'].n_unique():,} labels in the aspect {aspect!r}, {counts['labels']} can be "
                f"trained on (with fewer than {settings.min_texts} training texts: {counts['rare_labels']:,}; held "
                f"out: {len(counts['held_out_labels']):,}). {_remedy(counts, settings)}"
            )
        log.info(
            "aspect %r: %s labels of %s training texts; rarer than %d: %s of %s; held out: %d",
            *(aspect, f"{counts['labels']:,}", f"{counts['texts']:,}", settings.min_texts),
            *(counted(counts["rare_labels"], "label"), counted(counts["rare_label_texts"], "text")),
            len(counts["held_out_labels"]),
        )
    return chosen


def _remedy(counts: Mapping[str, Any], settings: AspectSettings) -> str:
    """Return what helps where too few labels of an aspect are left; texts of those held out are gone, too."""
    of_encoder = f"of the encoder {settings.name!r}"
    if not counts["held_out_labels"]:
        return f"Lower `min_texts` {of_encoder}, or label more texts."
    also = " or `min_texts`" if counts["rare_labels"] else ""
    return f"Lower `held_out_labels`{also} {of_encoder}, or choose other labels by `held_out_seed`."


def _check_lessons(lessons: list[Lesson], settings: AspectSettings) -> None:
    for lesson in lessons:
        drawn = lesson.maker.draw(seed=0, epoch=0)
        if not len(drawn):
            several = len(settings.aspects) > 1
            raise NothingToLearn(
                f"No triplet can be drawn by `aspects` and `combine` of the encoder {settings.name!r}: of "
                f"{len(lesson.maker.texts):,} training texts {drawn.counts['alone']:,} share their labels with no "
                f"other and {drawn.counts['without_negative']:,} with every other. "
                f"{'Change `combine`, or lower `min_texts`' if several else 'Label more texts'}."
            )
        if len(drawn) < settings.loop.batch_size:
            log.warning("few texts to train on: %d, less than one batch (%d)", len(drawn), settings.loop.batch_size)
        on_dev = lesson.dev.draw(seed=0, epoch=0)
        if not len(on_dev):
            log.warning(
                "%s%s: there is nothing to choose the best model by%s",
                f"all texts of split {settings.splits[1]!r} that share a label share one with every other"
                if on_dev.counts["without_negative"]
                else f"no two texts of split {settings.splits[1]!r} are alike",
                "" if lesson.route is None else f" in the aspect {lesson.route!r}",
                ", the last one is kept" if len(lessons) == 1 else "",
            )
