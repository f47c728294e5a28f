"""Fixtures that read corpora."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from features.corpora.batches import read_batches
from features.corpora.reading import read_outcomes
from features.corpora.rows import BadRow, Outcome, PairRow
from features.corpora.settings import CorpusSettings
from features.stage_output import Reject


def read_both_ways(settings: CorpusSettings, folder: Path) -> list[Outcome]:
    """Return what becomes of every row of a corpus; in batches of columns, the same has to come in the same order."""
    outcomes = list(read_outcomes(settings, folder))
    in_batches: dict[int, Outcome] = {}
    for pairs, others in read_batches(settings, folder):
        batch = dict(others)
        for row in pairs.iter_rows(named=True):
            cells = (row[name] for name in ("split", "text_a", "text_b", "score", "label"))
            origin = f"{row['file']}:{row['line']}"
            batch[row["row"]] = PairRow(*cells, origin, row["group"])
        assert in_batches.keys().isdisjoint(batch), "a row comes once"
        in_batches |= batch
    assert [outcome for _, outcome in sorted(in_batches.items())] == outcomes
    return outcomes


@pytest.fixture
def rows_and_rejects() -> Callable[..., tuple[list[PairRow], list[Reject]]]:
    """Return a function that reads the pairs and rejects of a corpus with given settings."""

    def read_all(folder: Path, **settings: Any) -> tuple[list[PairRow], list[Reject]]:
        outcomes = read_both_ways(CorpusSettings(**settings), folder)
        rejects = [outcome.reject for outcome in outcomes if isinstance(outcome, BadRow)]
        return [outcome for outcome in outcomes if isinstance(outcome, PairRow)], rejects

    return read_all


@pytest.fixture(name="read_both_ways", scope="session")
def read_both_ways_fixture() -> Callable[[CorpusSettings, Path], list[Outcome]]:
    """Return a function that reads a corpus row by row and in columns, and compares."""
    return read_both_ways
