"""What a refresh would do, computed without writing anything to the store or its index of graphs.

store ── damage ── corpora, in memory ──> the store as it would be ──> plan ──> what may stand in a release's way
                                                                         └────> the release ──> trainings, evaluations
"""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from features.core.errors import StoreError
from features.core.leftovers import scratch
from features.core.types import Shard
from features.core.wording import counted
from features.ingest.neighbours import lack_neighbours
from features.ingest.report import IngestReport
from features.ingest.unread import Memory, drawn_from
from features.schemas import INGEST
from features.stages.embeddings import EMBEDDING_STAGE
from features.store.damage import Damage
from features.store.plan import Plan, plan
from features.store.publishing import obstacles
from features.store.reader import StoreAhead
from features.store.releases import Release
from features.store.runs import failed_shards
from features.store.store import Store
from flows.building.ingest_corpora import fingerprint_of, label_counts, read_corpora, refusal
from flows.building.ingest_repair import make_again, of_ingest
from flows.project import Project
from flows.stages import chain, check, pointless_trainings
from flows.trainings.due import Contents, Due, due
from training.runs import last_release


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a refresh would do."""

    store: str  # its folder, or its address
    ingest: IngestReport  # what is new in the corpora
    plan: Plan  # the shards to make, including those of new rows
    damaged: tuple[Damage, ...]  # files that would be rebuilt
    obstacles: tuple[str, ...]  # why the build will publish nothing, as sentences
    pointless: tuple[str, ...]  # why the training of an encoder will end at once, as sentences
    labels: list[dict[str, Any]]  # what `label_counts` returns
    release: int | None  # number of the release that encoders are trained on then; None if there is none
    publishes: bool = False  # whether it is a new one
    draws: bool = False  # whether neighbours are drawn, once there are embeddings; the plan has no shard of them yet
    due: tuple[Due, ...] = ()  # the trainings and evaluations that are due on it; each training is evaluated after it

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        as_they_are = ("store", "obstacles", "pointless", "labels", "release", "publishes", "draws")
        return {name: getattr(self, name) for name in as_they_are} | {
            "ingest": self.ingest.model_dump(),
            "stages": [
                {
                    "stage": stage,
                    "shards": self.plan.shards(stage),
                    "unwanted": self.plan.unwanted(stage),
                    "to_do": len(self.plan.of(stage)),
                }
                for stage in self.plan.stages
            ],
            "to_do": [
                {
                    "stage": work.stage,
                    "shard": work.shard,
                    "fingerprint": work.fingerprint,
                    "kind": work.reason.kind,
                    "reason": str(work.reason),
                }
                for work in self.plan.todo
            ],
            "damaged": [asdict(damage) | {"file": damage.file} for damage in self.damaged],
            "due": [asdict(item) | {"encoder": item.encoder.name} for item in self.due],
        }

    def following(self) -> list[str]:
        """Return, as sentences, what follows the shards of the plan: neighbours, a release, trainings, evaluations."""
        sentences = ["Neighbours would be drawn from the embeddings, and their pairs measured as well."] * self.draws
        if self.release is None:
            return sentences
        failed = any(work.reason.kind == "failed" for work in self.plan.todo)
        again = ", if the shards that failed before (see `facetflow status`) do not fail again" * failed
        sentences += [f"Release {self.release} {f'would follow{again}' if self.publishes else 'stays the newest'}."]
        for step, what in (("training", "encoder"), ("evaluation", "evaluation")):
            items = [item for item in self.due if item.step == step]
            verb = "would be trained" if step == "training" else "is due" if len(items) == 1 else "are due"
            named = "; ".join(f"{item.subject}, because {item.reason}" for item in items)
            sentences += [f"{counted(len(items), what)} {verb}: {named}."] if items else []
        return sentences


def look_ahead(project: Project, *, deep: bool = False) -> Outlook:
    """Find out what a refresh would do, also its error; with `deep`, every byte is checked for damage."""
    # If there is no store yet, plan with an empty one; the build, of a project with corpora, creates it.
    store = Store.open(project.store, or_empty=bool(project.corpora))
    store.storage.look_once()
    check(project, store)
    if not project.corpora:
        said = ("Nothing will be built: without corpora, the store is another project's to build.",)
        told, newest = pointless_trainings(project, store), store.release()
        items = tuple(due(project, Contents.of(store, newest)))
        return Outlook(store.location, IngestReport(), plan(store, ()), (), said, told, [], newest.number, due=items)
    store.check_owner(project.name)
    damaged = store.damaged(deep=deep)
    remade = make_again(project, store, damaged)
    lost = [damage.key for damage in of_ingest(damaged)]
    ingested = read_corpora(project, StoreAhead(store, remade, lost), damaged=damaged)
    new = ingested.tables
    marks = {
        (table, shard): fingerprint_of(table, rows) for table, shards in new.items() for shard, rows in shards.items()
    }
    ahead = StoreAhead(store, {table: {**remade[table], **shards} for table, shards in new.items()}, lost, marks)
    with scratch("plan") as index:
        stages = chain(project, ahead, index_folder=index).stages
        planned = plan(ahead, stages, wanted=project.wanted, failed=failed_shards(store.runs()), damaged=damaged)
    refused = refusal(ingested, project.limits.rejected_rows)
    in_the_way = [f"Nothing will be published: {refused}."] if refused else []
    in_the_way += obstacles(ahead, planned, stages, rejected_rows=project.limits.rejected_rows)
    embeds = any(work.reason.kind != "damaged" for work in planned.of(EMBEDDING_STAGE.name))
    draws = bool(project.neighbours) and (embeds or Memory.of(store).drawn != drawn_from(store, project.neighbours))
    draws = draws and lack_neighbours(ahead, project.neighbours)  # which reads their pairs
    rejects = Counter((INGEST, str(reject.code)) for reject in ingested.rejects)
    release, contents, publishes = _following(
        store, ahead, planned, rejects, draws=draws, obstructed=bool(in_the_way), after=last_release(project.runs)
    )
    return Outlook(
        store.location,
        ingested.report,
        planned,
        tuple(damaged),
        tuple(in_the_way),
        pointless_trainings(project, ahead),
        label_counts(project, ahead),
        release,
        publishes,
        draws,
        tuple(due(project, contents)) if contents is not None else (),
    )


def _following(
    store: Store,
    ahead: StoreAhead,
    planned: Plan,
    rejects: Counter[tuple[str, str]],
    *,
    draws: bool,
    obstructed: bool,
    after: int,
) -> tuple[int | None, Contents | None, bool]:
    """Return the number of the release that follows, what it holds, and whether it is a new one, above `after`."""
    releases = store.releases()
    last = max(releases, key=lambda release: release.number, default=None)
    try:
        held = Contents.of(store, last, planned.uses) if last is not None else None
    except StoreError:  # it can no longer be read: the next release holds something else
        held = None
    if obstructed:
        return (last.number, held, False) if last is not None else (None, None, False)
    coming = Contents.ahead(ahead, planned)
    if not draws and last is not None and held is not None:
        # Neighbours that are lost with their embeddings are not ahead, but drawn again as they were.
        drawn = {shard: mark for shard, mark in held.shards["pairs"].items() if shard in coming.shards["pairs"]}
        same = coming.shards.items() <= {**held.shards, "pairs": drawn}.items()
        if same and _rejected(store, last, rejects) == rejects:
            return last.number, held, False
    return max(last.number if last is not None else 0, after) + 1, coming, True


def _rejected(store: Store, release: Release, rejects: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """Return how many rows of the corpora a release rejects, by code; a damaged file is made again as it would be."""
    try:
        return Counter(store.reject_codes([(INGEST, Shard(INGEST))], release.versions["rejects"]))
    except StoreError:
        return rejects
