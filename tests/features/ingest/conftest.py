"""Small corpora to write, ingest, and ingest again on top of what is stored."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from features.corpora.settings import CorpusSettings, IngestSettings, LeakageSettings
from features.ingest.building import Ingested, ingest
from features.ingest.known import Known
from features.schemas import PAIRS
from tests.features.ingest.stored import stored

NO_GUARD = LeakageSettings()


def _write(path, rows, header="sentence_a\tsentence_b\tscore"):
    path.write_text("\n".join([header, *("\t".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")


def _run(base, *known, corpora=None, leakage=NO_GUARD, **settings) -> Ingested:
    corpora = corpora or [CorpusSettings(dataset="pairs", files={"train": "p.tsv"})]
    return ingest(corpora, leakage, IngestSettings(**settings), base, Known(*(known or stored())))


def _pairs_of(ingested: Ingested) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=PAIRS), *ingested.tables["pairs"].values()])


@pytest.fixture(name="write", scope="session")
def write_fixture() -> Callable[..., Any]:
    """Return a function that writes rows as a tab-separated table."""
    return _write


@pytest.fixture(name="run", scope="session")
def run_fixture() -> Callable[..., Any]:
    """Return a function that ingests corpora of a folder, by default p.tsv as train."""
    return _run


@pytest.fixture(name="stored", scope="session")
def stored_fixture() -> Callable[..., Any]:
    """Return a function that returns the tables that a store would hold after some ingests."""
    return stored


@pytest.fixture(name="pairs_of", scope="session")
def pairs_of_fixture() -> Callable[..., Any]:
    """Return a function that returns all pairs of an ingest."""
    return _pairs_of


@pytest.fixture
def four_pairs(tmp_path):
    _write(tmp_path / "p.tsv", [("A.", "B.", 1), ("A.", "C.", 2), ("D.", "E.", 3), ("A.", "B.", 4)])
    return tmp_path
