"""What a user sees of a build where there is no terminal."""

import io

from rich.console import Console

from flows.progress import BuildProgress, StageProgress


def test_plain_lines_tell_counts_and_failures():
    written = io.StringIO()
    with BuildProgress(Console(file=written, width=200)) as progress:
        progress.plan({"amr": (3, 300)})
        progress.start("amr")
        progress.done("amr", 100, 2)
        progress.failed("amr")
        progress.done("amr", 100, 0)
    lines = written.getvalue().splitlines()
    assert len(lines) == 2, "the first shard and the last, nothing in between within some seconds"
    assert lines[0].startswith("amr           1/3 shards   100 rows   2 rejected   ")
    assert "left" in lines[0]
    assert lines[1].startswith("amr           2/3 shards   200 rows   2 rejected   1 failed   ")
    assert "left" not in lines[1]


def test_the_rest_is_estimated_from_the_rate(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 110.0)
    progress = StageProgress(shards=8, rows=80_000, done=1, rows_done=1_000, started=100.0)
    assert progress.line() == "1/8 shards   1,000 rows   100 rows/s   0:13:10 left"
