"""The parts of a run's time follow each other and add up."""

import psutil
import pytest

from flows.wall_time import WallTime


@pytest.fixture
def clock(its_time):
    now = [100.0]
    started = psutil.Process().create_time()
    its_time("flows.wall_time", monotonic=lambda: now[0], time=lambda: started + 6)
    return now


def test_a_part_within_another_counts_once(clock, monkeypatch):
    monkeypatch.setattr("flows.wall_time._process_is_command", False)
    wall = WallTime()
    clock[0] += 1
    with wall.part("cluster"):
        clock[0] += 2
        with wall.part("stages"):
            clock[0] += 4
        clock[0] += 8
    assert wall.parts() == {"cluster": 10.0, "stages": 4.0, "other": 1.0, "total": 15.0}


def test_a_command_counts_from_the_start_of_its_process(clock, monkeypatch):
    monkeypatch.setattr("flows.wall_time._process_is_command", True)
    wall = WallTime()
    clock[0] += 1
    assert wall.parts() == {"start": 6.0, "other": 1.0, "total": 7.0}
