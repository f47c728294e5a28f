"""Which judged pairs are scored, which of their labels is positive, and whose dev pairs choose a threshold.

    release or export      corpora whose pairs have two labels, their requested split               dev: their dev split
    [[evaluation]] file    judged pairs (`paws_qqp`), whatever the requested split                  dev: none
    [[evaluation]] files   judged pairs with train and test                                         dev: its `files.dev`

A corpus with more labels (inference) is not one of paraphrases. If one with two cannot be scored, a message says why.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from features.corpora.classified import ClassTask
from features.corpora.reading import EvaluationPairs
from training.data.labelled_pairs import LabelledPairs
from training.evaluation.suites import Subject
from training.thresholds import POSITIVE, positive_of


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Pairs: their sentences a and b, and whether each pair is positive, (n_pairs,) each."""

    texts_a: tuple[str, ...]
    texts_b: tuple[str, ...]
    positive: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.positive)

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any text or judgement."""
        hashed = hashlib.blake2b(digest_size=10)
        for row in zip(self.texts_a, self.texts_b, self.positive, strict=True):
            hashed.update("\0".join(map(str, row)).encode() + b"\1")
        return hashed.hexdigest()


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Pairs of one corpus or evaluation set."""

    name: str  # of the set
    split: str  # split that is scored; empty for an evaluation set
    labels: tuple[str, str]  # of positive pairs, and of the others
    pairs: JudgedPairs  # pairs that are scored
    dev: JudgedPairs | None  # pairs that a threshold is chosen on; None where there are none


@dataclass(frozen=True, slots=True)
class JudgedSets:
    """The judged pairs of a job."""

    scored: list[JudgedSet] = field(default_factory=list)  # sets that are scored
    learnt: list[JudgedSet] = field(default_factory=list)  # dev pairs of the corpora that it was trained on
    skipped: list[str] = field(default_factory=list)  # what has two labels and is not scored, a sentence each
    foreign: list[str] = field(default_factory=list)  # what does not have two labels, a clause each
    others: dict[str, int] = field(default_factory=dict)  # split not used in the training → its number of pairs


def find_sets(subject: Subject) -> JudgedSets:
    """Read the judged pairs of a job."""
    sets, named = JudgedSets(), subject.settings.get("positive_label")
    if subject.judged is not None:
        _add_corpora(subject.judged, subject, named, sets)
    rated = [_judged_ratings(rated, named) for rated in subject.rating_sets]
    for judged in filter(None, (*rated, *(_judged_task(task, named) for task in subject.tasks))):
        taken = any(judged.name == other.name for other in sets.scored)
        sets.scored.append(replace(judged, name=f"{judged.name} (evaluation set)") if taken else judged)
    return sets


def _add_corpora(judged: LabelledPairs, subject: Subject, named: str | None, sets: JudgedSets) -> None:
    """Add the corpora of a release or an export."""
    for corpus, labels in judged.labels_by_corpus.items():
        if (both := _two_labels(labels, named)) is not None:
            _add_corpus(judged.select(corpora=(corpus,)), corpus, both, subject, sets)
        elif len(labels) == 2:
            sets.skipped.append(
                f"Not scored: {corpus}, with the labels {labels[0]!r} and {labels[1]!r}: not exactly one of them means "
                f"a paraphrase ({', '.join(POSITIVE)}); name them 1 and 0."
            )
        else:
            listed = ", ".join(map(repr, labels[:5])) + (" and more" if len(labels) > 5 else "")
            sets.foreign.append(f"pairs of {corpus} have the labels {listed}")


def _two_labels(labels: Sequence[str], named: str | None) -> tuple[str, str] | None:
    """Return the label of paraphrases and the other one; None unless there are two, and it is clear which is which."""
    positive = positive_of(labels, named) if len(labels) == 2 else None
    return None if positive is None else (positive, next(label for label in labels if label != positive))


def _add_corpus(data: LabelledPairs, corpus: str, labels: tuple[str, str], subject: Subject, sets: JudgedSets) -> None:
    """Add one corpus: its dev pairs where it was trained on, its pairs of the split where it is scored."""
    job = subject.job
    trained = subject.settings.get("splits") or ("train", "dev")
    # The requested split does not choose a threshold just because a training chose its model by it; `dev` does, and
    # the notes say so.
    dev_split = trained[1] if trained[1] != job.split else "dev"
    splits = data.by_split
    dev = _pairs_of(data, dev_split, labels[0]) if dev_split in splits else None
    if dev is not None and corpus in subject.training.get("corpora", ()):
        sets.learnt.append(JudgedSet(corpus, dev_split, labels, dev, dev))
    if job.split not in splits:
        available = ", ".join(f"{split} ({count:,})" for split, count in splits.items())
        sets.skipped.append(f"Not scored: {corpus}, which has no pair in {job.split}; it has {available}.")
        return
    sets.scored.append(JudgedSet(corpus, job.split, labels, _pairs_of(data, job.split, labels[0]), dev))
    for split, count in splits.items():
        if split not in {*trained, job.split}:
            sets.others[split] = sets.others.get(split, 0) + count


def _pairs_of(data: LabelledPairs, split: str, positive: str) -> JudgedPairs:
    chosen = data.select(splits=(split,))
    texts_a, texts_b = map(tuple, chosen.sides())
    return JudgedPairs(texts_a, texts_b, (chosen.pairs["label"] == positive).to_numpy())


def _judged_ratings(rated: EvaluationPairs, named: str | None) -> JudgedSet | None:
    """Return rated pairs as judged ones; None where they have no labels, or not two."""
    labels = _two_labels(sorted({label for label in rated.labels if label}), named)
    if labels is None or not all(rated.labels):
        return None
    positives = np.array([label == labels[0] for label in rated.labels])
    return JudgedSet(rated.name, "", labels, JudgedPairs(tuple(rated.texts_a), tuple(rated.texts_b), positives), None)


def _judged_task(task: ClassTask, named: str | None) -> JudgedSet | None:
    """Return the pairs of a classification task as judged ones; None for texts, and unless there are two classes."""
    labels = _two_labels(sorted(set(task.labels)), named)
    if task.others is None or labels is None:
        return None
    parts = {}
    for part in task.parts:
        rows = [row for row, split in enumerate(task.splits) if split == part]
        parts[part] = JudgedPairs(
            texts_a=tuple(task.texts[row] for row in rows),
            texts_b=tuple(task.others[row] for row in rows),
            positive=np.array([task.labels[row] == labels[0] for row in rows]),
        )
    return JudgedSet(task.name, "", labels, parts["test"], parts.get("dev"))
