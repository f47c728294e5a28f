"""The flow that brings the store up to date: ingest, plan, make what is missing, publish.

    ingest ──> plan ──┬── nothing to do ─────────────────────┐
                      └── cluster ── shards ── commits ──────┴──> publish ──> event

Run again after anything (new rows, a failure, a kill, a changed setting), it makes what is missing and nothing else.
"""

import dataclasses
import secrets
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dask
from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from features.errors import FacetflowError, StoreError
from features.store.plan import Plan, ShardKey, ShardWork, plan
from features.store.releases import Release
from features.store.runs import RunRecord, failed_shards, now
from features.store.store import Store
from flows import cluster, project
from flows.announcing import intend
from flows.build_lock import only_writer
from flows.events import announce_pending, release_record
from flows.ingest_corpora import ingest_corpora, told
from flows.progress import BuildProgress
from flows.run_shards import Outcome, ShardRunner
from flows.stages import Chain, chain


@flow(name="build_features", persist_result=False)
def build_features(
    project_file: Path = Path("facetflow.toml"), dask_address: str | None = None, *, only_failed: bool = False
) -> State[RunRecord]:
    """Bring the feature store of a project up to date and publish a release.

    Args:
        project_file: the project file.
        dask_address: scheduler of an existing Dask cluster, instead of the one in the project file.
        only_failed: run what failed before and what waited for it; read no corpora.

    Returns:
        Completed with the record of the run; Failed with it when some shards failed or nothing could be published.

    Raises:
        FacetflowError: the run could not be done.
    """
    settings = project.load(project_file)
    if dask_address is not None:
        settings = settings.model_copy(
            update={"cluster": settings.cluster.model_copy(update={"address": dask_address})}
        )
    store = Store.open(settings.store, create=True)
    with only_writer(store), BuildProgress() as progress:
        record = _recorded(Build(settings, store, progress), only_failed=only_failed)
    if record.state == "done":
        return Completed(message=record.message, data=record)
    return Failed(message=record.message, data=record)


