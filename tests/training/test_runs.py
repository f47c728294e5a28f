"""Folders of runs: by encoder, release, settings and seed."""

import errno
import json
import os
import subprocess
import sys
from functools import partial
from unittest.mock import Mock

import pytest
from sentences import refused

from features.core.errors import RunError
from features.core.faults import (
    AnotherProcess,
    EncoderDamaged,
    EncoderUnfinished,
    NameNotAllowed,
    NoEncoder,
    RecordUnreadable,
    UnknownRun,
)
from features.core.locks import only_one
from training import runs as runs_module
from training.encoders.s3bert.settings import S3bertSettings
from training.run_records import LOCK, recorded, state_of, trained_as
from training.runs import (
    all_runs,
    check_encoder_name,
    encoder_name,
    find_encoder,
    group_of,
    is_done,
    run_folder,
    run_id,
    run_title,
    runs_named,
    seed_of,
    seeds_of,
    settings_digest,
    training_of,
)

BEGUN, OTHER = "syntax/00003-aaaaaa/seed-0", "twin/00001-bbbbbb/seed-0"
FINISHED = ("syntax/00001-aaaaaa/seed-0", "syntax/00001-aaaaaa/seed-1", "syntax/00001-aaaaaa/seed-10", OTHER)


@pytest.fixture
def runs(tmp_path):
    for time, name in enumerate(FINISHED):
        encoder = tmp_path / name / "encoder"
        encoder.mkdir(parents=True)
        (encoder / "training.json").write_text("{}")
        os.utime(encoder / "training.json", (time, time))
    (tmp_path / BEGUN).mkdir(parents=True)
    (tmp_path / BEGUN / "train.json").write_text("{}")
    (tmp_path / "builds" / "x").mkdir(parents=True)
    (tmp_path / "by hand" / "encoder").mkdir(parents=True)
    (tmp_path / "by hand" / "encoder" / "training.json").write_text("{}")
    return tmp_path


def test_every_run_is_found_once_and_called_by_its_path(runs):
    assert [run_id(runs, run) for run in all_runs(runs)] == sorted([*FINISHED, BEGUN])
    assert [encoder_name(run) for run in all_runs(runs)] == [*["syntax"] * 4, "twin"]
    assert [run_title(run) for run in all_runs(runs)] == [run_id(runs, run) for run in all_runs(runs)]
    assert [seed_of(run) for run in all_runs(runs)] == [0, 1, 10, 0, 0]
    (runs / "twin/00001-bbbbbb").rename(runs / "twin/.0123456789abcdef.tmp")
    assert len(all_runs(runs)) == 4, "one that is about to be deleted is none"


def test_the_seeds_of_a_training_are_in_their_order(runs):
    assert [run.name for run in seeds_of(runs / FINISHED[2])] == ["seed-0", "seed-1", "seed-10"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("syntax", FINISHED[2]),
        ("syntax/00001-aaaaaa", FINISHED[2]),
        ("syntax/00001-aaaaaa/seed-1", FINISHED[1]),
        ("syntax/00001-aaaaaa/seed-1/", FINISHED[1]),
        ("twin", OTHER),
    ],
)
def test_a_run_is_found_by_its_encoder_or_its_id(runs, name, found):
    assert find_encoder(runs, name) == runs / found / "encoder"


def test_the_newest_run_is_that_of_the_latest_record_whatever_the_times_of_copied_files(runs):
    for day, name in enumerate(FINISHED[:3], start=1):
        record = {"state": "done", "message": "", "at": f"2026-01-0{day}T00:00:00+00:00", "identity": {}}
        (runs / name / "run.json").write_text(json.dumps(record))
    (runs / FINISHED[0] / "encoder" / "training.json").touch()
    with recorded(runs / FINISHED[1], {}):
        pass  # a training that is asked for again finds it done
    assert find_encoder(runs, "syntax") == runs / FINISHED[2] / "encoder"


def test_of_hundreds_of_runs_only_some_are_listed(tmp_path):
    for release in range(200):
        folder = tmp_path / f"syntax/{release:05d}-aaaaaa/seed-0/encoder"
        folder.mkdir(parents=True)
        (folder / "training.json").touch()
    with refused(UnknownRun) as raised:
        find_encoder(tmp_path, "xyz")
    assert len(str(raised.value)) < 500


def test_seed_1_is_not_seed_10(runs):
    assert runs_named(runs, "syntax/00001-aaaaaa/seed-1") == [runs / FINISHED[1]]


def test_runs_of_other_encoders_are_not_looked_at(runs, monkeypatch):
    looked_at = set()
    monkeypatch.setattr(runs_module, "group_of", lambda run: looked_at.add(encoder_name(run)) or group_of(run))
    assert len(runs_named(runs, "syntax")) == 4
    assert looked_at == {"syntax"}
    assert [runs_named(runs, name) for name in ("", "*", "syn*", "..", ".", "[s]yntax")] == [[]] * 6


@pytest.mark.parametrize(
    ("name", "fault"),
    [("sintax", UnknownRun), ("xyz", UnknownRun), (BEGUN, EncoderUnfinished), ("../elsewhere", UnknownRun)],
)
def test_a_run_that_is_not_there_is_refused_with_those_that_are(runs, name, fault):
    with refused(fault):
        find_encoder(runs, name)


def test_without_any_run_the_next_step_is_named(tmp_path):
    with refused(NoEncoder):
        find_encoder(tmp_path, "first")


