"""Transfer: how well a simple classifier reads classes from embeddings. A suite for encoders of every kind."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.files import write_table
from features.core.page import folded
from features.metrics.bootstrap import Bootstrap
from features.sentences import leakage_key
from training.evaluation.bootstrap import GroupedBootstrap, differing, draw_means, in_groups
from training.evaluation.items import ItemScores, numbered, read_items
from training.evaluation.models import Embed, Models
from training.evaluation.page import tables_html
from training.evaluation.paired import COLUMNS, average, cells, draw, pair, tell
from training.evaluation.subject import Subject
from training.evaluation.suites import Chapter, Figure, Result, Suite
from training.evaluation.tables import ScoreTable, hundred

if TYPE_CHECKING:
    from features.corpora import ClassTask

TRANSFER_FILE = "transfer.parquet"
"""Class and prediction of each scored item, by task and classifier."""
AXIS = "accuracy × 100"
OTHER_LENGTH = 2.0
"""Ratio of embedding lengths above which classifiers train at a different pace."""


class TransferSuite(Suite):
    """Classification tasks on frozen embeddings.

    Args:
        tasks: texts or pairs with a class.
        classifiers: classifiers to train.
        folds: number of cross-validation folds.
        bootstrap: how intervals are computed.
    """

    name: ClassVar[str] = "transfer"
    title: ClassVar[str] = "Classification from embeddings"
    needs: ClassVar[str] = "texts or pairs with a class: name a set under [[evaluation]] (docs/reference/corpora.md)"
    measure: ClassVar[str] = "accuracy"

    def __init__(
        self, tasks: "Sequence[ClassTask]", classifiers: Sequence[str], folds: int, bootstrap: Bootstrap
    ) -> None:
        self._tasks = tasks
        self._classifiers = classifiers
        self._folds = folds
        self._bootstrap = bootstrap
        self._said: list[pl.DataFrame] = []

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        """Read the tasks."""
        from training.evaluation.transfer.protocol import require_enough

        for task in subject.tasks:
            require_enough(task, subject.job.folds)
        if not subject.tasks:
            return None
        return cls(subject.tasks, subject.job.classifiers, subject.job.folds, subject.bootstrap)

    def score(self, models: Models) -> Result:
        """Return the accuracy on each task by each classifier."""
        found = []
        correct: dict[str, list[NDArray[np.float64]]] = {name: [] for name in self._classifiers}
        for task in self._tasks:
            scores = {}
            for classifier in self._classifiers:
                right, penalties = self._learn(task, classifier, models)
                correct[classifier].append(right)
                bootstrap = self._bootstrap_of(task)
                draws = draw_means(right, bootstrap)
                differ = _differing(right, bootstrap)
                score = asdict(pair(_accuracy(right), draws, bootstrap, bootstrap.count, mean=True, differ=differ))
                scores[classifier] = score | {"penalties": penalties}
            found.append(_about(task) | {"lengths": _lengths(task, models), "scores": scores})
        averages = {
            name: average(
                [_accuracy(right) for right in known],
                [draw_means(right, self._bootstrap_of(task)) for task, right in zip(self._tasks, known, strict=True)],
                self._bootstrap,
                min(self._bootstrap_of(task).count for task in self._tasks),
                mean=True,
                differ=sum(
                    _differing(right, self._bootstrap_of(task)) for task, right in zip(self._tasks, known, strict=True)
                ),
            )
            for name, known in correct.items()
        }
        return {"folds": self._folds, "classifiers": list(self._classifiers), "tasks": found, "averages": averages}

    def write(self, folder: Path) -> None:
        """Write transfer.parquet."""
        write_table(pl.concat(self._said), folder / TRANSFER_FILE)

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return a table with a row per task, for each classifier."""
        return [_table(result, name) for name in result["classifiers"]]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        """Return bars and the numbers."""
        first = result["classifiers"][0]
        parts = [f"<h3>By {escape(name)}</h3>{_chart(result, name)}" for name in result["classifiers"]]
        return Chapter(
            body="<p>Accuracy of a simple classifier on frozen embeddings (SentEval).</p>"
            + "".join(parts)
            + folded("The numbers", tables_html(cls.tables(result))),
            facts={"Classification tasks": ", ".join(f"{t['name']} ({t['items']:,} scored)" for t in result["tasks"])},
            figures=_figures(result, first),
        )

    @classmethod
    def numbers(cls, result: Result) -> dict[str, float | None]:
        """Return the accuracy on each task, by each classifier."""
        return {
            f"{task['name']} by {name}": task["scores"][name]["encoder"]
            for task in result["tasks"]
            for name in result["classifiers"]
        }

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return the average over the tasks, by each classifier."""
        return {f"{cls.name} by {name}": _mean(result, name)["encoder"] for name in result["classifiers"]}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return whether each item was classified correctly, by task and classifier."""
        table = read_items(folder / TRANSFER_FILE, "task", "classifier", "text_a", "text_b", "label", "predicted")
        named = numbered(table, "task", "classifier")
        found = []
        for task in result["tasks"]:
            for name in result["classifiers"]:
                rows = named.filter(task=task["name"], classifier=name)
                items = rows.select(pl.concat_str("label", "item", separator="\t")).to_series()
                right = (rows["label"] == rows["predicted"]).cast(pl.Float64).to_numpy()
                found.append(
                    ItemScores(
                        f"{task['name']} by {name}",
                        items.to_list(),
                        right,
                        unit="pairs" if task["pairs"] else "texts",
                        depends_on=f"{task['digest']} {result['folds']}",
                        groups=rows["text_a"].to_list(),
                    )
                )
        return found

    @classmethod
    def same_data(cls, new: Result, current: Result) -> bool:
        """Return whether the tasks have the same items, and classifiers were trained in the same way."""
        first, second = (
            (known["folds"], {task["name"]: task["digest"] for task in known["tasks"]}) for known in (new, current)
        )
        return super().same_data(new, current) and first == second

    def _learn(
        self, task: "ClassTask", classifier: str, models: Models
    ) -> tuple[NDArray[np.float64], tuple[float, ...]]:
        """Return whether each item was classified correctly, 0 or 1, (n_scored, n_models), and the penalties."""
        import torch

        from features.parsers.devices import resolve_device
        from training.evaluation.transfer.protocol import HIDDEN, Learner, Predictions

        names = sorted(set(task.labels))
        classes = np.searchsorted(names, task.labels).astype(np.int64)
        splits = np.array(task.splits)
        parts = [np.flatnonzero(splits == part) for part in task.parts]

        def predictions(of: str, embed: Embed) -> Predictions:
            features = torch.from_numpy(_features(task, embed)).to(resolve_device("auto"))
            name = f"{task.name!r} by {classifier} on {of}"
            return Learner(features, classes, len(names), HIDDEN[classifier], name).predict(parts, self._folds)

        said = [predictions("the encoder", models.encoder)]
        if models.start is not None:
            key = (self.name, _digest(task), classifier, self._folds)
            if key not in models.of_start:
                models.of_start[key] = predictions("its start model", models.start)
            said.append(models.of_start[key])
        rows = said[0].rows
        self._said.append(
            pl.DataFrame(
                {
                    "task": [task.name] * len(rows),
                    "classifier": [classifier] * len(rows),
                    "text_a": [task.texts[row] for row in rows],
                    "text_b": [None if task.others is None else task.others[row] for row in rows],
                    "label": [names[each] for each in classes[rows]],
                    "predicted": [names[each] for each in said[0].classes],
                },
                schema_overrides={"text_b": pl.String},
            )
        )
        right = np.stack([each.classes == classes[rows] for each in said], axis=1).astype(np.float64)
        return right, said[0].penalties

    def _bootstrap_of(self, task: "ClassTask") -> GroupedBootstrap:
        """Return how the scored items of a task are drawn: pairs with the same first text together."""
        scored = [text for text, split in zip(task.texts, task.splits, strict=True) if split == task.parts[-1]]
        return in_groups(self._bootstrap.of(task.name), scored)


