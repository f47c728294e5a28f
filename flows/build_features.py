"""The flow that brings the store up to date: ingest, plan, make what is missing, publish.

    check ──> ingest ──> plan ──┬── nothing to do ─────────────────────────────────────┐
                                └── cluster ── shards ── commits ──┬───────────────────┴──> publish
                                                      ▲            │ new embeddings
                                                      └── plan ────┴── neighbours

Run again after anything (new rows, a failure, a kill, a changed setting, a lost file), it makes only what is missing.
"""

import dataclasses
import secrets
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import dask
from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from features.core.errors import StoreError, described
from features.core.faults import CannotRebuild
from features.core.file_errors import clear_errors
from features.core.interruption import cause
from features.core.leftovers import scratch
from features.core.types import Shard
from features.core.wording import counted
from features.ingest.neighbours import counts_of
from features.schemas import INGEST
from features.stages.embeddings import EMBEDDING_STAGE
from features.store.damage import Damage
from features.store.plan import Plan, ShardWork, plan
from features.store.reader import StoreAhead
from features.store.releases import Release
from features.store.runs import RunRecord, failed_shards, now
from features.store.scope import ShardKey
from features.store.store import Store
from features.store.unproven import tell_unproven, unproven_pairs
from flows import project
from flows.building.ingest_corpora import (
    add_neighbours,
    in_words,
    ingest_corpora,
    label_counts,
    last_ingested,
    refusal,
    warnings,
)
from flows.building.ingest_repair import of_ingest, repair_ingested
from flows.building.run_shards import ShardRunner
from flows.building.store_access import only_writer, open_store, this_process
from flows.clusters import cluster
from flows.clusters.worker_start import get_ready
from flows.pages.build_facts import FactKeeper, end_killed
from flows.pages.run_artifacts import BuildArtifacts
from flows.retention import clean_up, delete_by_age
from flows.server.outbox import Outbox, emit_release, telling_the_server
from flows.server.passwords import without_passwords
from flows.stages import Chain, chain, check, pointless_trainings
from flows.terminal import conclude, say, warn
from flows.wall_time import WallTime
from flows.wall_time import summary as summary_of_times
from flows.watching.progress import BuildProgress
from training.runs import last_release


@flow(name="build_features", persist_result=False)
def build_features(
    project_file: Path = Path("facetflow.toml"),
    dask_address: str | None = None,
    *,
    only_failed: bool = False,
    deep: bool = False,
    adopt: bool = False,
) -> "State[RunRecord]":  # quoted: workers unpickle the flow, and before pydantic 2.14.3 not this class
    """Bring the feature store of a project up to date and publish a release.

    Args:
        project_file: the project file.
        dask_address: scheduler of an existing Dask cluster, instead of the one in the project file.
        only_failed: rerun what failed before and what waited for it; read no corpora.
        deep: check every byte of the store for damage; otherwise only files whose size or time has changed.
        adopt: take the store over if it belongs to another project.

    Returns:
        Completed with the record of the run; Failed with it when some shards failed or nothing could be published.

    Raises:
        FacetflowError: the run could not be done.
    """
    with telling_the_server() as outbox:
        record = build(outbox, project_file, dask_address, only_failed=only_failed, deep=deep, adopt=adopt)
    state = Completed if record.state == "done" else Failed
    return state(message=record.message, data=record)


def build(
    outbox: Outbox,
    project_file: Path,
    dask_address: str | None = None,
    *,
    only_failed: bool = False,
    deep: bool = False,
    adopt: bool = False,
) -> RunRecord:
    """Build under the store's lock and return the record; the arguments are those of the flow."""
    settings = project.load(project_file)
    if dask_address is not None:
        settings = settings.model_copy(
            update={"cluster": settings.cluster.model_copy(update={"address": dask_address})}
        )
    store = open_store(settings, only_failed=only_failed, adopt=adopt)
    with only_writer(store), BuildProgress() as progress:
        clean_up(settings, store)
        end_killed(settings, store)
        record = Build(settings, store, progress, outbox).run(only_failed=only_failed, deep=deep)
        delete_by_age(settings, store)
        return record


