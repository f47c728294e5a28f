"""Fixtures that every test may ask for."""

import os
from pathlib import Path

import pytest

# Set before anything imports a library that reads them: nothing leaves the machine in tests.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("PREFECT_SERVER_ALLOW_EPHEMERAL_MODE", "false")  # a test that needs a server asks for one

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with reference data that lies beside some checkouts; skip where there is none."""
    folder = ROOT.parent / "shared"
    if not (folder / "oracles").is_dir():
        pytest.skip("needs the reference data (oracles, corpora), which are not part of the repository")
    return folder
