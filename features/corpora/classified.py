"""Evaluation sets for classifiers trained on embeddings: texts with a class, or pairs with a judgement.

file = "…"                          one part, which is cross-validated            MR, CR, MPQA, SUBJ
files = { train, test }             trained on one, scored on the other           TREC, MRPC
files = { train, dev, test }        and selected on the third                     SST-2, SST-5
"""

from dataclasses import dataclass
from pathlib import Path

from features.core.faults import ColumnMissing, NothingToLearn, NothingToScore, RowWrong
from features.core.types import SPLITS, Split
from features.core.wording import all_of
from features.corpora.reading import NO_TEXT, PairRow, Skip, TextRow, evaluation_outcomes
from features.corpora.settings import EvaluationSet


@dataclass(frozen=True, slots=True)
class ClassTask:
    """Texts or pairs with one class each, (n_items,).

    `name` has the aspect if the set has several; `others` are second sentences of pairs, None for texts. All splits are
    the same if the task is cross-validated. `empty` counts the rows left out because they have no text.
    """

    name: str
    texts: tuple[str, ...]
    others: tuple[str, ...] | None
    labels: tuple[str, ...]
    splits: tuple[Split, ...]
    empty: int = 0

    @property
    def parts(self) -> tuple[Split, ...]:
        """The splits of the task, in order."""
        return tuple(split for split in SPLITS if split in self.splits)


def read_tasks(evaluation: EvaluationSet, base: Path) -> list[ClassTask]:
    """Read the tasks of an evaluation set that `has_classes`: one, or one per aspect if its texts have several."""
    items: dict[str, list[tuple[str, str | None, str, Split]]] = {}
    empty = 0
    for outcome in evaluation_outcomes(evaluation, base):
        if isinstance(outcome, Skip) and outcome.reason == NO_TEXT:
            empty += 1
        elif isinstance(outcome, TextRow):
            _require_one_class(outcome, evaluation)
            for aspect, label in outcome.labels:
                items.setdefault(aspect, []).append((outcome.text, None, label, outcome.split))
        elif isinstance(outcome, PairRow):
            if outcome.label is None:
                raise ColumnMissing(
                    f"{outcome.origin} (evaluation set {evaluation.name!r}) has no class to learn: name the column "
                    'with it, columns = { label = "..." }, or give rated pairs as `file`.'
                )
            items.setdefault("", []).append((outcome.text_a, outcome.text_b, outcome.label, outcome.split))
    if not items:
        raise NothingToScore(f"evaluation set {evaluation.name!r} has no text with a class: check its files.")
    tasks = []
    for aspect, rows in items.items():
        texts, others, labels, splits = zip(*rows, strict=True)
        name = f"{evaluation.name}: {aspect}" if len(items) > 1 else evaluation.name
        tasks.append(ClassTask(name, texts, None if others[0] is None else others, labels, splits, empty))
        _require_something_to_learn(tasks[-1], evaluation)
    return tasks


def _require_one_class(row: TextRow, evaluation: EvaluationSet) -> None:
    for aspect in dict(row.labels):
        several = [repr(label) for name, label in row.labels if name == aspect]
        if len(several) > 1:
            raise RowWrong(
                f"{row.origin} (evaluation set {evaluation.name!r}) has the labels {', '.join(several)} of the aspect "
                f"{aspect!r}; a text has one class here: name other columns as `aspects`."
            )


def _require_something_to_learn(task: ClassTask, evaluation: EvaluationSet) -> None:
    for part in ("train", "test") if evaluation.files else ():
        if part not in task.parts:
            raise NothingToScore(
                f"`files.{part}` of the evaluation set {task.name!r} has no text with a class: check it."
            )
    learnt = [label for label, split in zip(task.labels, task.splits, strict=True) if split == task.parts[0]]
    if len(set(learnt)) < 2:
        raise NothingToLearn(
            f"{all_of(len(learnt), 'text')} to train on in the evaluation set {task.name!r} "
            f"{'has' if len(learnt) == 1 else 'have'} the class {learnt[0]!r}: give at least two classes."
        )