def _features(task: "ClassTask", embed: Embed) -> NDArray[np.float32]:
    """Return the features of a task: embeddings, or [|u - v|; u * v] of pairs, float32, (n_items, d)."""
    left = embed(task.texts)
    if task.others is None:
        return np.asarray(left, dtype=np.float32)
    right = embed(task.others)
    return np.concatenate([np.abs(left - right), left * right], axis=1).astype(np.float32)


def _lengths(task: "ClassTask", models: Models) -> dict[str, float | None]:
    """Return the mean length of the embeddings of a task, of the encoder and of its start model."""

    def mean(embed: Embed) -> float:
        return float(np.linalg.norm(embed((*task.texts, *(task.others or ()))), axis=1).mean())

    return {"encoder": mean(models.encoder), "start": None if models.start is None else mean(models.start)}


def _accuracy(right: NDArray[np.float64]) -> list[float | None]:
    return [float(share) for share in right.mean(axis=0)]


def _differing(right: NDArray[np.float64], bootstrap: GroupedBootstrap) -> int:
    """Return in how many drawn groups of items the first and the last model are not equally right."""
    return differing(right[:, 0], right[:, -1], bootstrap.groups.tolist())


def _about(task: "ClassTask") -> dict[str, Any]:
    """Return the description of a task, as JSON."""
    parts = task.parts
    counts = Counter(task.splits)
    by_part = {
        part: {label for label, split in zip(task.labels, task.splits, strict=True) if split == part} for part in parts
    }
    unknown = by_part[parts[-1]] - by_part[parts[0]]
    items = list(zip(_keys(task), task.splits, strict=True))
    learnt = {item for item, split in items if split == parts[0]}
    return {
        "name": task.name,
        "digest": _digest(task),
        "parts": list(parts),
        "pairs": task.others is not None,
        "classes": len(set(task.labels)),
        "learnt": counts[parts[0]],
        "most_frequent": _most_frequent(task),
        "items": counts[parts[-1]],
        "seen": sum(item in learnt for item, split in items if split == parts[-1]) if len(parts) > 1 else 0,
        "empty": task.empty,
        "unknown": {
            label: sum(
                known == label and split == parts[-1] for known, split in zip(task.labels, task.splits, strict=True)
            )
            for label in sorted(unknown)
        },
    }


