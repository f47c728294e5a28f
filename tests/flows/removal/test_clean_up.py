"""What killed builds, trainings, evaluations and promotions leave, and what the next writer removes of it."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from features.core.leftovers import held_file
from features.store.store import Store
from flows.removal.retention import clean_up

LEFT = (
    "builds/20260101T000000-aaaa/_tmp-1a",
    "s3bert/00001-aaaaaa/seed-0/_tmp-2b",
    "s3bert/00001-aaaaaa/seed-0/.metrics.json.3c.tmp",
    "s3bert/00001-aaaaaa/seed-0/encoder/.README.md.4d.tmp",
    "s3bert/00001-aaaaaa/seed-0/current/.metrics.json.5e.tmp",
)


@pytest.fixture
def project(tmp_path):
    for name in LEFT:
        file = tmp_path / "runs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return SimpleNamespace(runs=tmp_path / "runs")


def test_files_of_dead_processes_go_and_those_of_live_ones_stay(project, tmp_path):
    (project.runs / "s3bert/00001-aaaaaa/seed-0/metrics.json").touch()
    with held_file(project.runs / "s3bert/00001-aaaaaa/seed-0/.train.json.6f.tmp") as held:
        removed = clean_up(project, Store.open(tmp_path / "store", create=True))
        assert {Path(path).relative_to(project.runs).as_posix() for path in removed} >= set(LEFT)
        assert Path(held.name).exists()
    assert [file.name for file in project.runs.rglob("*") if file.is_file()] == ["metrics.json"]


def test_the_link_of_a_killed_promotion_goes_after_a_minute(project, tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    link, current = project.runs / "s3bert/.current.7a", project.runs / "s3bert/current"
    for each in (link, current):
        each.symlink_to("00001-aaaaaa/seed-0", target_is_directory=True)
    clean_up(project, store)
    assert link.is_symlink(), "a promotion may be about to rename it"
    then = time.time() - 61
    for each in (link, current):
        os.utime(each, (then, then), follow_symlinks=False)
    assert str(link) in clean_up(project, store)
    assert current.is_symlink()
