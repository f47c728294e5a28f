"""Sets under `[[evaluation]]` as jobs describe them: a model may be chosen by one, and encoders are scored on all."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features.errors import InputError, SettingsError

if TYPE_CHECKING:
    from features.corpora import ClassTask, EvaluationPairs
    from features.corpora.settings import EvaluationSet


def read_rating_sets(described: Sequence[Mapping[str, Any]], base: Path) -> "list[EvaluationPairs]":
    """Read sets of human ratings.

    Args:
        described: as `features.corpora.settings.EvaluationSet` takes them.
        base: folder that relative paths start from.

    Raises:
        InputError: when a file is missing or wrong.
        SettingsError: when a set is described wrongly.
    """
    from features.corpora import read_evaluation

    return [read_evaluation(known, base) for known in _checked(described, "ratings")]


def read_class_tasks(described: Sequence[Mapping[str, Any]], base: Path) -> "list[ClassTask]":
    """Read texts and pairs whose class is learnt from embeddings.

    Args:
        described: as for `read_rating_sets`.
        base: likewise.

    Raises:
        InputError: when a file is missing or wrong, or is that of two splits.
        SettingsError: when a set is described wrongly.
    """
    from features.corpora import read_tasks

    sets = _checked(described, "tasks")
    for known in sets:
        _require_files_of_their_own(known, base)
    return [task for known in sets for task in read_tasks(known, base)]


def _require_files_of_their_own(evaluation: "EvaluationSet", base: Path) -> None:
    """Refuse a file that two splits of a set name, unless a column of it says the split."""
    from features.corpora.dataset import TableLayout
    from features.corpora.reading import own_record
    from features.corpora.sources import locate

    record = own_record(evaluation)
    if any(isinstance(layout, TableLayout) and "split" in layout.columns for layout in record.layouts):
        return
    for source in locate(record, evaluation.files, base, evaluation.files_key) if evaluation.files else ():
        if len(source.splits) > 1:
            first, second = source.splits[:2]
            raise InputError(
                f"{source.name!r} is named as `files.{first}` and as `files.{second}` of the evaluation set "
                f"{evaluation.name!r}, so that classifiers would be scored on what they have seen: give each split "
                "files of its own, or the only one as `file`, which is cross-validated."
            )


def rating_digest(rated: "EvaluationPairs") -> str:
    """Return a hash of the sentences of a set and of their ratings, whatever its name is."""
    digest = hashlib.sha256()
    for a, b, score in zip(rated.texts_a, rated.texts_b, rated.scores, strict=True):
        digest.update(f"{a}\0{b}\0{score!r}\n".encode())
    return digest.hexdigest()


def _checked(described: Sequence[Mapping[str, Any]], what: str) -> "list[EvaluationSet]":
    from pydantic import ValidationError

    from features.corpora.settings import EvaluationSet

    sets = []
    for one in described:
        try:
            sets.append(EvaluationSet.model_validate(one))
        except ValidationError as error:
            raise SettingsError(f"the {what} {one!r} are wrong: {error.errors()[0]['msg']}") from error
    return sets
