"""The shards of a build over time as HTML, one line per worker: text keeps its size, bars fill the width.

    worker-0   ████████▓▓▓▓▓▓▓▓████
    worker-1   ██████░░░░        ▓▓▓▓▓▓      ░ lost with its worker
               0:00      0:10      0:20

Neighbours too narrow to be distinguished are drawn as one, so that thousands of shards fit a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from flows.watching.stage_progress import clock

_LEAST = 0.12  # percent of the width: anything narrower would not be visible
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_TICKS = 6
_LAST_TICK = 94  # percent: a label further right would run off the page
_HEIGHT = 24
COLOURS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One worker's attempt at one shard.

    Args:
        worker: name of the worker.
        stage: stage of the shard.
        begun: its begin, in seconds since the start of the timeline.
        ended: its end, in the same units; for lost work, its last report.
        outcome: made, failed, lost or running.
        caption: description in words.
        shards: number of shards that the bar stands for.
    """

    worker: str
    stage: str
    begun: float
    ended: float
    outcome: str
    caption: str
    shards: int = 1


def draw_timeline(bars: Sequence[Bar], stages: Sequence[str], seconds: float) -> str:
    """Draw bars, one line per worker, sorted by name.

    Args:
        bars: the bars, in any order.
        stages: stages, in the order of their colours.
        seconds: seconds that the timeline covers; more than 0.
    """
    colours = {stage: f"s{position % COLOURS}" for position, stage in enumerate(stages)}
    ticks = _ticks(seconds)
    lanes = "".join(
        _lane(worker, _joined([bar for bar in bars if bar.worker == worker], seconds), colours, ticks, seconds)
        for worker in sorted({bar.worker for bar in bars}, key=_natural)
    )
    labels = "".join(f'<span style="left:{100 * tick / seconds:.2f}%">{clock(tick)}</span>' for tick in ticks)
    return f'{_keys(bars, colours)}{lanes}<div class="hours"><div class="ticks">{labels}</div></div>'


def _natural(name: str) -> tuple[str, int, str]:
    """Return a key that sorts worker-10 after worker-9."""
    head, _, number = name.rpartition("-")
    return (head, int(number), name) if number.isdigit() else (name, 0, name)


def _joined(bars: Sequence[Bar], seconds: float) -> list[Bar]:
    """Return the bars of a worker, joining those that would be too narrow to be distinguished."""
    least = seconds * _LEAST / 100
    found: list[Bar] = []
    for bar in sorted(bars, key=lambda bar: bar.begun):
        last = found[-1] if found else None
        if (
            last is not None
            and (last.stage, last.outcome) == (bar.stage, bar.outcome)
            and bar.ended - last.begun < least
        ):
            shards = last.shards + bar.shards
            caption = f"{shards} shards of {bar.stage}, from {clock(last.begun)} to {clock(bar.ended)}"
            found[-1] = Bar(bar.worker, bar.stage, last.begun, bar.ended, bar.outcome, caption, shards)
        else:
            found.append(bar)
    return found


def _lane(worker: str, bars: Sequence[Bar], colours: Mapping[str, str], ticks: Sequence[float], seconds: float) -> str:
    lines = "".join(
        f'<line x1="{100 * tick / seconds:.2f}%" x2="{100 * tick / seconds:.2f}%" y1="0" y2="{_HEIGHT}"/>'
        for tick in ticks
    )
    shapes = "".join(
        f'<rect class="part {colours.get(bar.stage, "s7")}{f" {escape(bar.outcome)}" * (bar.outcome != "made")}" '
        f'x="{100 * bar.begun / seconds:.3f}%" width="{max(_LEAST, 100 * (bar.ended - bar.begun) / seconds):.3f}%" '
        f'y="3" height="{_HEIGHT - 6}"><title>{escape(bar.caption)}</title></rect>'
        for bar in bars
    )
    shards = sum(bar.shards for bar in bars)
    name = worker or "worker unknown"
    label = f"{name}: {shards} shard{'' if shards == 1 else 's'}"
    return (
        f'<div class="lane"><span class="name">{escape(name)}</span>'
        f'<svg role="img" aria-label="{escape(label)}">{lines}{shapes}</svg></div>'
    )


def _keys(bars: Sequence[Bar], colours: Mapping[str, str]) -> str:
    stages = {bar.stage for bar in bars}
    shown = [(colour, stage) for stage, colour in colours.items() if stage in stages]
    outcomes = {bar.outcome for bar in bars}
    shown += [
        (f"s7 {outcome}", words)
        for outcome, words in (
            ("failed", "failed"),
            ("lost", "lost with its worker, shown up to its last report"),
            ("running", "still being made"),
        )
        if outcome in outcomes
    ]
    square = '<rect class="part {}" x="2" y="1" width="14" height="10"/>'
    items = "".join(
        f'<span><svg width="18" height="12" aria-hidden="true">{square.format(kind)}</svg> {escape(text)}</span>'
        for kind, text in shown
    )
    return f'<div class="keys">{items}</div>'


def _ticks(seconds: float) -> list[float]:
    step = next((step for step in _STEPS if seconds / step <= _TICKS), _STEPS[-1] * (1 + seconds // (_TICKS * 86400)))
    ticks = [0.0]
    while 100 * (ticks[-1] + step) / seconds <= _LAST_TICK:
        ticks.append(ticks[-1] + step)
    return ticks
