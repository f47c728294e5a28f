"""A tiny parser packed as amrlib's releases are, from the archive to the graph.

The releases of parse_xfm hold one folder with the weights as `pytorch_model.bin`, and no tokenizer.
"""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from features.graphs.graph import decode
from features.graphs.penman_files import read_blocks
from features.models import verify
from flows.command_line import run

pytestmark = pytest.mark.slow
NAME = "parse_xfm_bart_base"


@pytest.fixture
def tokenizer(amr_parser_folder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "tokenizer"
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(amr_parser_folder / name, folder)
    return folder


@pytest.fixture
def release(amr_parser_folder: Path, tmp_path: Path) -> Path:
    import torch
    from safetensors.torch import load_file

    folder = Path(shutil.copytree(amr_parser_folder, tmp_path / "model_parse_xfm_bart_base-v0_1_0"))
    for file in folder.glob("*token*"):
        file.unlink()
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    meta = json.loads((folder / "amrlib_meta.json").read_text())
    (folder / "amrlib_meta.json").write_text(json.dumps({**meta, "model_fn": "pytorch_model.bin"}))
    path = tmp_path / "model_parse_xfm_bart_base-v0_1_0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, folder.name)
    return path


def test_a_release_is_pulled_loaded_and_parses(
    release: Path, tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACETFLOW_MODELS", str(tmp_path / "models"))
    (tmp_path / "in.txt").write_text("the boy wants to sleep\nnonsense\n")
    assert run(["models", "pull", NAME, "--from", str(release)]) == 0
    assert set(verify(NAME).files) >= {"pytorch_model.bin", "config.json", "amrlib_meta.json"}
    output = tmp_path / "out.amr"
    options = ["--model", NAME, "--tokenizer", str(tokenizer), "--beams", "1", "--device", "cpu", "--threads", "1"]
    assert run(["parse", "amr", str(tmp_path / "in.txt"), "-o", str(output), *options]) == 2
    block, rejected = read_blocks(output)
    assert rejected.metadata["reject"].startswith("parser_failed: "), "a line that failed keeps its place"
    assert block.metadata["snt"] == "the boy wants to sleep"
    assert sorted(decode(block.text).concepts) == ["boy", "sleep-01", "want-01"]
