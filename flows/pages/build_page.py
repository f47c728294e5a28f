"""The page of a build: how it ended, which worker made which shard when, how fast, what was rejected, what changed.

Everything on it comes from `build.json`, so it can be recreated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count, groupby, takewhile
from typing import Any

from markupsafe import Markup

from features.core.pages import render, tell
from features.core.types import LEFT_OUT
from features.core.wording import clock
from features.store.unproven import tell_unproven

_LEAST = 0.12  # percent of the width: anything narrower would not be visible
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_TICKS = 6
_LAST_TICK = 94  # percent: a label further right would run off the page
_COLOURS = 8


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
    """Draw bars over so many seconds, more than 0, one line per worker; stages are in the order of their colours.

        worker-0   ████████▓▓▓▓▓▓▓▓████
        worker-1   ██████░░░░        ▓▓▓▓▓▓      ░ lost with its worker
                   0:00      0:10      0:20

    It is HTML: text keeps its size, bars fill the width. Neighbours too narrow to be distinguished are drawn as one, so
    that thousands of shards fit a page.
    """
    colours = {stage: f"s{position % _COLOURS}" for position, stage in enumerate(stages)}
    drawn = {bar.stage for bar in bars}
    ordered = sorted(bars, key=lambda bar: (_natural(bar.worker), bar.begun))
    lanes = groupby(ordered, key=lambda bar: bar.worker)
    return render(
        "flows.pages/timeline.html",
        stages={stage: colour for stage, colour in colours.items() if stage in drawn},
        outcomes={bar.outcome for bar in bars},
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
    return list(takewhile(lambda tick: 100 * tick / seconds <= _LAST_TICK, count(0, step)))


SHOWN_SHARDS = 300
"""Shards in the table of shards; those that failed come first, then the longest."""
_ORDER = {"failed": 0, "left out": 1}


def render_build(facts: Mapping[str, Any]) -> str:
    """Return the page of a build, from the content of `build.json`."""
    shards = sorted(facts["shards"], key=lambda shard: (_ORDER.get(shard["state"], 2), -(shard["seconds"] or 0.0)))
    skipped = (facts["ingest"] or {}).get("skipped")
    return render(
        "flows.pages/build.html",
        title=f"Build of {facts['project']}",
        facts=facts,
        clock=clock,
        timeline=_timeline(facts),
        stages=[_stage(stage, facts["shards"]) for stage in facts["stages"]],
        unproven=tell_unproven(facts["unproven"]) if facts.get("unproven") else "",
        left_out=tell("flows.building/ingest.txt", "left_out", skipped) if skipped else "",
        not_wrong=LEFT_OUT,
        shards=shards[:SHOWN_SHARDS],
    )


def _timeline(facts: Mapping[str, Any]) -> str:
    attempts = [(shard, attempt) for shard in facts["shards"] for attempt in shard["attempts"]]
    if not attempts:
        return ""
    start = min(attempt["begun"] for _, attempt in attempts)
    written = datetime.fromisoformat(facts["written"]).timestamp()
    bars = []
    for shard, attempt in attempts:
        begun = attempt["begun"] - start
        ended = max(begun, (written if attempt["outcome"] == "running" else attempt["heard"]) - start)
        caption = (
            f"{shard['stage']} {shard['shard']}, {shard['rows']:,} rows, {attempt['outcome']}, "
            f"{ended - begun:.1f} s from {clock(begun)}"
        )
        bars.append(Bar(attempt["worker"], shard["stage"], begun, ended, attempt["outcome"], caption))
    return draw_timeline(bars, [stage["stage"] for stage in facts["stages"]], max(0.001, *(bar.ended for bar in bars)))


def _stage(stage: Mapping[str, Any], shards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what became of the shards of a stage, and how fast they were made; None where none was timed."""
    shards = [shard for shard in shards if shard["stage"] == stage["stage"]]
    timed = [shard for shard in shards if shard["seconds"] is not None]
    seconds = sum(shard["seconds"] for shard in timed)
    rows = sum(shard["rows"] for shard in timed)
    counts = [sum(shard["state"] == state for shard in shards) for state in ("committed", "failed", "left out")]
    return {
        **stage,
        "counts": [*counts, len(shards) - sum(counts)],
        "rows": rows if timed else None,
        "rejected": sum(shard["rejects"] or 0 for shard in timed) if timed else None,
        "seconds": seconds if timed else None,
        "rate": rows / seconds if rows and seconds > 0 else None,
    }
