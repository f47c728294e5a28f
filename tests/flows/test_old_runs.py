"""Which trainings `facetflow gc --runs` removes, and which it never removes."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
from sentences import refused

from features.core.errors import ModelError
from features.core.faults import RunGone
from features.store.store import Store
from flows import project as project_file
from flows import retention
from flows.retention import clean_up, find_old_runs, remove
from training.evaluation.promotion import promote
from training.run_records import LOCK, in_use, unused
from training.runs import all_runs, group_of

DAY = 24 * 3600
PROJECT = """\
name = "ours"

[[corpora]]
dataset = "pairs"
files = { train = "pairs.tsv" }

[[encoders]]
name = "syntax"
kind = "s3bert"
backbone = "runs/other/00001-aaaaaa/seed-0/encoder"

[[encoders]]
name = "{next}"
kind = "pas"
positive_label = "~no_such_user"
tags = "\\u0000"
"""


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "facetflow.toml").write_text(PROJECT.replace("{next}", "n" * 3000))  # a value that is no path at all
    return project_file.load(tmp_path / "facetflow.toml")


@pytest.fixture
def add(settings):
    """Return a function that adds a run: finished some days ago, or begun."""

    def add_run(identity, days, *, finished=True):
        run = settings.runs / identity
        (run / "encoder").mkdir(parents=True)
        (run / "train.json").write_text(json.dumps({"settings": {"name": identity.partition("/")[0]}}))
        (run / "encoder" / "model.safetensors").write_bytes(b"x" * 1000)
        if finished:
            (run / "encoder" / "training.json").write_text("{}")
        for file in (path for path in run.rglob("*") if path.is_file()):
            then = file.stat().st_mtime - days * DAY
            os.utime(file, (then, then))
        return run

    return add_run


def old(settings, **age):
    return [folder.relative_to(settings.runs).as_posix() for folder in find_old_runs(settings, timedelta(**age))]


def test_what_newer_trainings_have_replaced_goes_with_all_its_seeds(settings, add):
    for identity, days in {
        "syntax/00001-aaaaaa/seed-0": 50,
        "syntax/00001-aaaaaa/seed-1": 49,
        "syntax/00002-aaaaaa/seed-0": 40,
        "syntax/00002-bbbbbb/seed-0": 39,
        "syntax/00003-bbbbbb/seed-0": 30,
        "roles/00001-cccccc/seed-0": 50,
    }.items():
        add(identity, days)
    assert old(settings, days=7) == ["syntax/00001-aaaaaa", "syntax/00002-aaaaaa", "syntax/00002-bbbbbb"]
    (first, *_) = find_old_runs(settings, timedelta(days=7)).values()
    assert first > 2000
    assert old(settings, days=39, hours=12) == ["syntax/00001-aaaaaa", "syntax/00002-aaaaaa"], "younger ones stay"
    (settings.runs / "syntax/00001-aaaaaa/seed-1/report.html").touch()
    assert old(settings, days=7) == ["syntax/00002-aaaaaa", "syntax/00002-bbbbbb"], "the newest file counts"


def test_a_training_that_a_kill_left_half_deleted_is_none(settings, add, monkeypatch, tmp_path):
    for number in (1, 2):
        add(f"syntax/0000{number}-aaaaaa/seed-0", 50)

    def killed(folder):
        (folder / "seed-0" / "train.json").unlink()
        raise KeyboardInterrupt

    old_trainings = find_old_runs(settings, timedelta(days=7))
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(old_trainings, "an old training")
    assert all_runs(settings.runs) == [settings.runs / "syntax/00002-aaaaaa/seed-0"]
    assert len(list((settings.runs / "syntax").iterdir())) == 2
    clean_up(settings, Store.open(tmp_path / "store", create=True))
    assert [folder.name for folder in (settings.runs / "syntax").iterdir()] == ["00002-aaaaaa"]


def test_the_current_run_and_its_seeds_stay(settings, add):
    current = add("syntax/00001-aaaaaa/seed-0", 50)
    add("syntax/00001-aaaaaa/seed-1", 50)
    add("syntax/00002-aaaaaa/seed-0", 40)
    add("syntax/00003-aaaaaa/seed-0", 30)
    promote(current, "syntax")
    assert old(settings, days=7) == ["syntax/00002-aaaaaa"]
    shutil.rmtree(current)
    assert old(settings, days=7) == ["syntax/00002-aaaaaa"], "the seeds of one that is gone stay too"


def test_the_training_that_was_finished_last_stays_beside_that_of_the_newest_release(settings, add):
    add("syntax/00001-aaaaaa/seed-0", 50)
    add("syntax/00002-aaaaaa/seed-0", 20)  # trained again with `--release 2`
    add("syntax/00003-aaaaaa/seed-0", 30)
    add("syntax/00004-aaaaaa/seed-0", 25, finished=False)  # killed: it continues from its checkpoint
    assert old(settings, days=7) == ["syntax/00001-aaaaaa", "syntax/00003-aaaaaa"]


@pytest.mark.parametrize("home", ["", "~/"])
def test_what_the_project_file_names_stays(settings, add, home, monkeypatch):
    monkeypatch.setenv("HOME", str(settings.base))
    encoder, *others = settings.encoders
    named = encoder.model_copy(update={"backbone": f"{home}runs/other/00001-aaaaaa/seed-0/encoder"})
    settings = settings.model_copy(update={"encoders": (named, *others)})
    add("other/00001-aaaaaa/seed-0", 50)
    add("other/00002-aaaaaa/seed-0", 40)
    add("other/00003-aaaaaa/seed-0", 30)
    assert old(settings, days=7) == ["other/00002-aaaaaa"]


def test_what_runs_stays_whatever_its_age(settings, add):
    running = add("syntax/00001-aaaaaa/seed-0", 50, finished=False)
    add("syntax/00002-aaaaaa/seed-0", 40)
    with (running / LOCK).open("w") as lock:
        os.utime(running / LOCK, (0, 0))
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert old(settings, days=7) == []
    assert old(settings, days=7) == ["syntax/00001-aaaaaa"]


READ = """import pathlib, sys
from training.run_records import in_use
with in_use(pathlib.Path(sys.argv[1])): print(); input()
"""


def test_what_somebody_reads_stays_until_they_end_however_that_is(settings, add):
    read = add("syntax/00001-aaaaaa/seed-1", 50)
    add("syntax/00001-aaaaaa/seed-0", 50)
    add("syntax/00002-aaaaaa/seed-0", 40)
    found = find_old_runs(settings, timedelta(days=7))
    before = sorted(read.rglob("*"))
    command = [sys.executable, "-c", READ, str(read / "encoder")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "\n"
        assert old(settings, days=7) == []
        assert remove(found, "an old training") == {}, "it was free when gc looked"
        with in_use(read):
            pass  # another reader
        reader.kill()
    assert sorted(read.rglob("*")) == before, "nothing is left behind"
    assert old(settings, days=7) == ["syntax/00001-aaaaaa"]
    assert remove(found, "an old training") == found
    with refused(RunGone), in_use(read / "encoder"):
        pass


def test_a_reader_that_comes_while_a_run_is_taken_away_is_told(settings, add):
    run = add("syntax/00001-aaaaaa/seed-0", 50)

    def read():
        with in_use(run):
            pass

    with ThreadPoolExecutor() as pool:
        with unused([run.parent, run]) as free:
            assert free
            reading = pool.submit(read)
            assert not wait([reading], timeout=0.2).done, "it waits for the moment that this takes"
            run.parent.rename(run.parent.with_name(".going.tmp"))
        assert isinstance(reading.exception(), ModelError)


def test_a_project_without_runs_has_none(settings):
    assert old(settings, days=0) == []


def test_each_training_is_looked_at_a_few_times_however_many_there_are(settings, add, monkeypatch):
    for number in range(40):
        add(f"syntax/{number:05d}-aaaaaa/seed-0", 50)
    groups = []
    monkeypatch.setattr(retention, "group_of", lambda run: groups.append(run) or group_of(run))
    assert len(old(settings, days=7)) == 39
    assert len(groups) < 5 * 40


def test_a_training_that_the_project_file_names_through_a_link_stays(settings, add):
    (settings.base / "mine").symlink_to(settings.runs / "other/00001-aaaaaa", target_is_directory=True)
    encoder, *others = settings.encoders
    named = encoder.model_copy(update={"backbone": "mine"})
    for number in (1, 2, 3):
        add(f"other/0000{number}-aaaaaa/seed-0", 50)
    assert old(settings.model_copy(update={"encoders": (named, *others)}), days=7) == ["other/00002-aaaaaa"]


def test_links_in_a_training_are_not_followed(settings, add):
    seed, _ = (add(f"syntax/0000{number}-aaaaaa/seed-0", 50) for number in (1, 2))
    (settings.base / "young").write_bytes(b"x" * 100_000)
    for name in ("young", "gone"):
        (seed / name).symlink_to(settings.base / name)
        os.utime(seed / name, (0, 0), follow_symlinks=False)
    ((folder, size),) = find_old_runs(settings, timedelta(days=7)).items()
    assert (folder, size < 100_000) == (seed.parent, True)
