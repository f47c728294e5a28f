"""Which files are code whose change ends a run."""

from features.core import code


def test_the_lock_of_an_editor_is_no_code(tmp_path, monkeypatch):
    monkeypatch.setattr(code, "_ROOT", tmp_path)
    (tmp_path / "features").mkdir()
    (tmp_path / "features" / "draws.py").touch()
    before = code.code_digest()
    (tmp_path / "features" / ".#draws.py").symlink_to("somebody@host.1")
    assert code.code_digest() == before
