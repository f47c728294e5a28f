"""The short form of tools/random_kills.py: builds whose processes are killed at random moments, given a seed."""

import os
import random
import tempfile
from pathlib import Path

import pytest

from features.store.locations import storage_at

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def random_kills(root, monkeypatch):
    """Import the tool."""
    monkeypatch.syspath_prepend(str(root / "tools"))
    import random_kills

    return random_kills


@pytest.fixture(params=["folder", "bucket"])
def place(request):
    """Return the bucket of a store, None for a folder."""
    return None if request.param == "folder" else request.getfixturevalue("bucket")


@pytest.mark.soak
def test_builds_that_are_killed_at_random_lose_nothing_double_nothing_and_leave_nothing(
    random_kills, generated, built, tmp_path, place
):
    temporary = Path(tempfile.mkdtemp(prefix="kills-"))  # short, because sockets lie there
    environment = {**os.environ, "TMPDIR": str(temporary), "PREFECT_API_URL": "", "XDG_STATE_HOME": str(tmp_path)}
    killed = random_kills.Scene(tmp_path, "killed", environment, place)
    killed.folder.mkdir()
    generated(killed.folder).write(60, sentences=8, per_shard=8, workers=2, store=killed.location)
    reference = random_kills.Scene(tmp_path, "built", environment)
    report = random_kills.Report(wanted=2)
    phases = ("ingest", "stages", "commit", "publication")
    killer = random_kills.Killer(killed, random.Random(4), report, phases, all_at_once=False)
    killer.left = report.wanted
    random_kills.by_hand(killed, killer, ("build",))
    killed.releases = reference.releases = 1
    assert "Nothing changed: release 1 is up to date." in killed.run("build")
    random_kills.check(killed, reference, report)
    random_kills.check_left_behind(killed, temporary, report)
    assert report.kills, "some kills came in time"
    assert report.violations == []


@pytest.mark.soak
def test_the_checks_of_the_tool_see_what_is_wrong(random_kills, built, tmp_path, place):
    folder = built.folder / "store"
    scenes = [random_kills.Scene(tmp_path, "built", dict(os.environ), where) for where in (place, None)]
    storage = storage_at(scenes[0].location)
    for file in folder.rglob("*") if place else ():
        if file.is_file():
            storage.put(file.relative_to(folder).as_posix(), file)
    report = random_kills.Report(wanted=0)
    random_kills.check(*scenes, report)
    assert report.violations == []
    temporary = tmp_path / "tmp"
    (temporary / ".facetflow-prefect-abcdefgh").mkdir(parents=True)
    storage.put("runs/half", b"half")
    storage.put(f"tables/amr/shard=s/fingerprint=f/{'0' * 20}.parquet", b"dead")
    random_kills.check_left_behind(scenes[0], temporary, report)
    assert [violation.split(": ")[-1].rpartition("/")[2] for violation in report.violations] == [
        ".facetflow-prefect-abcdefgh",
        "half",
    ]
