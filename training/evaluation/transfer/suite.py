"""Transfer: how well a simple classifier reads classes from embeddings. A suite for encoders of every kind."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from features.core.faults import TooFewTexts
from features.core.pages import tell
from features.core.wording import counted
from features.corpora.classified import ClassTask
from features.parsers.devices import resolve_device
from features.sentences import leakage_key
from training.evaluation.bars import PAIRED, draw, figure_of, with_mean
from training.evaluation.bootstrap import Drawn, draw_right, paired_mean
from training.evaluation.items import ItemScores, read_sets, right_items
from training.evaluation.models import Embed, Models
from training.evaluation.suites import Chapter, Result, Subject, Suite
from training.evaluation.tables import NOTES, Column, ScoreTable, count, hundred, table

OTHER_LENGTH = 2.0
"""Ratio of embedding lengths above which classifiers train at a different pace."""
_COLUMNS = (
    Column("task", "task"),
    Column("classes", "classes", count),
    Column("scored", "items", count),
    Column("one class", "most_frequent", hundred),
    *PAIRED,
)


@dataclass
class TransferSuite(Suite):
    """The classification tasks of a subject, on frozen embeddings: texts or pairs with a class."""

    name: ClassVar[str] = "transfer"
    title: ClassVar[str] = "Classification from embeddings"
    needs: ClassVar[str] = "texts or pairs with a class: name a set under [[evaluation]]"
    measure: ClassVar[str] = "accuracy"
    file: ClassVar[str] = "transfer.parquet"

    subject: Subject

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        for task in subject.tasks:
            require_enough(task, subject.job.folds)
        return cls(subject) if subject.tasks else None

    def score(self, models: Models) -> Result:
        job, tasks, rows = self.subject.job, self.subject.tasks, []
        drawn: dict[str, list[Drawn]] = {classifier: [] for classifier in job.classifiers}
        for task in tasks:
            texts = (*task.texts, *(task.others or ()))
            lengths = {
                side: None if embed is None else float(np.linalg.norm(embed(texts), axis=1).mean())
                for side, embed in (("encoder", models.encoder), ("start", models.start))
            }
            about = _about(task) | {"lengths": lengths}
            for classifier in job.classifiers:
                right, penalties = self._learn(task, classifier, models)
                scored = zip(task.texts, task.splits, strict=True)  # pairs with the same first text are drawn together
                groups = [text for text, split in scored if split == task.parts[-1]]
                of_task = draw_right(right, groups, self.subject.bootstrap.of(task.name))
                drawn[classifier].append(of_task)
                row = {"name": f"{task.name} by {classifier}", "classifier": classifier, "penalties": penalties}
                rows.append(row | about | of_task.paired())
        return {
            "folds": job.folds,
            "classifiers": list(job.classifiers),
            "rows": rows,
            "means": {classifier: paired_mean(several) for classifier, several in drawn.items()},
            "data": {
                "folds": job.folds,
                "classifiers": sorted(job.classifiers),
                "tasks": {task.name: _digest(task) for task in tasks},
            },
        }

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        return [
            table(f"Accuracy × 100, by {classifier}", _COLUMNS, rows, _note(result))
            for classifier, rows in _by_classifier(result).items()
        ]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        by_classifier = _by_classifier(result)
        tasks = [row for row in result["rows"] if row["classifier"] == result["classifiers"][0]]
        about = [*(f"{row['items']:,} scored" for row in tasks), f"of {len(tasks)} tasks"]
        classifier, rows = next(iter(by_classifier.items()))
        measure = f"average accuracy of {len(tasks)} tasks" if len(tasks) > 1 else f"accuracy on {tasks[0]['task']}"
        return Chapter(
            about="Accuracy of a simple classifier on frozen embeddings (SentEval).",
            charts={
                f"By {classifier}": draw(
                    [{**row, "name": row["task"]} for row in rows], about[: len(rows)], "accuracy × 100"
                )
                for classifier, rows in by_classifier.items()
            },
            facts={"Classification tasks": ", ".join(f"{row['task']} ({row['items']:,} scored)" for row in tasks)},
            figures=[figure_of(rows[-1], f"{measure}, by {classifier}.")],
        )

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        rows = _by_classifier(result)
        return {f"{cls.name} by {name}": rows[name][-1]["encoder"] for name in result["classifiers"]}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        tasks, digests = {row["name"]: row for row in result["rows"]}, result["data"]["tasks"]
        return [
            right_items(
                name,
                rows,
                unit="pairs" if tasks[name]["pairs"] else "texts",
                depends_on=f"{digests[tasks[name]['task']]} {result['folds']}",
            )
            for name, rows in read_sets(folder / cls.file, tasks, "label", "predicted")
        ]

    def _learn(self, task: ClassTask, classifier: str, models: Models) -> tuple[NDArray[np.bool_], tuple[float, ...]]:
        """Return whether each item was classified correctly, (n_scored, n_models), and the penalties."""
        import torch

        from training.evaluation.transfer.classifiers import HIDDEN, Learner, Predictions

        names, folds = sorted(set(task.labels)), self.subject.job.folds
        classes = np.searchsorted(names, task.labels).astype(np.int64)
        splits = np.array(task.splits)
        parts = [np.flatnonzero(splits == part) for part in task.parts]

        def predictions(model: str, embed: Embed) -> Predictions:
            features = torch.from_numpy(_features(task, embed)).to(resolve_device("auto"))
            name = f"{task.name!r} by {classifier} on {model}"
            return Learner(features, classes, HIDDEN[classifier], name).predict(parts, folds)

        predicted = [predictions("the encoder", models.encoder)]
        if models.start is not None:
            key = (self.name, _digest(task), classifier, folds)
            if key not in models.of_start:
                models.of_start[key] = predictions("its start model", models.start)
            predicted.append(models.of_start[key])
        rows = predicted[0].rows
        self.keep(
            f"{task.name} by {classifier}",
            [task.texts[row] for row in rows],
            None if task.others is None else [task.others[row] for row in rows],
            label=[names[each] for each in classes[rows]],
            predicted=[names[each] for each in predicted[0].classes],
        )
        return np.stack([each.classes == classes[rows] for each in predicted], axis=1), predicted[0].penalties


def _features(task: ClassTask, embed: Embed) -> NDArray[np.float32]:
    """Return the features of a task: embeddings, or [|u - v|; u * v] of pairs, float32, (n_items, d)."""
    left = embed(task.texts)
    if task.others is None:
        return np.asarray(left, dtype=np.float32)
    right = embed(task.others)
    return np.concatenate([np.abs(left - right), left * right], axis=1).astype(np.float32)


def _about(task: ClassTask) -> dict[str, Any]:
    parts = task.parts
    labels = {part: Counter[str]() for part in parts}
    texts: dict[str, list[tuple[str, str]]] = {part: [] for part in parts}
    for (text, other), label, split in zip(_texts(task), task.labels, task.splits, strict=True):
        labels[split][label] += 1
        texts[split].append((leakage_key(text), leakage_key(other)))  # without case and punctuation
    learnt, scored = labels[parts[0]], labels[parts[-1]]
    keys = {*texts[parts[0]]}
    return {
        "task": task.name,
        "parts": list(parts),
        "pairs": task.others is not None,
        "classes": len(set(task.labels)),
        "learnt": learnt.total(),
        "most_frequent": scored[max(sorted(learnt), key=learnt.__getitem__)] / scored.total(),
        "items": scored.total(),
        "seen": sum(text in keys for text in texts[parts[-1]]) if len(parts) > 1 else 0,
        "empty": task.empty,
        "unknown": {label: scored[label] for label in sorted(scored.keys() - learnt.keys())},
    }


def _digest(task: ClassTask) -> str:
    """Return a hash of a task's texts, classes and splits, independent of its name."""
    digest = hashlib.blake2b(digest_size=16)
    for texts, label, split in zip(_texts(task), task.labels, task.splits, strict=True):
        digest.update(("\0".join((*texts, label, split)) + "\n").encode())
    return digest.hexdigest()


