"""The page of a build: how it ended, which worker made which shard when, how fast, what was rejected, what changed.

Everything on it comes from `build.json`, so it can be recreated.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from features.core.pages import render, tell_date
from features.core.types import LEFT_OUT
from features.store.unproven import tell_unproven
from flows.building.ingest_corpora import left_out
from flows.pages.timeline import Bar, draw_timeline
from flows.watching.stage_progress import clock

SHOWN_SHARDS = 300
"""Shards in the table of shards; those that failed come first, then the longest."""
_STILL = (
    "It was still running when this was written, at {written}. If it is no longer running, it was killed: `facetflow "
    "status` says so, and the next build continues from what was committed."
)
_ENDINGS = {
    "running": ("", _STILL),
    "done": ("good", "Done."),
    "partly": ("bad", "Partly done: what was made is committed."),
    "failed": ("bad", "Failed."),
    "interrupted": ("bad", "Interrupted."),
    "killed": ("bad", "Killed."),
}
_ORDER = {"failed": 0, "left out": 1}
_STATES = {"waiting": "not made", "submitted": "not made", "made": "made, not committed"}


def render_build(facts: Mapping[str, Any]) -> str:
    """Return the page of a build, from the content of `build.json`."""
    shards = sorted(facts["shards"], key=lambda shard: (_ORDER.get(shard["state"], 2), -(shard["seconds"] or 0.0)))
    kind, words = _ENDINGS[facts["state"]]
    total = facts["wall"].get("total", 0.0)
    skipped = (facts["ingest"] or {}).get("left_out")
    return render(
        "flows.pages/build.html",
        title=f"Build of {facts['project']}",
        facts=facts,
        total=total,
        duration=_duration(total),
        ending=(kind, words.format(written=tell_date(facts["written"]) if facts["written"] else "its beginning")),
        failed=[shard for shard in facts["shards"] if shard["state"] == "failed"][:SHOWN_SHARDS],
        timeline=_timeline(facts),
        stages=[_stage(stage, facts["shards"]) for stage in facts["stages"]],
        reasons=[stage["why"] for stage in facts["stages"] if stage["planned"]],
        unproven=tell_unproven(facts["unproven"]) if facts.get("unproven") else "",
        left_out=left_out(skipped) if skipped else "",
        not_wrong=LEFT_OUT,
        shards=shards[:SHOWN_SHARDS],
        states=_STATES,
    )


def _duration(seconds: float) -> str:
    if not seconds:
        return ""
    return f"{clock(seconds)} h of wall time" if seconds >= 3600 else f"{seconds:.0f} s of wall time"


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