class Build:
    """One build of one store.

    Args:
        settings: the project file.
        store: the store, locked for this build.
        progress: what the user sees.
    """

    def __init__(self, settings: project.Project, store: Store, progress: BuildProgress) -> None:
        self.settings = settings
        self.store = store
        self.progress = progress
        self.run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
        self.wall: dict[str, float] = {}

    def run(self, record: RunRecord, *, only_failed: bool) -> RunRecord:
        """Do the build and return its record."""
        started = time.monotonic()
        ingest_refused = None
        if not only_failed:
            with self._timed("ingest"):
                ingest_refused = self._ingest()
        with self._timed("plan"):
            stages = chain(self.settings, self.store)
            failed = failed_shards(self.store.runs())
            planned = plan(self.store, stages.stages, failed=failed)
            work: Sequence[ShardWork] = planned.todo
            if only_failed:
                work = _with_neighbours(planned, {(shard.stage, shard.shard) for shard in failed})
        outcome, workers = Outcome(), 0
        if work:
            outcome, workers = self._make(stages, work)
        with self._timed("publish"):
            release, message = self._publish(stages, outcome, ingest_refused)
            message = " ".join(filter(None, (message, announce_pending(self.settings, self.store))))
        total = time.monotonic() - started
        used = sum(outcome.seconds.values())
        record = dataclasses.replace(
            record,
            finished=now(),
            state="done" if release else "partly",
            made=dict(outcome.made),
            rejected=dict(outcome.rejected),
            seconds={stage: round(seconds, 3) for stage, seconds in outcome.seconds.items()},
            wall={part: round(seconds, 3) for part, seconds in (self.wall | outcome.wall | {"total": total}).items()},
            outside=round(1 - used / (workers * total), 3) if workers else None,
            failed=tuple(outcome.failed),
            release=release.number if release else None,
            message=message,
        )
        self._tell(record)
        return record

    def _ingest(self) -> str | None:
        """Commit what is new; return why a release is out of the question, if it is."""
        report = ingest_corpora(self.settings, self.store, self.run_id)
        self.progress.say(told(report))
        allowed = self.settings.limits.rejected_rows
        if report.rows and report.rejected / report.rows > allowed:
            return (
                f"{report.rejected} of {report.rows} rows of the corpora were rejected, more than the {allowed:.1%} "
                "allowed; look at the rejects, or raise limits.rejected_rows"
            )
        return None

    def _make(self, stages: Chain, work: Sequence[ShardWork]) -> tuple[Outcome, int]:
        """Start or join the cluster and work through the plan; return the outcome and the number of workers."""
        todo = dict.fromkeys(item.stage for item in work)
        available = cluster.capacity(self.settings.cluster)
        on_gpu = [stage for stage in todo if stages.device(stage).startswith("cuda")]
        cluster.check_gpu(self.settings.cluster, available, on_gpu)
        logs = self.settings.builds / self.run_id
        runner = cluster.task_runner(self.settings.cluster, logs)
        with self._timed("stages"), dask.config.set(cluster.DASK), cluster.logged(logs), runner:
            with self._timed("cluster"):
                _ = runner.client  # starts or joins the cluster
            outcome = ShardRunner(self.store, stages, runner, available, self.progress, self.run_id).run(work)
        return outcome, available.workers

    def _publish(self, stages: Chain, outcome: Outcome, refused: str | None) -> tuple[Release | None, str]:
        """Publish a release if all limits hold; return it, and one line that says what happened."""
        before = [release.number for release in self.store.releases()]
        limits = self.settings.limits
        if refused is not None:
            return None, f"Nothing was published: {refused}."
        # Before the release is there: if this process dies right after it, the next build knows what to announce.
        intend(release_record(self.store, max(before, default=0) + 1))
        try:
            release = self.store.publish(
                self.run_id,
                stages=stages.stages,
                failed_shards=limits.failed_shards,
                rejected_rows=limits.rejected_rows,
            )
        except StoreError as error:
            return None, f"Nothing was published: {error}"
        if release.number in before:
            return release, f"Nothing changed: release {release.number} is up to date."
        return release, f"Published release {release.number}: {_counts(release.rows)}."

    def _tell(self, record: RunRecord) -> None:
        for shard in record.failed:
            self.progress.say(f"failed: {shard.stage} {shard.shard}: {shard.error.partition(chr(10))[0]}")
        times = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in record.wall.items())
        outside = "" if record.outside is None else f"; {record.outside:.0%} of the workers' time outside of stages"
        self.progress.say(f"Wall time: {times}{outside}.")
        self.progress.say(record.message)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.wall[part] = time.monotonic() - started


def _recorded(build: Build, *, only_failed: bool) -> RunRecord:
    """Run a build; whatever becomes of it, its record says so."""
    record = RunRecord(build.run_id, "build_features", now())
    build.store.record_run(record)
    try:
        record = build.run(record, only_failed=only_failed)
    except BaseException as error:
        message = str(error) if isinstance(error, FacetflowError) else f"{type(error).__name__}: {error}"
        build.store.record_run(dataclasses.replace(record, state="failed", finished=now(), message=message))
        raise
    build.store.record_run(record)
    return record


def _with_neighbours(planned: Plan, failed: Collection[ShardKey]) -> list[ShardWork]:
    """Return the work on failed shards, on what they wait for, and on what waits for them."""
    wanted = set(failed)
    for item in reversed(planned.todo):
        if (item.stage, item.shard) in wanted:
            wanted.update(item.waits_for)
    for item in planned.todo:
        if any(need in wanted for need in item.waits_for):
            wanted.add((item.stage, item.shard))
    return [item for item in planned.todo if (item.stage, item.shard) in wanted]


def _counts(rows: Any) -> str:
    return ", ".join(f"{count:,} {table}" for table, count in rows.items())
