"""What killed builds, trainings, evaluations and promotions leave, and what the next writer removes of it."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from features.core.durable import TEMPORARY
from features.core.leftovers import held_file, held_folder
from features.store.store import Store
from flows.retention import clean_up

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


def test_files_of_dead_processes_go_and_those_of_live_ones_stay(project, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store, scratch = Store.open(tmp_path / "store", create=True), tmp_path / ".facetflow-mp-0a1b2c3d"
    scratch.mkdir()
    (unfinished := tmp_path / f"store/{TEMPORARY}9c").touch()
    (project.runs / "s3bert/00001-aaaaaa/seed-0/metrics.json").touch()
    with held_file(project.runs / "s3bert/00001-aaaaaa/seed-0/.train.json.6f.tmp") as held:
        removed = clean_up(project, store)
        assert {*removed} == {*map(str, (unfinished, scratch, *(project.runs / name for name in LEFT)))}
        assert Path(held.name).exists()
    assert [file.name for file in project.runs.rglob("*") if file.is_file()] == ["metrics.json"]
    assert capsys.readouterr().err
    assert clean_up(project, store) == []
    assert capsys.readouterr().err == "", "there is nothing to say"


def test_the_link_of_a_killed_promotion_goes_and_that_of_a_live_one_stays(project, tmp_path):
    store = Store.open(tmp_path / "store", create=True)
    killed, live = project.runs / "s3bert/.7a.tmp", project.runs / "s3bert/.8b.tmp"
    killed.mkdir()
    with held_folder(live):
        for link in (killed / "current", live / "current", project.runs / "s3bert/current"):
            link.symlink_to("00001-aaaaaa/seed-0", target_is_directory=True)
        assert str(killed) in clean_up(project, store)
        assert (live / "current").is_symlink()
    assert (project.runs / "s3bert/current").is_symlink()
    assert (project.runs / "s3bert/00001-aaaaaa/seed-0").is_dir()


def test_what_a_finished_training_would_have_resumed_from_goes(project, tmp_path):
    finished, begun = (project.runs / "s3bert/00001-aaaaaa" / seed for seed in ("seed-0", "seed-1"))
    for run in (finished, begun):
        for part in ("map", "layers", "search/learning_rate=1"):
            (run / part).mkdir(parents=True)
        for file in ("train.json", "checkpoint.pt"):
            (run / file).touch()
    (finished / "encoder/training.json").touch()  # killed before it removed the rest
    clean_up(project, Store.open(tmp_path / "store", create=True))
    assert {path.name for path in finished.iterdir()} == {"encoder", "current", "train.json"}
    assert {path.name for path in begun.iterdir()} == {"train.json", "checkpoint.pt", "map", "layers", "search"}
