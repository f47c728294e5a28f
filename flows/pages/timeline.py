"""The shards of a build over time as HTML, one line per worker: text keeps its size, bars fill the width.

    worker-0   ████████▓▓▓▓▓▓▓▓████
    worker-1   ██████░░░░        ▓▓▓▓▓▓      ░ lost with its worker
               0:00      0:10      0:20

Neighbours too narrow to be distinguished are drawn as one, so that thousands of shards fit a page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from markupsafe import Markup

from features.core.pages import render
from flows.watching.stage_progress import clock

_LEAST = 0.12  # percent of the width: anything narrower would not be visible
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_TICKS = 6
_LAST_TICK = 94  # percent: a label further right would run off the page
_COLOURS = 8
_OUTCOMES = {
    "failed": "failed",
    "lost": "lost with its worker, shown up to its last report",
    "running": "still being made",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """The attempt of a worker at one shard, or several: made, failed, lost or running.

    Times are in seconds since the start of the timeline; lost work ended with its last report.
    """

    worker: str
    stage: str
    begun: float
    ended: float
    outcome: str
    caption: str
    shards: int = 1


def draw_timeline(bars: Sequence[Bar], stages: Sequence[str], seconds: float) -> Markup:
    """Draw bars over so many seconds, more than 0, one line per worker; stages are in the order of their colours."""
    colours = {stage: f"s{position % _COLOURS}" for position, stage in enumerate(stages)}
    drawn, outcomes = {bar.stage for bar in bars}, {bar.outcome for bar in bars}
    ordered = sorted(bars, key=lambda bar: (_natural(bar.worker), bar.begun))
    lanes = groupby(ordered, key=lambda bar: bar.worker)
    return render(
        "flows.pages/timeline.html",
        keys=[(colour, stage) for stage, colour in colours.items() if stage in drawn]
        + [(f"s7 {outcome}", words) for outcome, words in _OUTCOMES.items() if outcome in outcomes],
        lanes=[(worker or "worker unknown", _joined(lane, seconds)) for worker, lane in lanes],
        ticks=[(100 * tick / seconds, clock(tick)) for tick in _ticks(seconds)],
        colours=colours,
        scale=100 / seconds,
        least=_LEAST,
    )


def _natural(name: str) -> tuple[str, int, str]:
    """Return a key that sorts worker-10 after worker-9."""
    head, _, number = name.rpartition("-")
    return (head, int(number), name) if number.isdigit() else (name, 0, name)


def _joined(bars: Iterable[Bar], seconds: float) -> list[Bar]:
    """Return the bars of a worker in their order, joining those that would be too narrow to be distinguished."""
    joined: list[Bar] = []
    for bar in bars:
        last = joined[-1] if joined else bar
        alike = joined and (last.stage, last.outcome) == (bar.stage, bar.outcome)
        if alike and bar.ended - last.begun < seconds * _LEAST / 100:
            shards = last.shards + bar.shards
            caption = f"{shards} shards of {bar.stage}, from {clock(last.begun)} to {clock(bar.ended)}"
            joined[-1] = replace(last, ended=bar.ended, caption=caption, shards=shards)
        else:
            joined.append(bar)
    return joined


def _ticks(seconds: float) -> list[float]:
    step = next((step for step in _STEPS if seconds / step <= _TICKS), _STEPS[-1] * (1 + seconds // (_TICKS * 86400)))
    ticks = [0.0]
    while 100 * (ticks[-1] + step) / seconds <= _LAST_TICK:
        ticks.append(ticks[-1] + step)
    return ticks
