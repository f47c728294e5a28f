"""A model that is shipped as what differs from another one is put together where that one is."""

import errno
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sentences import refused
from ship_encoder import ship

from features.core.faults import FileMissing, LibraryMissing, ModelNotPulled
from features.models import MODELS, locate, pull, pulled, pulling, verify
from features.models.cache import install
from features.models.records import ModelRecord, Shipped, Wheel

WIDE = np.random.default_rng(0).normal(size=(40, 60)).astype(np.float32)
LAYERS = {
    "layer.0": np.arange(6, dtype=np.float32).reshape(2, 3),
    "layer.1": np.ones((2, 3), np.float32),
    "layer.2": WIDE,
}
CHANGE = np.outer(np.arange(40), np.arange(60)).astype(np.float32) / 1_000


def write_start(folder: Path) -> Path:
    folder.mkdir(parents=True)
    save_file(LAYERS, folder / "model.safetensors")
    (folder / "modules.json").write_text("[]")
    (folder / "vocab.txt").write_text("a\nb\n")
    return folder


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Return a trained encoder; the model `small` is what differs between it and the pulled model `start`."""
    start, encoder = write_start(tmp_path / "start"), write_start(tmp_path / "encoder")
    tuned = {"layer.1": np.full((2, 3), 0.1, np.float32), "layer.2": WIDE + CHANGE}
    save_file({**LAYERS, **tuned}, encoder / "model.safetensors")
    (encoder / "modules.json").write_text('["more"]')
    for name in ("facets.json", "training.json", "README.md"):
        (encoder / name).write_text("{}")
    (encoder / "3_Dense").mkdir()
    save_file({"linear.weight": np.full((4, 3), 1 / 3, np.float32)}, encoder / "3_Dense" / "model.safetensors")
    folder = tmp_path / "shipped"
    assert ship(encoder, start, folder, rank=3) < 5_000

    for name, source in (("start", Wheel("start==1", "0" * 64, "model")), ("small", Shipped("start", str(folder)))):
        monkeypatch.setitem(MODELS, name, ModelRecord(name, "sentence encoder", source, "MIT", 1))
    (tmp_path / "cache" / "held").mkdir(parents=True)
    start.rename(tmp_path / "cache" / "held" / "model")
    install(tmp_path / "cache" / "held" / "model", "start", source="start==1", version="0" * 64, pinned=True)
    return encoder


def test_without_the_library_of_weights_the_user_is_told_what_to_install(shipped, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with refused(LibraryMissing):
        locate("small")


def test_where_the_cache_cannot_be_written_there_is_no_bundled_encoder(shipped, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(pulling, "BUNDLED_ENCODER", "small")
    monkeypatch.setattr(pulling, "assemble", refuse)
    assert pulling.bundled_encoder() is None


def test_a_shipped_model_is_the_trained_one_in_half_precision(shipped):
    folder = locate("small")
    assert {path.name for path in folder.iterdir()} == {path.name for path in shipped.iterdir()}
    weights = load_file(folder / "model.safetensors")
    assert np.array_equal(weights["layer.0"], LAYERS["layer.0"]), "not shipped: the start model's"
    assert weights["layer.1"].dtype == np.float32
    assert np.allclose(weights["layer.1"], 0.1, rtol=1e-3)
    assert np.allclose(load_file(folder / "3_Dense" / "model.safetensors")["linear.weight"], 1 / 3, rtol=1e-3)
    assert (folder / "modules.json").read_text() == '["more"]'
    assert verify("small").source == "facetflow and start"
    assert np.array_equal(load_file(locate("start") / "model.safetensors")["layer.1"], LAYERS["layer.1"])


def test_what_is_shipped_stays_where_the_encoder_is_not_found(shipped, tmp_path):
    with pytest.raises(FileNotFoundError):
        ship(tmp_path / "encodr", locate("start"), tmp_path / "shipped")
    assert (tmp_path / "shipped" / "tuned.safetensors").exists()


def test_the_change_of_a_large_matrix_is_shipped_in_two_factors(shipped, tmp_path):
    tuned = load_file(tmp_path / "shipped" / "tuned.safetensors")
    assert {name: value.shape for name, value in tuned.items()} == {
        "layer.1": (2, 3),
        "layer.2.left": (40, 3),
        "layer.2.right": (3, 60),
    }
    weights = load_file(locate("small") / "model.safetensors")["layer.2"]
    assert np.allclose(weights, WIDE + CHANGE, rtol=2e-3, atol=2e-3)
    assert np.array_equal(weights, weights.astype(np.float16)), "the same bytes on every machine"


def test_another_version_is_put_together_anew(shipped, tmp_path):
    first, inode = locate("small"), locate("small").stat().st_ino
    assert locate("small").stat().st_ino == inode
    (tmp_path / "shipped" / "modules.json").write_text('["other"]')
    assert (locate("small") / "modules.json").read_text() == '["other"]'
    assert pull("small") == locate("small")
    assert (first / "modules.json").read_text() == '["more"]', "that of another facetflow with the same cache"
    assert pulled() == ["small", "start"]


def test_without_the_start_model_a_user_is_told_to_pull_that(shipped, tmp_path):
    (tmp_path / "cache" / "start").rename(tmp_path / "away")
    with refused(ModelNotPulled):
        locate("small")


def test_a_file_on_disk_is_that_of_the_start_model(shipped, tmp_path):
    (tmp_path / "cache" / "start").rename(tmp_path / "away")
    with refused(FileMissing):
        pull("small", tmp_path / "start.whl")
