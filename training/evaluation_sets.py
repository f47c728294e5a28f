"""Sets under `[[evaluation]]`: one may choose a model, and encoders are evaluated on all."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from features.core.faults import SplitsOverlap
from features.corpora.classified import ClassTask, read_tasks
from features.corpora.dataset import TableLayout
from features.corpora.reading import EvaluationPairs, own_record
from features.corpora.settings import EvaluationSet
from features.corpora.sources import locate


def read_class_tasks(sets: Sequence[EvaluationSet], base: Path) -> list[ClassTask]:
    """Read texts and pairs to classify from their embeddings; paths start from `base`."""
    for evaluation in sets:
        _require_files_of_their_own(evaluation, base)
    return [task for evaluation in sets for task in read_tasks(evaluation, base)]


def _require_files_of_their_own(evaluation: EvaluationSet, base: Path) -> None:
    """Check that no file is named by two splits of a set, unless it has a column with the split."""
    record = own_record(evaluation)
    if any(isinstance(layout, TableLayout) and "split" in layout.columns for layout in record.layouts):
        return
    for source in locate(record, evaluation.files, base, evaluation.files_key) if evaluation.files else ():
        if len(source.splits) > 1:
            first, second = source.splits[:2]
            raise SplitsOverlap(
                f"{source.name!r} is named as `files.{first}` and as `files.{second}` of the evaluation set "
                f"{evaluation.name!r}, so classifiers would be scored on their training data: give each split its own "
                "files, or give the only one as `file`, which is cross-validated."
            )


def rating_digest(rated: EvaluationPairs) -> str:
    """Return a hash of the sentences of a set and of their ratings, independent of its name."""
    digest = hashlib.sha256()
    for a, b, score in zip(rated.texts_a, rated.texts_b, rated.scores, strict=True):
        digest.update(f"{a}\0{b}\0{score!r}\n".encode())
    return digest.hexdigest()
