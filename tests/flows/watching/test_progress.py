"""What a user sees of a build: rows as they are made, true rates, and the effect of the options."""

import io
import itertools
import re

import pytest
from rich.console import Console

from features.core.wording import clock
from flows.terminal import Verbosity, say, set_verbosity
from flows.watching.progress import BuildProgress
from flows.watching.shard_history import ShardHistory


@pytest.fixture
def seconds(its_time):
    """A clock that stands still until a test moves it: the only number in the list."""
    now = [1000.0]
    its_time("flows.watching.progress", monotonic=lambda: now[0])
    return now


@pytest.fixture(autouse=True)
def verbosity():
    yield set_verbosity
    set_verbosity(Verbosity.NORMAL)


def planned(progress, **stages):
    """Plan shards s0, s1 and so on, of so many rows each, for each stage."""
    progress.history.plan(
        ShardHistory(stage, f"s{number}", rows) for stage, each in stages.items() for number, rows in enumerate(each)
    )
    progress.plan()


class Stage:
    """The stage `amr` of a build that has no other."""

    def __init__(self, *rows):
        self.build = BuildProgress(Console(file=io.StringIO()))
        planned(self.build, amr=rows)
        self.progress = self.build._stages["amr"]

    def submit(self, shard):
        self.build.history["amr", shard].state = "submitted"

    def report(self, shard, done, total):
        self.build.reported("amr", shard, done, total, "worker-0")

    def finish(self, shard, rejects=0):
        self.build.done("amr", shard, rejects, 1.0)

    def __getattr__(self, name):
        return getattr(self.progress, name)


def test_rows_of_a_shard_count_while_it_is_made(seconds):
    stage = Stage(400, 400)
    stage.submit("s0")
    assert stage.line() == "0/2 shards  0/800 rows  waiting for a worker"
    stage.report("s0", 0, 0)
    assert stage.line() == "0/2 shards  0/800 rows  loading"
    seconds[0] += 500  # a model is loaded
    stage.report("s0", 0, 64)
    seconds[0] += 10
    stage.report("s0", 16, 64)
    assert stage.line() == "0/2 shards  100/800 rows  10 rows/s  0:01:10 left"
    seconds[0] += 30
    stage.finish("s0", rejects=3)
    assert stage.line() == "1/2 shards  400/800 rows  3 rejected  10 rows/s"


def test_time_in_which_nobody_works_does_not_slow_the_rate(seconds):
    stage = Stage(100, 100)
    for shard in ("s0", "s1"):
        seconds[0] += 1000  # other stages are made
        stage.submit(shard)
        stage.report(shard, 0, 100)
        seconds[0] += 5
        stage.report(shard, 50, 100)
        assert stage.rate() == 10
        seconds[0] += 5
        stage.finish(shard, rejects=0)
    assert (stage.rows_done, stage.count("made"), stage.left()) == (200, 2, None)


def test_two_shards_at_once_are_twice_as_fast(seconds):
    stage = Stage(100, 100)
    for shard in ("s0", "s1"):
        stage.submit(shard)
        stage.report(shard, 0, 100)
    seconds[0] += 0.5
    stage.report("s0", 50, 100)
    assert stage.rate() is None, "half a second tells nothing"
    seconds[0] += 4.5
    stage.report("s1", 50, 100)
    assert (stage.rate(), stage.left()) == (20, 5)
    stage.report("s0", 100, 100)
    stage.report("s1", 100, 100)
    assert stage.left() is None, "they are about to be committed"


def test_a_shard_that_says_nothing_until_it_is_made_counts_for_the_rate(seconds):
    stage = Stage(100, 100)
    stage.submit("s0")
    stage.report("s0", 0, 100)
    seconds[0] += 5
    stage.finish("s0")
    assert stage.rate() == 20


def test_a_shard_that_is_made_again_counts_once(seconds):
    stage = Stage(100, 100)
    stage.submit("s0")
    stage.report("s0", 0, 100)
    seconds[0] += 9
    stage.report("s0", 90, 100)
    stage.report("s0", 0, 0)  # Dask gave it to another worker
    assert stage.rows_done == 0
    stage.report("s0", 40, 100)
    stage.build.taken_back("amr", "s0")
    assert stage.rows_done == 0
    stage.report("s0", 80, 100)  # a late word of the first worker
    assert stage.rows_done == 0
    stage.submit("s0")
    stage.report("s0", 100, 100)
    stage.finish("s0", rejects=0)
    assert stage.standing[:3] == (1, 0, 100)


def test_rows_of_failed_shards_are_not_waited_for(seconds):
    stage = Stage(100, 100, 100, 100)
    stage.submit("s0")
    stage.report("s0", 50, 100)
    stage.build.failed("amr", "s0", "no graph")
    stage.build.left_out("amr", "s3")
    seconds[0] += 1000  # nobody works
    stage.submit("s1")
    stage.report("s1", 0, 10)
    seconds[0] += 5
    stage.report("s1", 5, 10)
    assert stage.left() == (400 - 200 - 50) / 10


@pytest.mark.parametrize("done", [-3, 0, 7, 10, 99])
def test_nothing_that_a_worker_says_makes_a_number_absurd(seconds, done):
    stage = Stage(10, 10)
    stage.submit("s0")
    stage.report("s0", 0, 10)
    for _ in range(3):
        seconds[0] += 1
        stage.report("s0", done, 10)
        assert 0 <= stage.rows_done <= 10
        assert stage.left() is None or stage.left() >= 0


def test_clocks_have_hours():
    assert clock(2 * 3600 + 61.9) == "2:01:01"


