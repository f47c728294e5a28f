"""A small corpus."""

import pytest

from tests.features.ingest.ingests import write


@pytest.fixture
def four_pairs(tmp_path):
    """Return a folder with p.tsv: four pairs, of which the last repeats the first with another score."""
    write(tmp_path / "p.tsv", [("A.", "B.", 1), ("A.", "C.", 2), ("D.", "E.", 3), ("A.", "B.", 4)])
    return tmp_path
