"""Fixtures that read corpora."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from features.corpora import PairRow, read
from features.corpora.settings import CorpusSettings
from features.stage_output import Reject


@pytest.fixture
def rows_and_rejects() -> Callable[..., tuple[list[PairRow], list[Reject]]]:
    """Return a function that reads the pairs and rejects of a corpus with given settings."""

    def read_all(folder: Path, **settings: Any) -> tuple[list[PairRow], list[Reject]]:
        found = list(read(CorpusSettings(**settings), folder))
        rejects = [row for row in found if isinstance(row, Reject)]
        return [row for row in found if isinstance(row, PairRow)], rejects

    return read_all
