import re
from pathlib import Path

import pytest

from features.models import DEFAULT_MODELS, MODELS
from features.models.cache import cache_folder
from features.models.records import Archive, ModelRecord, Shipped, Wheel


@pytest.mark.parametrize("record", MODELS.values(), ids=lambda record: record.name)
def test_a_record_is_complete(record: ModelRecord) -> None:
    assert MODELS[record.name] is record
    assert record.megabytes > 0
    assert record.licence
    source = record.source
    if isinstance(source, Wheel):
        assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", source.requirement)
        assert re.fullmatch(r"[0-9a-f]{64}", source.sha256)
    elif isinstance(source, Archive):
        assert source.url.startswith("https://")
    elif isinstance(source, Shipped):
        assert isinstance(MODELS[source.start].source, Wheel)
        assert (source.folder / "facets.json").is_file()
    else:
        assert re.fullmatch(r"[\w-]+/[\w.-]+", source.repository)


def test_what_is_needed_by_default_is_pinned_and_comes_from_the_package_index() -> None:
    assert all(isinstance(MODELS[name].source, Wheel) for name in DEFAULT_MODELS)


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FACETFLOW_MODELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "facetflow" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "facetflow" / "models"
