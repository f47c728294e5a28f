"""What a build leaves for people to read: `build.json` next to the logs, and `build.html`, which is made from it.

    runs/builds/<run id>/build.json     written at most every half minute, and at the end, however the build ends
                         build.html     the same as a page; it shows nothing that is not in the file

A killed build leaves what it wrote last. The next build of the store completes it: the tables' logs say which of its
shards were committed, so no shard is shown as made that does not exist.
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from features.core.durable import write_whole
from features.core.errors import FacetflowError, StoreError
from features.core.file_errors import explain
from features.core.types import LEFT_OUT, Shard
from features.ingest.report import IngestReport
from features.schemas import INGEST
from features.stages.registry import SOURCES
from features.store.fingerprints import recipe_changes
from features.store.locations import storage_at
from features.store.plan import Plan, ShardWork, summary
from features.store.releases import Release
from features.store.runs import RunRecord, now, read_runs
from features.store.store import Store
from features.store.unproven import unproven_pairs
from flows.pages.build_page import render_build
from flows.project import Project
from flows.stages import Chain
from flows.terminal import warn
from flows.watching.shard_history import BuildHistory, ShardHistory

FACTS_FILE = "build.json"
PAGE_FILE = "build.html"
WRITE_EVERY = 30.0
"""Seconds between two writings while a build runs."""
_FORMAT = 1


@dataclass(slots=True)
class BuildFacts:
    """What is known of a build so far."""

    project: str  # its name
    store: str  # its folder, or its address
    run_id: str  # id of the build
    process: str  # host and process id
    started: str  # UTC, ISO 8601
    state: str = "running"  # that of its record; `killed` if the next build finds so
    written: str = ""  # when this was written; UTC, ISO 8601
    finished: str | None = None  # when the build ended; None while it runs, or if it was killed
    message: str = ""  # how it ended
    release: int | None = None  # number of the release that it published, or found to be up to date
    before: int | None = None  # number of the newest release when it began; None if there was none
    ingest: dict[str, Any] | None = None  # what was read from the corpora; None if they were not read
    wall: dict[str, float] = field(default_factory=dict)  # part → seconds of wall time
    # what there was to do for each: `stage`, `shards` (all of it), `planned` (to make) and `why`
    stages: list[dict[str, Any]] = field(default_factory=list)
    shards: list[dict[str, Any]] = field(default_factory=list)  # what became of each shard, as `ShardHistory`
    quality: list[dict[str, Any]] = field(default_factory=list)  # rejected rows by stage and code
    unproven: int | None = 0  # pairs whose best alignment is not proven; None if a file is damaged
    tables: list[dict[str, Any]] = field(default_factory=list)  # rows by table, before and now
    recipes: list[str] = field(default_factory=list)  # how recipes differ from those of release `before`, a line each
    format: int = _FORMAT


class FactKeeper:
    """Keeps the facts of the build that begins with a record, in memory and in its folder."""

    def __init__(self, settings: Project, store: Store, record: RunRecord, history: BuildHistory) -> None:
        self._settings = settings
        self._store = store
        self.history = history
        self._before: Release | None = None
        with suppress(IndexError, StoreError):  # none yet; an unreadable one stops the build where it matters
            self._before = store.releases()[-1]
        self._expected: Mapping[tuple[str, Shard], str] | None = None
        self._stages: Chain | None = None
        self._written = 0.0
        self._writable = True
        self.page = settings.builds / record.run_id / PAGE_FILE
        self.facts = BuildFacts(
            project=settings.name,
            store=store.location,
            run_id=record.run_id,
            process=record.process,
            started=record.started,
            before=self._before.number if self._before else None,
        )

    def read(self, report: IngestReport) -> None:
        """Record what was read from the corpora."""
        counts = ("rows", "rejected", "skipped", "new_sentences", "new_pairs", "new_labels")
        self.facts.ingest = {name: getattr(report, name) for name in counts}

    def drew(self, pairs: int) -> None:
        """Record that neighbours were drawn."""
        if self.facts.ingest is not None:
            self.facts.ingest["new_pairs"] += pairs

    def planned(self, plan: Plan, stages: Chain, work: Sequence[ShardWork]) -> None:
        """Record the whole plan, and the work that this build is to do of it."""
        self._expected, self._stages = plan.expected, stages
        sources = {name: self._store.committed(name) for name in SOURCES}
        rows = {stage.name: sources[stage.over] for stage in stages.stages}
        reasons = {stage: [item.reason for item in work if item.stage == stage] for stage in plan.stages}
        self.facts.stages = [
            {
                "stage": stage,
                "shards": (shards := plan.shards(stage)),
                "planned": len(reasons[stage]),
                "why": summary(stage, shards, reasons[stage]),
            }
            for stage in plan.stages
        ]
        self.history.plan(
            ShardHistory(item.stage, item.shard, rows[item.stage][item.shard].rows, str(item.reason), item.fingerprint)
            for item in work
        )

    def look(self, wall: Mapping[str, float]) -> None:
        """Update the facts in the folder, if that is due."""
        if time.monotonic() - self._written >= WRITE_EVERY:
            self.facts.wall = dict(wall)
            self._write()

    def end(self, record: RunRecord, wall: Mapping[str, float]) -> bool:
        """Write the facts of a build that ended, in whatever way, and return whether they could be written."""
        facts = self.facts
        facts.state, facts.message, facts.finished = record.state, record.message, record.finished
        facts.release, facts.wall = record.release, dict(wall)
        with suppress(FacetflowError):  # the store cannot be read: leave out its rows, report the rest
            quality, unproven, (tables, recipes) = self.quality(), unproven_pairs(self._store), self._changes()
            facts.quality, facts.unproven, facts.tables, facts.recipes = quality, unproven, tables, recipes
        self._write()
        return self._writable

    def quality(self) -> list[dict[str, Any]]:
        """Return how much was rejected, one entry per stage with its codes; only what counts for a release."""
        if self._stages is None or self._expected is None:
            return []
        limit, expected = self._settings.limits.rejected_rows, self._expected
        codes = _codes(self._store, expected)
        entries = []
        if self.facts.ingest is not None:
            entries.append(_quality_entry(INGEST, self.facts.ingest["rows"], codes.get(INGEST, {}), limit))
        for stage in self._stages.stages:
            made, counts = self._store.committed(stage.name), codes.get(stage.name, {})
            rows = sum(shard.rows for at, shard in made.items() if expected.get((stage.name, at)) == shard.fingerprint)
            entries.append(_quality_entry(stage.name, rows + sum(counts.values()), counts, limit))
        return entries

    def _changes(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return rows by table and the recipes that changed, since the newest release when the build began."""
        if self._stages is None:
            return [], []
        made = [*SOURCES, *(stage.name for stage in self._stages.stages)]
        before = self._before.rows if self._before else {}
        rows = {name: sum(shard.rows for shard in self._store.committed(name).values()) for name in made}
        # As in a release, a table of ingest without rows is left out: most projects have no labels.
        tables = [
            {"table": name, "before": before.get(name, 0), "now": rows.get(name, 0)}
            for name in dict.fromkeys([*made, *before])
            if rows.get(name) or name in before or name not in SOURCES
        ]
        if self._before is None:
            return tables, []
        recipes = {stage.name: stage.recipe.as_dict() for stage in self._stages.stages}
        # The recipes of ingest tables have no parameters: what ingest reads is in the rows.
        old = {name: recipe for name, recipe in self._before.recipes.items() if name not in SOURCES}
        return tables, [str(changed) for changed in recipe_changes(old, recipes)]

    def _write(self) -> None:
        self._written = time.monotonic()
        self.facts.written = now()
        self.facts.shards = [asdict(shard) for shard in self.history.values()]
        if self._writable:  # warned once
            self._writable = write_facts(self._settings, self.facts)