@pytest.mark.parametrize("name", [".", "..", ".hidden", "builds", "current"])
def test_what_cannot_be_a_folder_of_runs_is_no_name(name):
    with refused(NameNotAllowed):
        check_encoder_name(name, "encoders[1].name")


def test_settings_that_decide_the_result_are_another_folder_and_no_others(tmp_path):
    plain = S3bertSettings(loop={"epochs": 3})
    digest = settings_digest(plain)
    same = [
        S3bertSettings(name="other", cache_gib=0.5, disk_gib=0, loop={"epochs": 3}),
        S3bertSettings(loop={"epochs": 3, "threads": 2, "log_every": 1, "checkpoint_every": 9, "seed": 7}),
        S3bertSettings(loop={"epochs": 3, "device": "cpu", "processes": 2, "trackers": ("mlflow",)}),
    ]
    others = [S3bertSettings(loop={"epochs": 4}), S3bertSettings(alpha=0.5, loop={"epochs": 3})]
    others += [S3bertSettings(loop={"epochs": 3, "precision": "float32"})]
    beside = [{"ratings": "a"}, {"without": ["nli", "sts"]}, {"version": 2}, {"backbone_version": "a"}]
    assert {settings_digest(settings) for settings in same} == {digest}
    digests = [*map(settings_digest, others), *(settings_digest(plain, **given) for given in beside)]
    assert len({digest, *digests}) == 1 + len(digests)
    assert settings_digest(plain, without=["sts", "nli"]) in digests
    folder = run_folder(tmp_path, "syntax", 2, digest, 7)
    assert folder == tmp_path / "syntax" / f"00002-{digest}" / "seed-7"
    assert (encoder_name(folder), seed_of(folder)) == ("syntax", 7)


def test_what_became_of_a_run_is_told_by_what_it_left(runs):
    run = runs / BEGUN
    assert state_of(run).state == "interrupted"
    with recorded(run, {"pairs": "a1"}):
        assert state_of(run).state == "running"
        with refused(AnotherProcess), recorded(run, {}):
            pass
        assert state_of(run).state == "running", "who is refused does not write over the record of the other"
    with pytest.raises(RunError, match="no room"), recorded(run, {}):
        raise RunError("There is no room.")
    assert (state_of(run).state, state_of(run).message) == ("failed", "There is no room (FF500).")
    with pytest.raises(KeyboardInterrupt), recorded(run, {}):
        raise KeyboardInterrupt
    assert (state_of(run).state, state_of(run).message) == (
        "interrupted",
        "starts over when the same release, settings and seed are trained again",
    )
    (run / "layers").mkdir()
    (run / "layers" / "checkpoint.pt").touch()
    assert state_of(run).message.startswith("continues from its checkpoint when the same release, ")
    (run / "encoder").mkdir()
    (run / "encoder" / "training.json").write_text("{}")
    assert state_of(run).state == "done"
    assert trained_as(run) == {}, "its record says that it was interrupted"
    with recorded(run, {"pairs": "a1"}):
        assert trained_as(run) == {}
    assert trained_as(run) == {"pairs": "a1"}
    with pytest.raises(RunError, match="another"), recorded(run, {}):
        raise RunError("It has a finished encoder with another backbone.")
    assert trained_as(run) == {"pairs": "a1"}, "what is refused leaves what is finished"


def test_a_run_whose_process_was_killed_does_not_run(tmp_path, root):
    code = """
import os, sys
from pathlib import Path
from training.run_records import recorded
with recorded(Path(sys.argv[1]), {}):
    os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=False, cwd=root)
    assert done.returncode == -9
    assert json.loads((tmp_path / "run" / "run.json").read_text())["state"] == "running"
    assert state_of(tmp_path / "run").state == "interrupted"
    with only_one(tmp_path / "run" / LOCK, "taken"):
        assert state_of(tmp_path / "run").state == "running"


def test_a_run_that_a_process_of_its_own_trains_is_running(runs):
    with only_one(runs / BEGUN / "train.lock", "taken"):
        assert state_of(runs / BEGUN).state == "running"


@pytest.mark.parametrize("at", ["yesterday", None])
def test_a_record_of_a_run_without_a_time_is_damaged(tmp_path, at):
    (tmp_path / "run.json").write_text(json.dumps({"state": "failed", "message": "no room", "at": at}))
    assert (state_of(tmp_path).state, state_of(tmp_path).at) == ("interrupted", "")


@pytest.mark.parametrize(
    "content",
    [
        "",
        '{"kind": "asp',
        "null",
        "3",
        "[3]",
        "[]",
        '{"settings": 3}',
        '{"settings": {}, "search": null}',
        '{"settings": {}, "files": {"a": "b"}}',
    ],
)
def test_a_damaged_record_of_a_training_says_which_folder_to_delete(tmp_path, content):
    (encoder := tmp_path / "seed-0" / "encoder").mkdir(parents=True)
    assert training_of(encoder) == {}
    (encoder / "training.json").write_text(content)
    for read in (training_of, partial(is_done, identity="")):
        with refused(EncoderDamaged):
            read(encoder)


def test_a_record_that_the_system_refuses_is_not_damaged(tmp_path, monkeypatch):
    (tmp_path / "training.json").write_text("{}")
    monkeypatch.setattr("pathlib.Path.read_bytes", Mock(side_effect=PermissionError(errno.EACCES, "Permission denied")))
    with refused(RecordUnreadable):
        training_of(tmp_path)