def _texts(task: ClassTask) -> list[tuple[str, str]]:
    """Return both texts of each item, (n_items,); the second is empty for a single text."""
    return list(zip(task.texts, task.others or ("",) * len(task.texts), strict=True))


def _by_classifier(result: Result) -> dict[str, list[Mapping[str, Any]]]:
    return {
        classifier: with_mean(
            [row for row in result["rows"] if row["classifier"] == classifier],
            mean and {"task": "average", **mean},
            "average",
        )
        for classifier, mean in result["means"].items()
    }


def _note(result: Result) -> str:
    tasks = {row["task"]: row for row in result["rows"]}.values()
    lengths = [task["lengths"] for task in tasks]
    pairs = [(each["encoder"] or 0.0, each["start"]) for each in lengths if each["start"] is not None]
    uneven = [pair for pair in pairs if max(pair) > OTHER_LENGTH * min(pair)]
    return tell(NOTES, "transfer", result["folds"], tasks, np.mean(uneven, axis=0).tolist() if uneven else [])


def require_enough(task: ClassTask, folds: int) -> None:
    """Refuse a task that is too small for cross-validation."""
    parts = task.parts
    if len(parts) == 3:
        return
    labels = [label for label, split in zip(task.labels, task.splits, strict=True) if split == parts[0]]
    largest = max(labels.count(label) for label in set(labels))
    within = largest if len(parts) == 2 else largest - -(-largest // folds)
    if within < folds:
        nested, fewer = " within each fold" * (len(parts) == 1), ", or set `folds` under [transfer] to a smaller number"
        raise TooFewTexts(
            f"the largest class of the evaluation set {task.name!r} has {counted(largest, 'text')} to train on, too "
            f"few for {folds} folds{nested}: give more texts{fewer if folds > 2 else ''}."
        )