class Build:
    """One build of a store that is locked for it."""

    def __init__(self, settings: project.Project, store: Store, progress: BuildProgress, outbox: Outbox) -> None:
        self.settings = settings
        self.store = store
        self.progress = progress
        self.run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
        self.wall = WallTime()
        number = max((record.number for record in store.runs()), default=0) + 1
        self.spans: dict[str, float] = {}
        self.unembedded = 0
        self.begun = RunRecord(self.run_id, "build_features", now(), process=this_process(), number=number)
        self.facts = FactKeeper(settings, store, self.begun, progress.history)
        self._artifacts = BuildArtifacts(outbox, self.facts)
        progress.on_tick = self._look

    def run(self, *, only_failed: bool, deep: bool) -> RunRecord:
        """Do the build and return its record, which is kept however it ends."""
        record = self.begun
        self.store.record_run(record)
        try:
            record = self._run(only_failed=only_failed, deep=deep)
        except BaseException as error:
            state, message = _ending(error)
            failed = self.progress.history.failed
            record = dataclasses.replace(record, state=state, finished=now(), failed=failed, message=message)
            with suppress(StoreError):  # on a full disk, the first error is the one to report
                self.store.record_run(record)
            _warn_of_failed(record)
            self._end(record)
            raise
        self.store.record_run(record)
        self._end(record)
        return record

    def _run(self, *, only_failed: bool, deep: bool) -> RunRecord:
        started = time.monotonic()
        with self.wall.part("check"):
            if self.settings.cluster.address is not None:
                with cluster.connected(self.settings.cluster):
                    pass  # one that cannot be joined is refused, also where nothing will be to make
            check(self.settings, self.store)
            _own(self.store, self.settings.name)
            damaged = self._repair(deep=deep)
        if only_failed:
            ingest_refused = refusal(last_ingested(self.store), self.settings.limits.rejected_rows)
        else:
            with self.wall.part("ingest"):
                ingest_refused = self._ingest(damaged)
        with self.wall.part("plan"):
            for sentence in pointless_trainings(self.settings, self.store):
                warn(sentence)
            stages = chain(self.settings, self.store)
            failed, wanted = failed_shards(self.store.runs()), self.settings.wanted
            planning = partial(plan, self.store, stages.stages, wanted=wanted, failed=failed, damaged=damaged)
            planned = planning()
            if self._draw_neighbours(planned):
                planned = planning()
            _warn_of_others(damaged, stages)
            work: Sequence[ShardWork] = planned.todo
            if only_failed:
                again = {(shard.stage, shard.shard) for shard in failed} | {damage.key for damage in damaged}
                near = {name for (name, _), of in self.store.provenance("pairs").items() if counts_of(of.recipe)}
                again |= {key for key in planned.missing if key[1] in near}  # those of a killed retry, too
                work = planned.around(again)
            self.facts.planned(planned, stages, work)
        workers = self._make(stages, work) if work else 0
        with self.wall.part("publish"):
            # Unwanted shards that would be made differently now must not be kept next to wanted ones.
            self.store.withdraw(planned.outdated, run_id=self.run_id)
            release, message = self._publish(stages, ingest_refused)
        total = time.monotonic() - started
        made = self.progress.history.made
        seconds = {stage: sum(shard.seconds or 0.0 for shard in shards) for stage, shards in made.items()}
        record = dataclasses.replace(
            self.begun,
            finished=now(),
            state="done" if release else "partly",
            made={stage: len(shards) for stage, shards in made.items()},
            rejected={stage: sum(shard.rejects or 0 for shard in shards) for stage, shards in made.items()},
            seconds={stage: round(used, 3) for stage, used in seconds.items()},
            wall=self.wall.parts(),
            spans={stage: round(span, 3) for stage, span in self.spans.items()},
            outside=round(1 - sum(seconds.values()) / (workers * total), 3) if workers else None,
            failed=self.progress.history.failed,
            release=release.number if release else None,
            message=message,
        )
        self._tell(record)
        return record

    def _repair(self, *, deep: bool) -> list[Damage]:
        """Find damaged files, rebuild those of ingest, and return the others, which the plan makes again."""
        damaged = self.store.damaged(deep=deep)
        for damage in damaged:
            warn(f"damaged: {damage}")
        repaired = repair_ingested(self.settings, self.store, damaged, self.run_id)
        if waiting := [damage for damage in of_ingest(damaged) if damage not in repaired]:
            made = self._embed_again(damaged, waiting)
            damaged = [damage for damage in damaged if damage.key not in made]
            repaired += repair_ingested(self.settings, self.store, waiting, self.run_id)
        if repaired:
            say(f"Rebuilt {counted(len(repaired), 'damaged shard')} of the corpora, with today's scores and labels.")
        return [damage for damage in damaged if damage not in repaired]

    def _embed_again(self, damaged: Sequence[Damage], waiting: Sequence[Damage]) -> set[ShardKey]:
        """Make damaged embeddings again, as neighbours that are damaged wait for them; return those made."""
        ahead = StoreAhead(self.store, {}, [damage.key for damage in waiting])
        stages = chain(self.settings, ahead)
        planned = plan(ahead, stages.stages, damaged=damaged)
        work = [item for item in planned.of(EMBEDDING_STAGE.name) if item.reason.kind == "damaged"]
        if work:
            self.facts.planned(planned, stages, work)
            self._make(stages, work, draws=False)
        if failed := len(self.progress.history.failed):
            raise CannotRebuild(
                f"Neighbours are lost, and {counted(failed, 'shard')} of the embeddings that they are drawn from "
                "failed; `facetflow retry --failed` tries again."
            )
        return {(item.stage, item.shard) for item in work}

    def _ingest(self, damaged: Sequence[Damage]) -> str | None:
        """Commit what is new; return why no release can be published, if so."""
        ingested = ingest_corpora(self.settings, self.store, self.run_id, damaged=damaged)
        report = ingested.report
        self.facts.read(report)
        for sentence in in_words(self.settings, report, label_counts(self.settings, self.store)):
            say(sentence)
        for sentence in warnings(report, drops=self.settings.leakage.mode == "drop"):
            warn(sentence)
        return refusal(ingested, self.settings.limits.rejected_rows)

    def _draw_neighbours(self, planned: Plan) -> Collection[Shard]:
        """Commit the neighbours that are lacking, and return their shards.

        They are drawn when no embedding is left to make: so they are the same however often builds are killed.
        """
        self.unembedded = len(planned.of(EMBEDDING_STAGE.name))
        if self.unembedded or not self.settings.neighbours:
            return ()
        with self.wall.part("ingest"):
            drawn = add_neighbours(self.settings, self.store, self.run_id)
        if drawn:
            pairs = sum(rows.height for rows in drawn.values())
            self.facts.drew(pairs)
            say(f"Drew {counted(pairs, 'neighbour')} in {counted(len(drawn), 'shard')}.")
        return drawn

    def _make(self, stages: Chain, work: Sequence[ShardWork], *, draws: bool = True) -> int:
        """Start or join the cluster and work through the plan; return the number of workers.

        With `draws`, neighbours are drawn from the embeddings that were made, and what they need is made, too.
        """
        todo = list(dict.fromkeys(item.stage for item in work))
        logs = self.settings.builds / self.run_id
        with clear_errors(f"Making the folder {str(logs)!r} for logs"):
            logs.mkdir(parents=True, exist_ok=True)
        get_ready(self.settings)  # a command has done it already, but not if Prefect's worker runs this flow
        wanted = cluster.no_more_than(self.settings.cluster, len(work))
        with (
            self.wall.part("cluster"),
            scratch("dask") as files_of_workers,
            dask.config.set(cluster.DASK | {"temporary-directory": str(files_of_workers)}),
            cluster.logged(logs),
            cluster.joined_cluster(wanted, self.store, stages, todo, logs) as joined,
        ):
            runner = ShardRunner(self.store, stages, joined, self.progress, self.run_id)
            with self.wall.part("stages"):
                runner.run(work)
            planning = partial(plan, self.store, stages.stages, wanted=self.settings.wanted)
            if draws and self.settings.neighbours and (drawn := self._draw_neighbours(planning())):
                with self.wall.part("plan"):
                    planned = planning()
                    begun = {(item.stage, item.shard) for item in work}
                    more = [item for item in planned.todo if item.shard in drawn and begun.issuperset(item.waits_for)]
                    self.facts.planned(planned, stages, [*work, *more])
                with self.wall.part("stages"):
                    runner.run(more)
            self.spans |= runner.spans
            return runner.available.workers

    def _publish(self, stages: Chain, refused: str | None) -> tuple[Release | None, str]:
        """Publish a release if all limits hold; return it, and one line that says what happened."""
        before = [release.number for release in self.store.releases()]
        limits = self.settings.limits
        if refused is None and self.settings.neighbours and self.unembedded:
            lacking = counted(self.unembedded, "shard")
            refused = f"neighbours are drawn from all embeddings, which lack {lacking}: build again"
        if refused is not None:
            return None, f"Nothing was published: {refused}."
        try:
            release = self.store.publish(
                self.run_id,
                stages=stages.stages,
                wanted=self.settings.wanted,
                failed_shards=limits.failed_shards,
                rejected_rows=limits.rejected_rows,
                after=last_release(self.settings.runs),
            )
        except StoreError as error:
            return None, f"Nothing was published: {error.with_code()}"
        if release.number in before:
            return release, f"Nothing changed: release {release.number} is up to date."
        emit_release(self.settings.name, self.store, release)
        names = {} if release.rows["pairs"] else {"sentences": "texts"}
        counts = ", ".join(f"{count:,} {names.get(table, table)}" for table, count in release.rows.items() if count)
        return release, f"Published release {release.number}: {counts}."

    def _end(self, record: RunRecord) -> None:
        """Write the page of the build, however it ended, and show the end on the server."""
        try:
            written = self.facts.end(record, self.wall.parts())
            self._artifacts.end()
        except Exception as error:  # noqa: BLE001 (the build is done, or has its own error to report)
            warn(f"The page of this build could not be made: {type(error).__name__}: {error}")
            return
        if written:
            say(f"Page of this build: {self.facts.page}")

    def _look(self) -> None:
        self.facts.look(self.wall.parts())
        self._artifacts.look()

    def _tell(self, record: RunRecord) -> None:
        _warn_of_failed(record)
        if pairs := unproven_pairs(self.store):
            say(tell_unproven(pairs))
        outside = "" if record.outside is None else f"; {record.outside:.0%} of the workers' time outside of stages"
        say(f"Wall time: {summary_of_times(record.wall)}{outside}.")
        # The result, also with --quiet; standard output is for that of --json.
        (conclude if record.state == "done" else warn)(record.message)


def _own(store: Store, name: str) -> None:
    """Make the store the project's, and warn if it was not before."""
    before = store.project
    if before != name:
        store.adopt(name)
        whose = "had no owner" if before is None else f"belonged to the project {before!r}"
        warn(f"The store {store.location!r} {whose}; from now on it belongs to {name!r}.")


def _warn_of_others(damaged: Sequence[Damage], stages: Chain) -> None:
    """Name damaged files that nothing in this project can rebuild."""
    made = {INGEST, *stages.settings}
    for damage in damaged:
        if damage.stage not in made:
            warn(f"not rebuilt, because the project file no longer has a stage {damage.stage!r}: {damage}")


def _warn_of_failed(record: RunRecord) -> None:
    for shard in record.failed:
        warn(f"failed: {shard.stage} {shard.shard}: {shard.error.partition(chr(10))[0]}")


def _ending(error: BaseException) -> tuple[Literal["failed", "interrupted"], str]:
    if isinstance(error, Exception):
        return "failed", without_passwords(described(error))
    kept = "what was committed is kept, and the next build continues from it"
    return "interrupted", f"Interrupted by {cause(error)}; {kept}."