def write_facts(settings: Project, facts: BuildFacts) -> bool:
    """Write the facts and page of a build, or warn, and return whether they were written."""
    build, content = settings.builds / facts.run_id, asdict(facts)
    try:
        build.mkdir(parents=True, exist_ok=True)
        write_whole(build, FACTS_FILE, (json.dumps(content, ensure_ascii=False) + "\n").encode())
        write_whole(build, PAGE_FILE, render_build(content).encode())
    except OSError as error:
        warn(f"The page of the build could not be written to {str(build)!r}: {explain(error)}.")
        return False
    return True


def read_facts(settings: Project, run_id: str) -> BuildFacts | None:
    """Return the facts of a build; None if there are none or they cannot be read."""
    try:
        content = json.loads((settings.builds / run_id / FACTS_FILE).read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            return None
        return BuildFacts(**content)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def newest_page(settings: Project) -> Path | None:
    """Return the page of the newest build that has one."""
    pages = {page.parent.name: page for page in settings.builds.glob(f"[0-9]*/{PAGE_FILE}")}
    of_records = (record.run_id for record in read_runs(storage_at(settings.store)))
    # Without a record by name: run ids begin with their time.
    newest = next((run for run in of_records if run in pages), max(pages, default=None))
    return None if newest is None else pages[newest]


def end_killed(settings: Project, store: Store) -> None:
    """Finish the pages of killed builds of this store; only for the holder of the store's lock."""
    records = store.runs()
    for record in records:
        # The newest may have been killed between its record and its page.
        unfinished = record.state == "running" or record is records[0]
        facts = read_facts(settings, record.run_id) if unfinished else None
        if facts is None or facts.state != "running":
            continue
        committed = {
            (stage["stage"], shard)
            for stage in facts.stages
            for (shard, _), made in store.provenance(stage["stage"]).items()
            if made.run_id == facts.run_id
        }
        for shard in facts.shards:
            _settle(shard, committed=(shard["stage"], shard["shard"]) in committed)
        killed = (
            f"Its process {record.process} disappeared: it was killed, or its machine went down. What it committed "
            "is kept, and the next build continued from there."
        )
        facts.state, facts.message = ("killed", killed) if record.state == "running" else (record.state, record.message)
        facts.finished, facts.release, facts.written = record.finished, record.release, now()
        write_facts(settings, facts)


def _settle(shard: dict[str, Any], *, committed: bool) -> None:
    for attempt in shard["attempts"]:
        if attempt["outcome"] == "running":
            attempt["outcome"] = "made" if committed else "lost"
    if committed:
        shard["state"] = "committed"
    elif shard["state"] in {"submitted", "running", "made"}:
        shard["state"] = "waiting"


def _codes(store: Store, expected: Mapping[tuple[str, Shard], str]) -> dict[str, dict[str, int]]:
    """Return stage → code → rejected rows: those of ingest, and of shards with the expected fingerprint."""
    valid = [
        (stage, shard)
        for (stage, shard), rejected in store.rejected().items()
        if stage == INGEST or expected.get((stage, shard)) == rejected.fingerprint
    ]
    by_stage: dict[str, dict[str, int]] = {}
    for (stage, code), rows in store.reject_codes(valid).items():
        by_stage.setdefault(stage, {})[code] = rows
    return by_stage


def _quality_entry(stage: str, rows: int, codes: Mapping[str, int], limit: float) -> dict[str, Any]:
    rejected = sum(count for code, count in codes.items() if code not in LEFT_OUT)
    return {
        "stage": stage,
        "rows": rows,
        "rejected": rejected,
        "share": rejected / rows if rows else None,
        "limit": limit,
        "codes": dict(codes),
    }
