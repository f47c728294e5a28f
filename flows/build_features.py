"""The flow that brings the store up to date: ingest, plan, make what is missing, publish.

    check ──> ingest ──> plan ──┬── nothing to do ─────────────────────┐
                                └── cluster ── shards ── commits ──────┴──> publish ──> event

Run again after anything (new rows, a failure, a kill, a changed setting, a lost file), it makes what is missing and
nothing else.
"""

import dataclasses
import secrets
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import dask
from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from features.errors import FacetflowError, RunError, StoreError
from features.interruption import cause
from features.store import folder
from features.store.plan import Plan, ShardKey, ShardWork, plan
from features.store.releases import Release
from features.store.runs import RunRecord, failed_shards, now
from features.store.store import Store
from features.store.verifying import Damage
from flows import cluster, project
from flows.announcing import intend
from flows.build_lock import only_writer, this_process
from flows.events import announce_pending, release_record
from flows.ingest_corpora import STAGE, ingest_corpora, refusal, told, warnings
from flows.ingest_repair import repair_ingested
from flows.progress import BuildProgress
from flows.run_shards import Outcome, ShardRunner
from flows.stages import Chain, chain
from flows.terminal import say, warn
from flows.wall_time import WallTime
from flows.wall_time import told as told_times
from flows.worker_start import get_ready


@flow(name="build_features", persist_result=False)
def build_features(
    project_file: Path = Path("facetflow.toml"),
    dask_address: str | None = None,
    *,
    only_failed: bool = False,
    deep: bool = False,
    adopt: bool = False,
) -> State[RunRecord]:
    """Bring the feature store of a project up to date and publish a release.

    Args:
        project_file: the project file.
        dask_address: scheduler of an existing Dask cluster, instead of the one in the project file.
        only_failed: run what failed before and what waited for it; read no corpora.
        deep: look for damage in every byte of the store; otherwise in files whose size or time says that they changed.
        adopt: take the store over if it belongs to another project.

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
    store = Store.open(settings.store, create=not only_failed, project=settings.name)
    if not adopt:
        store.check_owner(settings.name)
    if only_failed and not store.committed("sentences"):
        raise RunError(f"The store {str(store.path)!r} is empty, so no shard has failed: run `facetflow build`.")
    with only_writer(store), BuildProgress() as progress:
        _own(store, settings.name)
        record = _recorded(Build(settings, store, progress), only_failed=only_failed, deep=deep)
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
        self.wall = WallTime()

    def run(self, record: RunRecord, *, only_failed: bool, deep: bool) -> RunRecord:
        """Do the build and return its record."""
        started = time.monotonic()
        with self.wall.part("check"):
            damaged = self._repair(deep=deep)
        ingest_refused = None
        if not only_failed:
            with self.wall.part("ingest"):
                ingest_refused = self._ingest()
        with self.wall.part("plan"):
            stages = chain(self.settings, self.store)
            failed = failed_shards(self.store.runs())
            planned = plan(self.store, stages.stages, failed=failed, damaged=damaged)
            _warn_of_others(damaged, stages)
            work: Sequence[ShardWork] = planned.todo
            if only_failed:
                wanted = {(shard.stage, shard.shard) for shard in failed} | {damage.key for damage in damaged}
                work = _with_neighbours(planned, wanted)
        outcome, workers = Outcome(), 0
        if work:
            outcome, workers = self._make(stages, work)
        with self.wall.part("publish"):
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
            wall=self.wall.parts(),
            spans={stage: round(seconds, 3) for stage, seconds in outcome.wall.items()},
            outside=round(1 - used / (workers * total), 3) if workers else None,
            failed=tuple(outcome.failed),
            release=release.number if release else None,
            message=message,
        )
        self._tell(record)
        return record

    def _repair(self, *, deep: bool) -> list[Damage]:
        """Find damaged files, make those of ingest again, and return the others, which the plan makes again."""
        damaged = self.store.damaged(deep=deep)
        for damage in damaged:
            warn(f"damaged: {damage}")
        repaired = repair_ingested(self.settings, self.store, damaged, self.run_id)
        if repaired:
            say(f"Made {len(repaired)} damaged shards of the corpora again, with the very same rows.")
        return [damage for damage in damaged if damage not in repaired]

    def _ingest(self) -> str | None:
        """Commit what is new; return why a release is out of the question, if it is."""
        report = ingest_corpora(self.settings, self.store, self.run_id)
        say(told(report))
        for sentence in warnings(report):
            warn(sentence)
        return refusal(report, self.settings.limits.rejected_rows)

    def _make(self, stages: Chain, work: Sequence[ShardWork]) -> tuple[Outcome, int]:
        """Start or join the cluster and work through the plan; return the outcome and the number of workers."""
        todo = dict.fromkeys(item.stage for item in work)
        wanted = cluster.no_more_than(self.settings.cluster, len(work))
        available = cluster.capacity(wanted)
        on_gpu = [stage for stage in todo if stages.device(stage).startswith("cuda")]
        cluster.check_gpu(wanted, available, on_gpu)
        logs = self.settings.builds / self.run_id
        with folder.clear_errors(f"Making the folder {str(logs)!r} for logs"):
            logs.mkdir(parents=True, exist_ok=True)
        get_ready(self.settings)  # done long ago by a command, but not where Prefect's worker runs this flow
        runner = cluster.task_runner(wanted, logs)
        with self.wall.part("cluster"), dask.config.set(cluster.DASK), cluster.logged(logs), runner:
            _ = runner.client  # starts or joins the cluster
            with self.wall.part("stages"):
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
            warn(f"failed: {shard.stage} {shard.shard}: {shard.error.partition(chr(10))[0]}")
        outside = "" if record.outside is None else f"; {record.outside:.0%} of the workers' time outside of stages"
        say(f"Wall time: {told_times(record.wall)}{outside}.")
        warn(record.message)  # the result, also with --quiet; standard output is for that of --json


def _own(store: Store, name: str) -> None:
    """Make the store that of the project, and say so unless it was that before."""
    before = store.project
    if before != name:
        store.adopt(name)
        whose = "did not say whose it is" if before is None else f"belonged to the project {before!r}"
        warn(f"The store {str(store.path)!r} {whose}; from now on it is that of {name!r}.")


def _warn_of_others(damaged: Sequence[Damage], stages: Chain) -> None:
    """Name damaged files that neither ingest nor a stage of this project makes again."""
    made = {STAGE, *stages.settings}
    for damage in damaged:
        if damage.stage not in made:
            warn(f"not made again, because the project file has no stage {damage.stage!r} now: {damage}")


def _recorded(build: Build, *, only_failed: bool, deep: bool) -> RunRecord:
    """Run a build; whatever becomes of it, its record says so."""
    record = RunRecord(build.run_id, "build_features", now(), process=this_process())
    build.store.record_run(record)
    try:
        record = build.run(record, only_failed=only_failed, deep=deep)
    except BaseException as error:
        state, message = _ending(error)
        with suppress(StoreError):  # on a full disk the first error is the one to tell
            build.store.record_run(dataclasses.replace(record, state=state, finished=now(), message=message))
        raise
    build.store.record_run(record)
    return record


def _ending(error: BaseException) -> tuple[Literal["failed", "interrupted"], str]:
    """Return the state of a run that ended with an error, and what to say about it."""
    if isinstance(error, FacetflowError):
        return "failed", str(error)
    if isinstance(error, Exception):
        return "failed", f"{type(error).__name__}: {error}"
    return (
        "interrupted",
        f"Interrupted by {cause(error)}; what was committed is kept, and the next build goes on from it.",
    )


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
