"""Corpora: the known sets of sentence pairs and labelled texts, and how their files are read.

To add a dataset, write its record in `records/` and add it to `registry.py`; the test that walks the registry reads a
small file in each of its layouts.
"""

from features.corpora.classified import ClassTask, read_tasks
from features.corpora.dataset import Dataset
from features.corpora.reading import EvaluationPairs, read, read_evaluation, read_outcomes
from features.corpora.registry import DATASETS
from features.corpora.rows import BadRow, PairRow, Skip, TextRow

__all__ = [
    "DATASETS",
    "BadRow",
    "ClassTask",
    "Dataset",
    "EvaluationPairs",
    "PairRow",
    "Skip",
    "TextRow",
    "read",
    "read_evaluation",
    "read_outcomes",
    "read_tasks",
]
