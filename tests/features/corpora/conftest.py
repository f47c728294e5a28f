"""Fixtures that read corpora."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from features.corpora.reading import BadRow, PairRow, read_outcomes
from features.corpora.settings import CorpusSettings
from features.schemas import Reject


@pytest.fixture
def rows_and_rejects() -> Callable[..., tuple[list[PairRow], list[Reject]]]:
    """Return a function that reads the pairs and rejects of a corpus with given settings."""

    def read_all(folder: Path, **settings: Any) -> tuple[list[PairRow], list[Reject]]:
        outcomes = list(read_outcomes(CorpusSettings(**settings), folder))
        rejects = [outcome.reject for outcome in outcomes if isinstance(outcome, BadRow)]
        return [outcome for outcome in outcomes if isinstance(outcome, PairRow)], rejects

    return read_all


@pytest.fixture
def read(tmp_path: Path, rows_and_rejects) -> Callable[..., tuple[list[PairRow], list[Reject]]]:
    """Return a function that reads a file, written with some content or there already, as the training pairs."""

    def read(name: Any, content: str | bytes | None = None, dataset: str = "pairs", **settings: Any):
        if content is not None:
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return rows_and_rejects(tmp_path, dataset=dataset, files={"train": name}, **settings)

    return read
