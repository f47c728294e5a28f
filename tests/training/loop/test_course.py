"""The course of a training: in a file, for trackers, with the means and the speed since the last line."""

import json
import os
from types import SimpleNamespace

import pytest
from sentences import refused

from features.core.faults import LibraryMissing, UnknownName
from training.loop.course import Course, read_course
from training.progress import EVERY


def test_a_slow_training_says_more_often_how_far_it_is(line, make_loop, tmp_path, monkeypatch):
    monkeypatch.setattr(Course, "is_due", True)
    make_loop(line(), log_every=1000).run()
    assert list(read_course(tmp_path / "run")["loss"]) == list(range(1, 19))


def test_lines_that_are_no_report_are_left_out_of_a_course(tmp_path):
    lines = ("7", "[]", "null", "{}", '{"step": null, "loss": 1}', '{"step": 2, "loss": 0.5}', '{"step": 3, "lo')
    (tmp_path / "progress.jsonl").write_text("\n".join(lines))
    assert read_course(tmp_path) == {"loss": {2: 0.5}}


def test_only_the_first_process_reports(tmp_path, monkeypatch):
    told = []
    tracker = SimpleNamespace(log=lambda numbers, step: told.append((numbers, step)))
    course = Course(tmp_path, tracker, unit="pairs", total=2, done=0)
    course.report_dev({"score": 0.5}, step=1, best=True)
    monkeypatch.setenv("RANK", "1")
    course.report_dev({"score": 0.6}, step=2, best=True)
    assert told == [({"dev_score": 0.5}, 1)]
    assert read_course(tmp_path) == {"dev_score": {1: 0.5}}


def test_the_course_is_in_a_file(line, make_loop, tmp_path):
    make_loop(line(scores=[0.5, 0.7, 0.6]), log_every=3, warmup=0.5).run()
    lines = [json.loads(text) for text in (tmp_path / "run" / "progress.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "loss" in line] == [3, 6, 9, 12, 15, 18]
    assert [line["epoch"] for line in lines if "loss" in line] == [1, 1, 2, 2, 3, 3]
    rates = [line["learning_rate"] for line in lines if "loss" in line]
    assert rates == pytest.approx([0.1 * share for share in (3 / 9, 6 / 9, 9 / 9, 7 / 9, 4 / 9, 1 / 9)])
    assert [line["dev_score"] for line in lines if "dev_score" in line] == [0.5, 0.7, 0.6]
    assert [line["best"] for line in lines if "best" in line] == [True, True, False]


def test_a_line_has_the_means_and_the_speed_since_the_last_one_and_the_time_left(its_time, tmp_path):
    now = [0.0]
    its_time("training.loop.course", perf_counter=lambda: now[0])
    course = Course(tmp_path, SimpleNamespace(log=lambda *_, **__: None), unit="pairs", total=10, done=2)
    for step, loss, seconds in ((3, 3.0, 4), (4, 5.0, 6), (5, 1.0, 2)):
        course.add({"loss": loss}, 8)
        now[0] += seconds
        if step > 3:
            course.report(step=step, epoch=0, rate=0.1)
    lines = [json.loads(text) for text in course.path.read_text().splitlines()]
    assert [(line["loss"], line["pairs_per_second"], line["seconds_left"]) for line in lines] == [
        (4.0, 16 / 10, 6 * 10 / 2),
        (1.0, 8 / 2, 5 * 12 / 3),
    ]
    now[0] += EVERY
    assert not course.is_due, "since the last line"
    now[0] += 1
    assert course.is_due
    with course.path.open("a") as file:
        file.write('{"step": 6, "loss": NaN}\n{"step": 7, "lo')
    assert read_course(tmp_path) == {"loss": {4: 4.0, 5: 1.0}}


def test_the_course_of_a_part_is_that_of_the_training_until_the_next_begins(line, make_loop, tmp_path):
    make_loop(line(scores=[0.5, 0.7, 0.6]), log_every=3).run()
    (tmp_path / "whole").mkdir()
    (tmp_path / "run").rename(tmp_path / "whole/layers")
    course = read_course(tmp_path / "whole")
    assert list(course["dev_score"].values()) == [0.5, 0.7, 0.6]
    (tmp_path / "whole/progress.jsonl").write_text('{"step": 2, "loss": 1}\n')
    assert read_course(tmp_path / "whole") == {"loss": {2: 1}}
    os.utime(tmp_path / "whole/progress.jsonl", (1, 1))
    assert read_course(tmp_path / "whole") == course


def test_a_tracker_that_is_none_or_not_installed_is_refused(line, make_loop, monkeypatch):
    with refused(UnknownName):
        make_loop(line(), trackers=("tensorbord",))
    monkeypatch.setattr("training.loop.machine.get_available_trackers", list)
    with refused(LibraryMissing):
        make_loop(line(), trackers=("tensorboard",))


def test_trackers_get_settings_of_kinds_that_all_of_them_take(line, make_loop, monkeypatch):
    loop = make_loop(line())
    loop.settings = loop.settings.model_copy(update={"trackers": ("tensorboard",)})
    loop.described = {"facets": ["smatch"], "loop.patience": None, "alpha": 0.5, "dropout": False, "preset": "paper"}
    seen, ended = {}, []
    monkeypatch.setattr(loop.machine.accelerator, "init_trackers", lambda _, config: seen.update(config))
    tracker = SimpleNamespace(log=lambda *_, **__: None, finish=lambda: ended.append("finished"))
    monkeypatch.setattr(loop.machine.accelerator, "trackers", [tracker])
    loop.run()
    assert ended == ["finished"]
    assert seen == {
        "facets": '["smatch"]',
        "loop.patience": "null",
        "alpha": 0.5,
        "dropout": False,
        "preset": "paper",
    }


def test_tensorboard_records_losses_and_dev_scores(line, make_loop, tmp_path):
    pytest.importorskip("tensorboard", reason="needs the extra: pip install 'facetflow[tensorboard]'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    loop = make_loop(line(scores=[0.5, 0.7, 0.6]), trackers=("tensorboard",), log_every=3)
    loop.described = {"facets": ["smatch"], "loop.patience": None}
    loop.run()
    found = {}
    for file in (tmp_path / "run").rglob("events.out.tfevents.*"):
        events = EventAccumulator(str(file.parent)).Reload()
        found |= {name: [point.step for point in events.Scalars(name)] for name in events.Tags()["scalars"]}
    assert found["loss"] == [3, 6, 9, 12, 15, 18]
    assert found["dev_score"] == [6, 12, 18]
