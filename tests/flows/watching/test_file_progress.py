"""Progress through a file: a bar on a terminal, lines elsewhere, nothing with --quiet."""

import errno
import io
import queue
import threading

import pytest
from rich.console import Console

from flows.terminal import Verbosity, set_verbosity, warn
from flows.watching import file_progress
from flows.watching.file_progress import FileProgress


def test_counts_rate_and_time_left(its_time):
    now = [0.0]
    its_time("flows.watching.file_progress", monotonic=lambda: now[0])
    progress = FileProgress("pairs")
    assert progress.line() == "reading files, loading models"
    now[0] += 500
    progress(0, 2000)
    now[0] += 5
    assert progress.line() == "0 of 2,000"
    progress(1, 2000)
    assert progress.line() == "1 of 2,000", "too little to tell a rate by"
    now[0] += 5
    progress(500, 2000)
    assert progress.line() == "500 of 2,000   50 a second   0:00:30 left"


def test_lines_come_while_the_work_goes_on_and_only_then(monkeypatch):
    said, ticked = queue.Queue(), queue.Queue()

    def look(progress):
        say(progress)
        ticked.put(None)

    say = FileProgress._say
    monkeypatch.setattr(FileProgress, "_say", look)
    monkeypatch.setattr(file_progress, "PLAIN_EVERY", 0.01)
    monkeypatch.setattr(file_progress, "say", said.put)
    with FileProgress("pairs", Console(file=io.StringIO())) as progress:
        assert said.get(timeout=60) == "pairs  reading files, loading models"
        for done in (1, 2):
            progress(done, 4)
            assert said.get(timeout=60).startswith(f"pairs  {done} of 4")
        while not ticked.empty():
            ticked.get()
        for _ in range(3):
            ticked.get(timeout=60)
        assert said.empty(), "nothing has moved"
    assert "file progress" not in {thread.name for thread in threading.enumerate()}


def test_a_terminal_has_a_bar():
    written = io.StringIO()
    with FileProgress("pairs", Console(file=written, force_terminal=True, width=80)) as progress:
        progress(0, 4)
        progress(3, 4)
    assert "3 of 4" in written.getvalue()
    assert written.getvalue().endswith("\x1b[2K"), "it goes when the work is done"


def test_a_terminal_that_closes_loses_nothing_of_the_work():
    class Terminal(io.StringIO):
        def flush(self):
            if self.is_gone:
                raise OSError(errno.EIO, "Input/output error")

        is_gone = False

    with FileProgress("pairs", Console(file=(terminal := Terminal()), force_terminal=True)) as progress:
        progress(3, 4)
        terminal.is_gone = True


def test_a_line_that_comes_meanwhile_does_not_break_the_bar(capsys):
    written = io.StringIO()
    with FileProgress("pairs", Console(file=written, force_terminal=True, width=80)) as progress:
        progress(1, 4)
        warn("a line with [brackets]")
    assert "a line with [brackets]\n" in written.getvalue()
    assert capsys.readouterr().err == "", "lines and bar go through one console"


@pytest.mark.parametrize("terminal", [True, False])
def test_quiet_is_quiet(monkeypatch, terminal):
    monkeypatch.setattr(file_progress, "say", pytest.fail)
    monkeypatch.setattr(file_progress, "PLAIN_EVERY", 0.0)
    written = io.StringIO()
    set_verbosity(Verbosity.QUIET)
    try:
        with FileProgress("pairs", Console(file=written, force_terminal=terminal)) as progress:
            progress(3, 4)
    finally:
        set_verbosity(Verbosity.NORMAL)
    assert written.getvalue() == ""