def _most_frequent(task: "ClassTask") -> float:
    """Return the accuracy of always predicting the most frequent class of the learnt items."""
    known = Counter(label for label, split in zip(task.labels, task.splits, strict=True) if split == task.parts[0])
    scored = [label for label, split in zip(task.labels, task.splits, strict=True) if split == task.parts[-1]]
    return scored.count(max(sorted(known), key=known.__getitem__)) / len(scored)


def _digest(task: "ClassTask") -> str:
    """Return a hash of a task's texts, classes and splits, independent of its name."""
    others = task.others or ("",) * len(task.texts)
    found = hashlib.blake2b(digest_size=16)
    for item in zip(task.texts, others, task.labels, task.splits, strict=True):
        found.update(("\0".join(item) + "\n").encode())
    return found.hexdigest()


def _keys(task: "ClassTask") -> list[tuple[str, str]]:
    """Return keys of a task's items: their texts without case and punctuation, (n_items,)."""
    others = task.others or ("",) * len(task.texts)
    return [(leakage_key(text), leakage_key(other)) for text, other in zip(task.texts, others, strict=True)]


def _table(result: Result, classifier: str) -> ScoreTable:
    rows = [
        (
            task["name"],
            f"{task['classes']}",
            f"{task['items']:,}",
            hundred(task["most_frequent"]),
            *cells(task["scores"][classifier]),
        )
        for task in result["tasks"]
    ]
    if (mean := result["averages"][classifier]) is not None:
        rows.append(("average", "", "", "", *cells(mean)))
    columns = ("task", "classes", "scored", "one class", *COLUMNS)
    return ScoreTable(f"Accuracy × 100, by {classifier}", columns, tuple(rows), _note(result))


def _note(result: Result) -> str:
    """Return how the classifiers were trained, and caveats on the tasks."""
    said = ["One class: the accuracy of always predicting the most frequent class."]
    crossed = [task["name"] for task in result["tasks"] if len(task["parts"]) == 1]
    if crossed:
        said.append(f"Nested cross-validation, {result['folds']} × {result['folds']} folds: {', '.join(crossed)}.")
    for task in result["tasks"]:
        if task["empty"]:
            said.append(f"Left out of {task['name']}: {task['empty']:,} without text.")
        if task.get("seen"):
            said.append(f"Scored items of {task['name']} that train also has: {task['seen']:,} of {task['items']:,}.")
        if task["unknown"]:
            listed = ", ".join(f"{label!r} ({count:,})" for label, count in task["unknown"].items())
            said.append(f"Classes of {task['name']} that occur only in test, and count as errors: {listed}.")
    return "\n".join([*said, *_note_of_lengths(result)])


def _note_of_lengths(result: Result) -> list[str]:
    """Return a note where the embeddings of one model are much longer than those of the other."""
    lengths = [task["lengths"] for task in result["tasks"]]
    known = [(each["encoder"], each["start"]) for each in lengths if each["start"] is not None]
    uneven = [pair for pair in known if max(pair) > OTHER_LENGTH * min(pair)]
    if not uneven:
        return []
    own, start = np.mean(uneven, axis=0)
    said = (
        f"Embedding lengths differ: {own:.2g} on average for the encoder, {start:.2g} for its start model. "
        "As in SentEval, they are not normalised; on small sets the length alone changes scores."
    )
    return [said]


def _chart(result: Result, classifier: str) -> str:
    known = [(task["name"], f"{task['items']:,} scored", task["scores"][classifier]) for task in result["tasks"]]
    if (mean := result["averages"][classifier]) is not None:
        known.append(("average", f"of {len(result['tasks'])} tasks", mean))
    return draw(known, AXIS)


def _mean(result: Result, classifier: str) -> Mapping[str, Any]:
    """Return the average over the tasks, or the score on the only one."""
    mean: Mapping[str, Any] = result["averages"][classifier] or result["tasks"][0]["scores"][classifier]
    return mean


def _figures(result: Result, classifier: str) -> list[Figure]:
    """Return the average, or the only score, for the head of the report."""
    score, tasks = _mean(result, classifier), result["tasks"]
    of = f"average accuracy of {len(tasks)} tasks" if len(tasks) > 1 else f"accuracy on {escape(tasks[0]['name'])}"
    said = f"{of}, by {escape(classifier)}."
    if score["start"] is not None:
        said += f" Start model: {hundred(score['start'])}. This encoder relative to it: {tell(score)}."
    return [Figure(hundred(score["encoder"]), said)]
