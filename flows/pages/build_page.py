"""The page of a build: how it ended, which worker made which shard when, how fast, what was rejected, what changed.

Everything on it comes from `build.json`, so it can be recreated. All text is escaped.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from features.core.page import folded, heading, render_page, tell_date
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


def render_build(facts: Mapping[str, Any]) -> str:
    """Return the page of a build.

    Args:
        facts: content of `build.json`.
    """
    body = [
        heading(f"Build of {facts['project']}", tell_date(facts["started"]), facts["run_id"], _duration(facts)),
        _ending(facts),
        *_failures(facts["shards"]),
        *_section("Shards over time", _timeline(facts)),
        *_section("Stages", _stages(facts)),
        f'<p class="note">{_said(tell_unproven(facts["unproven"]))}</p>' if facts.get("unproven") else "",
        *_section("Rejected rows", _quality(facts["quality"], (facts["ingest"] or {}).get("left_out", {}))),
        *_section(_since(facts), _changes(facts)),
        *_section("Where the time went", _wall(facts["wall"])),
        *_section("Shards", _shards(facts["shards"])),
    ]
    return render_page(f"Build of {facts['project']} · facetflow", "\n".join(part for part in body if part))


def _section(title: str, content: str) -> tuple[str, ...]:
    return (f"<h2>{escape(title)}</h2>", content) if content else ()


def _duration(facts: Mapping[str, Any]) -> str:
    total = facts["wall"].get("total")
    return (
        f"{clock(total)} h of wall time" if total and total >= 3600 else f"{total:.0f} s of wall time" if total else ""
    )


def _ending(facts: Mapping[str, Any]) -> str:
    kind, words = _ENDINGS[facts["state"]]
    said = words.format(written=tell_date(facts["written"]) if facts["written"] else "its beginning")
    return f'<p class="ending {kind}"><strong>{_said(said)}</strong> {_said(facts["message"])}</p>'


def _said(text: str) -> str:
    """Return a text as HTML, with commands in backticks marked as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _failures(shards: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    failed = [shard for shard in shards if shard["state"] == "failed"]
    items = "".join(
        f"<li>{escape(shard['stage'])} {escape(shard['shard'])}: {escape(shard['error'].partition(chr(10))[0])}</li>"
        for shard in failed[:SHOWN_SHARDS]
    )
    how = "`facetflow retry --failed` reruns them and those that waited for them."
    return _section("Failed shards", f'<ul class="lines">{items}</ul><p>{_said(how)}</p>' if failed else "")


def _timeline(facts: Mapping[str, Any]) -> str:
    attempts = [(shard, attempt) for shard in facts["shards"] for attempt in shard["attempts"]]
    if not attempts:
        return ""
    start = min(attempt["begun"] for _, attempt in attempts)
    written = datetime.fromisoformat(facts["written"]).timestamp()
    ends = [written if attempt["outcome"] == "running" else attempt["heard"] for _, attempt in attempts]
    end = max(ends)
    bars = [
        Bar(
            attempt["worker"],
            shard["stage"],
            attempt["begun"] - start,
            max(ended, attempt["begun"]) - start,
            attempt["outcome"],
            f"{shard['stage']} {shard['shard']}, {shard['rows']:,} rows, {attempt['outcome']}, "
            f"{max(ended - attempt['begun'], 0.0):.1f} s from {clock(attempt['begun'] - start)}",
        )
        for (shard, attempt), ended in zip(attempts, ends, strict=True)
    ]
    stages = [stage["stage"] for stage in facts["stages"]]
    note = (
        "Hours, minutes and seconds since the first shard was begun. A bar runs from the worker's first report to its "
        "receipt and includes the loading of models."
    )
    return draw_timeline(bars, stages, max(end - start, 0.001)) + f'<p class="note">{note}</p>'


def _stages(facts: Mapping[str, Any]) -> str:
    rows = []
    for stage in facts["stages"]:
        shards = [shard for shard in facts["shards"] if shard["stage"] == stage["stage"]]
        timed = [shard for shard in shards if shard["seconds"] is not None]
        seconds = sum(shard["seconds"] for shard in timed)
        made = sum(shard["rows"] for shard in timed)
        counts = [sum(shard["state"] == state for shard in shards) for state in ("committed", "failed", "left out")]
        left = len(shards) - sum(counts)
        rows.append(
            (
                stage["stage"],
                f"{stage['shards']:,}",
                f"{stage['planned']:,}",
                *(f"{count:,}" if count else "–" for count in (*counts, left)),
                f"{made:,}" if timed else "–",
                f"{sum(shard['rejects'] or 0 for shard in timed):,}" if timed else "–",
                f"{seconds:,.1f}" if timed else "–",
                _rate(made, seconds),
            )
        )
    columns = (
        ("stage", ""),
        ("shards", "all shards of the stage, made before or now"),
        ("to make", "those that this build was to make"),
        ("committed", "of those to make"),
        ("failed", ""),
        ("left out", "because a shard that they need failed"),
        ("not made", "by the time the build ended, or this was written"),
        ("rows", "that went into the shards made"),
        ("rejected", "by the shards made"),
        ("worker s", "total seconds of all workers, including reading, loading of models and writing"),
        ("rows/s", "per worker"),
    )
    note = "Why shards had to be made:"
    why = "".join(f"<li>{escape(stage['why'])}</li>" for stage in facts["stages"] if stage["planned"])
    reasons = f'<p>{note}</p><ul class="lines">{why}</ul>' if why else ""
    return (_table(columns, rows) if rows else "") + reasons


def _rate(rows: int, seconds: float) -> str:
    if not rows or seconds <= 0:
        return "–"
    rate = rows / seconds
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def _quality(quality: Sequence[Mapping[str, Any]], skipped: Mapping[str, int]) -> str:
    """Return a table of what was rejected, and what was left out of the corpora by design.

    Args:
        quality: one entry per stage.
        skipped: reason → rows of the corpora.
    """
    rows = []
    for entry in quality:
        share = "–" if entry["share"] is None else f"{entry['share']:.2%}"
        over = entry["share"] is not None and entry["share"] > entry["limit"]
        codes = ", ".join(_counted(code, count) for code, count in entry["codes"].items()) or "–"
        codes += "; over the limit" if over else ""
        limit = f"{entry['limit']:.1%}"
        rows.append((entry["stage"], f"{entry['rows']:,}", f"{entry['rejected']:,}", share, limit, codes))
    columns = (
        ("stage", ""),
        ("rows", "rows of the table plus rejected ones, as the limit counts them; for ingest, rows of the corpora"),
        ("rejected", ""),
        ("share", ""),
        ("limit", "limits.rejected_rows of the project file"),
        ("codes", ""),
    )
    note = "For the whole store, not just this build; `facetflow rejects` lists the rows themselves."
    note += f" Of the rows of the corpora, by design and not wrong, {left_out(skipped)}." if skipped else ""
    return _table(columns, rows, words=(5,)) + f'<p class="note">{_said(note)}</p>' if rows else ""


def _counted(code: str, count: int) -> str:
    return f"{code} {count:,}{' (left out, not wrong)' if code in LEFT_OUT else ''}"


def _since(facts: Mapping[str, Any]) -> str:
    return f"Since release {facts['before']}" if facts["before"] is not None else "Contents"


def _changes(facts: Mapping[str, Any]) -> str:
    if not facts["tables"]:
        return ""
    first = facts["before"] is None
    rows = [
        (
            table["table"],
            *(() if first else (f"{table['before']:,}",)),
            f"{table['now']:,}",
            *(() if first else (_signed(table["now"] - table["before"]),)),
        )
        for table in facts["tables"]
    ]
    columns = (("table", ""), *(() if first else ((f"release {facts['before']}", "rows"),)), ("rows now", "committed"))
    columns += () if first else (("difference", ""),)
    recipes = "".join(f"<li>{escape(line)}</li>" for line in facts["recipes"])
    said = (
        ""
        if first
        else f'<p>Changed recipes:</p><ul class="lines">{recipes}</ul>'
        if recipes
        else "<p>No recipe changed.</p>"
    )
    published = facts["release"]
    more = (
        f"<p><code>facetflow diff {facts['before']} {published}</code> shows changed rows and moved metrics.</p>"
        if not first and published not in (None, facts["before"])
        else ""
    )
    return _table(columns, rows) + said + more


def _signed(value: int) -> str:
    return "0" if value == 0 else f"{value:+,}".replace("-", "−")


def _wall(wall: Mapping[str, float]) -> str:
    total = wall.get("total", 0.0)
    if total <= 0:
        return ""
    rows: list[tuple[str, str, str]] = [
        (part, f"{seconds:,.1f}", _Html(f'<span class="amount" style="width:{8 * seconds / total:.2f}rem"></span>'))
        for part, seconds in wall.items()
        if part != "total"
    ]
    rows.append(("total", f"{total:,.1f}", ""))
    return _table((("part", ""), ("seconds", "wall time"), ("", "")), rows, words=(2,))


def _shards(shards: Sequence[Mapping[str, Any]]) -> str:
    if not shards:
        return ""
    ordered = sorted(shards, key=lambda shard: (_ORDER.get(shard["state"], 2), -(shard["seconds"] or 0.0)))
    rows = [
        (
            f"{shard['stage']} {shard['shard']}",
            f"{shard['rows']:,}",
            "–" if shard["rejects"] is None else f"{shard['rejects']:,}",
            "–" if shard["seconds"] is None else f"{shard['seconds']:,.1f}",
            shard["attempts"][-1]["worker"] or "unknown" if shard["attempts"] else "–",
            str(len(shard["attempts"])),
            _state(shard["state"]),
            shard["error"].partition("\n")[0] or shard["why"],
        )
        for shard in ordered[:SHOWN_SHARDS]
    ]
    columns = (
        ("shard", ""),
        ("rows", "that go into it"),
        ("rejected", ""),
        ("seconds", "of its worker"),
        ("worker", "the last one that began it"),
        ("attempts", "number of workers that began it, one after the other"),
        ("state", ""),
        ("why", "why it had to be made, or why it was not"),
    )
    rest = len(shards) - len(rows)
    note = f"<p>{rest:,} more are in build.json.</p>" if rest else ""
    title = f"{len(shards):,} shard{'' if len(shards) == 1 else 's'}, failed ones first, then the longest"
    return folded(title, _table(columns, rows, words=(7,)) + note)


def _state(state: str) -> str:
    """Return a state in words."""
    return {"waiting": "not made", "submitted": "not made", "made": "made, not committed"}.get(state, state)


class _Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def _table(columns: Iterable[tuple[str, str]], rows: Iterable[Sequence[str]], words: Sequence[int] = ()) -> str:
    """Return a table.

    Args:
        columns: name and explanation of each; the explanation may be empty.
        rows: the texts of each row.
        words: positions of columns that hold words, not numbers.
    """
    kind: Callable[[int], str] = lambda place: ' class="words"' if place in words else ""  # noqa: E731
    head = "".join(
        f"<th{kind(place)}{f' title={chr(34)}{escape(about)}{chr(34)}' if about else ''}>{escape(name)}</th>"
        for place, (name, about) in enumerate(columns)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{kind(place)}>{cell if isinstance(cell, _Html) else escape(cell)}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
