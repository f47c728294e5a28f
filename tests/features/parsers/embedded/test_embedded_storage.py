import json
from pathlib import Path

import pytest
import torch
from sentences import refused

from features.core.faults import ModelDamaged, NotThisModel
from features.parsers.amr import is_embedded, load
from features.parsers.embedded.storage import (
    Base,
    Description,
    Storage,
    Thresholds,
    read_description,
    read_weights,
    save_model,
)
from features.parsers.embedded.vocabulary import SPECIAL_CONCEPTS, SPECIAL_PRIMARIES, Vocabulary
from features.parsers.settings import AmrSettings

VOCABULARY = Vocabulary(
    primaries=[*SPECIAL_PRIMARIES, "~0", "be-located-at", "=-"],
    senses=["", "01"],
    wrappers=[(), ("person", "have-org-role-91")],
    roles=["ARG0", "mod"],
    concepts=[*SPECIAL_CONCEPTS, "boy"],
    seen={"run": {"02": 5}},
    frames={"sing": ["01"]},
)
DESCRIPTION = Description("test", "tiny", "0" * 64, VOCABULARY, Thresholds(arc=1.0), {"width": 12})


def test_a_model_in_the_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    save_model(tmp_path / "mine", DESCRIPTION, {})
    assert is_embedded("~/mine")


@pytest.mark.parametrize(("storage", "error"), [("int8", 1 / 127), ("float16", 1 / 1024)])
def test_weights_come_back_within_their_precision(tmp_path: Path, storage: Storage, error: float) -> None:
    torch.manual_seed(0)
    weights = {"matrix": torch.randn(5, 7) * torch.logspace(-3, 3, 5)[:, None], "bias": torch.randn(5)}
    save_model(tmp_path, DESCRIPTION, weights, storage)
    read = read_weights(tmp_path)
    assert set(read) == {"matrix", "bias"}
    largest = weights["matrix"].abs().amax(1, keepdim=True)
    assert ((read["matrix"] - weights["matrix"]).abs() <= error * largest).all()
    torch.testing.assert_close(read["bias"], weights["bias"], atol=1e-3, rtol=1e-3)


def test_a_row_of_zeros_stays_zero(tmp_path: Path) -> None:
    save_model(tmp_path, DESCRIPTION, {"matrix": torch.zeros(3, 3)})
    assert not read_weights(tmp_path)["matrix"].any()


def test_a_description_comes_back(tmp_path: Path) -> None:
    save_model(tmp_path, DESCRIPTION, {})
    assert read_description(tmp_path, Description) == DESCRIPTION
    assert read_description(tmp_path, Base).base == DESCRIPTION.base


def test_files_that_are_no_model_are_named(tmp_path: Path) -> None:
    with refused(NotThisModel):
        read_description(tmp_path, Description)
    (tmp_path / "model.json").write_text('{"format": "other"}')
    with refused(NotThisModel):
        read_description(tmp_path, Description)
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with refused(ModelDamaged):
        read_weights(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("base", None), ("shape", []), ("thresholds", {"arc": "x"}), ("vocabulary", {"primaries": 3}), ("vocabulary", [])],
)
def test_a_description_that_was_changed_by_hand_is_refused(tmp_path: Path, key: str, value: object) -> None:
    save_model(tmp_path, DESCRIPTION, {})
    file = tmp_path / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    with refused(NotThisModel):
        read_description(tmp_path, Description)


def test_weights_that_do_not_fit_are_refused(tmp_path: Path, tiny_encoder: Path) -> None:
    description = Description("test", str(tiny_encoder), "0" * 64, VOCABULARY, Thresholds(), {"width": 12})
    save_model(tmp_path, description, {"layer_weights": torch.zeros(3)})
    with refused(ModelDamaged):
        load(AmrSettings(backend="embedded", model=str(tmp_path), device="cpu"))
