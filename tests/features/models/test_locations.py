import json
import os
import time
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import ModelDamaged, ModelNotPulled, UnknownModel
from features.models import digest, locate, pull, pulled, verify


def test_not_pulled_says_the_command() -> None:
    with refused(ModelNotPulled):
        locate("en_core_web_md")
    with refused(ModelNotPulled):
        verify("en_core_web_md")


@pytest.mark.parametrize("find", [locate, verify])
def test_an_unknown_name_gets_the_closest(find: object) -> None:
    with refused(UnknownModel):
        find("parse_t6")  # type: ignore[operator]


def test_a_name_like_nothing_gets_the_list() -> None:
    with refused(UnknownModel):
        locate("zzzz")


def test_a_folder_is_its_own_location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    expected = tmp_path / "models" / "mine"
    assert locate(str(expected)) == expected
    assert locate("models/mine") == expected
    assert locate("mine", base=tmp_path / "models") == expected


def test_a_folder_does_not_hide_a_known_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: str) -> None:
    (tmp_path / tiny).mkdir()
    monkeypatch.chdir(tmp_path)
    with refused(ModelNotPulled):
        locate(tiny)
    folder = pull(tiny)
    assert locate(tiny) == folder


def test_a_hub_name_that_is_not_here() -> None:
    with refused(ModelNotPulled):
        locate("team/encoder")
    with refused(UnknownModel):  # no command could pull it: a folder that is misspelt
        locate("my models/encoder")


def test_corrupted_weights_are_named(tiny: str) -> None:
    weights = pull(tiny) / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[100] ^= 1  # one bit, same size: only the hash can tell
    weights.write_bytes(content)
    with refused(ModelDamaged):
        verify(tiny)


def test_truncated_weights_are_found_when_they_are_located(tiny: str) -> None:
    weights = pull(tiny) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with refused(ModelDamaged):
        locate(tiny)


def test_a_missing_file_is_named(tiny: str) -> None:
    (pull(tiny) / "config.json").unlink()
    with refused(ModelDamaged):
        locate(tiny)


def test_a_damaged_record_is_an_error_and_pulling_repairs_it(tiny: str, cache: Path) -> None:
    folder = pull(tiny)
    (cache / tiny / "manifest.json").write_text(json.dumps({"name": tiny}))
    with refused(ModelDamaged):
        locate(tiny)
    assert pulled() == [tiny]
    assert pull(tiny) == folder
    verify(tiny)


def test_a_digest_depends_on_names_and_contents_alone(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        (folder / "sub").mkdir(parents=True)
        (folder / "weights.bin").write_bytes(b"1")
        (folder / "sub" / "config.json").write_bytes(b"2")
    first = digest(folders[0])
    assert first == digest(folders[1])
    (folders[1] / "README.md").write_text("corrected")
    (folders[1] / ".gitattributes").write_text("x")
    assert first == digest(folders[1])
    (folders[1] / "weights.bin").rename(folders[1] / "weights2.bin")
    renamed = digest(folders[1])
    (folders[1] / "weights2.bin").write_bytes(b"3")
    assert len({first, renamed, digest(folders[1])}) == 3


def test_a_model_that_did_not_change_is_read_once(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []
    monkeypatch.setattr("features.models.cache.file_sha256", lambda file: files.append(file) or "0")
    weights, older = tmp_path / "model" / "weights", tmp_path / "older"
    weights.parent.mkdir()
    weights.write_text("1")
    older.write_text("2")
    os.utime(older, ns=(0, weights.stat().st_mtime_ns))
    now = time.time_ns
    monkeypatch.setattr("time.time_ns", lambda: now() + len(files) * 10**10)  # each file takes ten seconds
    digest(weights.parent)
    assert not cache.exists(), "a file of this moment may change within a tick of the clock"
    assert digest(weights.parent) == digest(weights.parent)
    assert files == [weights] * 2
    older.replace(weights)
    digest(weights.parent)
    assert files == [weights] * 3, "replaced by one with the same size and time"


@pytest.mark.parametrize("kept", [b"", b"\xff", b"damaged"])
def test_a_damaged_digest_is_none(tmp_path: Path, cache: Path, kept: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.models.cache._TICK", -(10**10))
    (tmp_path / "model").write_text("1")
    right = digest(tmp_path / "model")
    (entry,) = (cache / ".digests").iterdir()
    entry.write_bytes(kept)
    assert digest(tmp_path / "model") == right
    assert entry.read_text() == right


def test_a_folder_renamed_to_another_of_its_moment_is_read(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("features.models.cache.stamp", lambda folder: ((str(folder / "weights"), 1, 0, 0),))
    one, other = (tmp_path / name for name in ("one", "other"))
    for folder in (one, other):
        folder.mkdir()
        (folder / "weights").write_text(folder.name[1])
    right, first = digest(other), digest(one)
    one.rename(tmp_path / "before")
    other.rename(one)
    assert digest(one) == right != first


def test_a_digest_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    assert digest(tmp_path / "x") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_nothing_has_no_digest(tmp_path: Path) -> None:
    with refused(ModelDamaged):
        digest(tmp_path)
    with refused(ModelDamaged):
        digest(tmp_path / "missing")