def plain(progress, seconds):
    """Make two shards, the first in 25 s; the loop looks twice a second."""
    planned(progress, amr=(100, 100), srl=(50,))
    progress.history["amr", "s0"].state = progress.history["srl", "s0"].state = "submitted"
    progress.reported("amr", "s0", 0, 0, "worker-0")
    progress.reported("amr", "s0", 0, 100, "worker-0")
    for tick in range(50):
        seconds[0] += 0.5
        progress.reported("amr", "s0", 2 * tick, 100, "worker-0")
        progress.tick()
    progress.done("amr", "s0", 2, 25.0)
    progress.history["amr", "s1"].state = "submitted"
    progress.failed("amr", "s1", "no graph")
    progress.left_out("srl", "s0")


def test_without_a_terminal_a_line_comes_every_ten_seconds(seconds, capsys):
    with BuildProgress(Console(file=io.StringIO())) as progress:
        plain(progress, seconds)
    out, err = capsys.readouterr()
    assert out == "", "standard output is for results"
    assert err.splitlines() == [
        "amr           0/2 shards  38/200 rows  3.8 rows/s  0:00:42 left",
        "amr           0/2 shards  78/200 rows  3.9 rows/s  0:00:31 left",
        "amr           1/2 shards  100/200 rows  2 rejected  1 failed  4.0 rows/s",
        "srl           0/1 shards  0/50 rows  1 failed",
    ]


def test_without_a_terminal_no_line_comes_while_nothing_moves(seconds, capsys):
    looks = []
    with BuildProgress(Console(file=io.StringIO())) as progress:
        planned(progress, amr=(100, 100))
        progress.on_tick = lambda: looks.append(seconds[0])
        progress.history["amr", "s0"].state = "submitted"
        for reported in ((), (0, 0), (0, 100), (1, 100), (60, 100)):
            if reported:
                progress.reported("amr", "s0", *reported, "worker-0")
            for _ in range(60):
                seconds[0] += 0.5
                progress.tick()
    assert capsys.readouterr().err.splitlines() == [
        "amr           0/2 shards  0/200 rows  waiting for a worker",
        "amr           0/2 shards  0/200 rows  loading",
        "amr           0/2 shards  0/200 rows",
        "amr           0/2 shards  1/200 rows  0.0 rows/s",
        "amr           0/2 shards  60/200 rows  0.9 rows/s  0:02:43 left",
    ]
    assert len(looks) == 300, "the page of the build is written as it goes"


def test_a_first_estimate_waits_until_it_means_something(seconds):
    stage = Stage(1000)
    stage.submit("s0")
    stage.report("s0", 0, 1000)
    seconds[0] += 3
    stage.report("s0", 10, 1000)  # the first batch, which compiles and fills caches
    assert stage.line() == "0/1 shards  10/1,000 rows  3.3 rows/s"
    seconds[0] += 2
    stage.report("s0", 100, 1000)
    assert stage.line() == "0/1 shards  100/1,000 rows  20 rows/s  0:00:45 left"


def test_quiet_says_nothing(seconds, capsys, verbosity):
    verbosity(Verbosity.QUIET)
    terminal = io.StringIO()
    with BuildProgress(Console(file=terminal, force_terminal=True)) as progress:
        plain(progress, seconds)
        say("a line")
    assert (capsys.readouterr(), terminal.getvalue()) == (("", ""), "")


def test_verbose_says_who_makes_which_shard(seconds, capsys, verbosity):
    verbosity(Verbosity.VERBOSE)
    with BuildProgress(Console(file=io.StringIO())) as progress:
        plain(progress, seconds)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "begun" in line] == ["amr s0: begun by worker-0"]
    assert "amr s0: done in 25.0 s, 2 rejected" in lines


def test_on_a_terminal_bars_move_within_a_shard(its_time, capsys):
    ticks = itertools.count(1000.0, 0.5)
    its_time("flows.watching.progress", monotonic=lambda: next(ticks))
    terminal = io.StringIO()
    with BuildProgress(Console(file=terminal, force_terminal=True, width=80, color_system=None)) as progress:
        planned(progress, amr=(100,))
        planned(progress, amr=(100, 100))  # neighbours are planned when the rest is made
        progress.history["amr", "s0"].state = "submitted"
        progress.reported("amr", "s0", 0, 100, "worker-0")
        progress.reported("amr", "s0", 80, 100, "worker-0")
        progress.tick()
        say("a line of its own")
    written = terminal.getvalue()
    shown = written.rpartition("\x1b[2K")[2]
    assert shown.split()[:6] == ["amr", "━━━━╸", "0/2", "shards", "80/200", "rows"]
    assert "a line of its own" in written, "bars and lines go through one console"
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.soak
def test_workers_tell_the_flow_how_far_they_are_in_a_shard(project, build_with, capfd):
    project.write(8, sentences=64, per_shard=64)
    record = build_with(
        project,
        """
        @task(persist_result=False)
        def slow(job, settings):
            import time
            from features.parsers.bank import BankParser
            from tasks.shard import make_shard
            parse = BankParser.parse
            def slowly(self, texts, on_rows):
                def step(done, total):
                    on_rows(done, total)
                    time.sleep(0.3)
                return parse(self, texts, step)
            BankParser.parse = slowly
            return make_shard(job, settings)

        run_shards.MAKE_SHARD = slow
        from flows.watching import progress
        progress.PLAIN_EVERY = 0
        """,
    )
    assert record.state == "done"
    lines = capfd.readouterr().err
    assert re.search(r"^amr +0/1 shards  [1-9]\d*/\d+ rows  .* rows/s  0:00:\d\d left$", lines, re.MULTILINE), lines
