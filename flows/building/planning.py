"""What a build would do, computed without writing anything to the store or its index of graphs.

store ── damage ── corpora, in memory ──> the store as it would be ──> plan ──> what may stand in a release's way
"""

from dataclasses import asdict, dataclass
from typing import Any

from features.core.leftovers import scratch
from features.ingest import IngestReport
from features.store.damage import Damage
from features.store.foreseen import StoreAhead
from features.store.plan import Plan, plan
from features.store.publishing import obstacles
from features.store.runs import failed_shards
from features.store.store import Store
from flows.building.ingest_corpora import fingerprint_of, read_corpora, refusal
from flows.building.ingest_repair import make_again, of_ingest
from flows.building.label_counts import label_counts
from flows.project import Project
from flows.stages import chain, check


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a build would do.

    Args:
        store: folder of the store.
        ingest: what is new in the corpora.
        plan: the shards to make, including those of new rows.
        damaged: files that would be rebuilt.
        obstacles: why the build will or may publish nothing, as sentences.
        pointless: why the training of an encoder will end at once, as sentences.
        labels: what `label_counts` returns.
    """

    store: str
    ingest: IngestReport
    plan: Plan
    damaged: tuple[Damage, ...]
    obstacles: tuple[str, ...]
    pointless: tuple[str, ...]
    labels: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        return {
            "store": self.store,
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
            "obstacles": list(self.obstacles),
            "pointless": list(self.pointless),
            "labels": self.labels,
        }


def look_ahead(project: Project, *, deep: bool = False) -> Outlook:
    """Find out what a build would do.

    Args:
        project: the project file.
        deep: check every byte of the store for damage.

    Raises:
        FacetflowError: a build would end with this error before it makes anything.
    """
    # If there is no store yet, plan with an empty one; the build creates it.
    store = Store.open(project.store, or_empty=True)
    store.check_owner(project.name)
    check(project, store)
    damaged = store.damaged(deep=deep)
    remade = make_again(project, store, damaged)
    lost = [damage.key for damage in of_ingest(damaged)]
    ingested = read_corpora(project, StoreAhead(store, remade, lost))
    new = ingested.tables
    marks = {
        (table, shard): fingerprint_of(table, rows) for table, shards in new.items() for shard, rows in shards.items()
    }
    ahead = StoreAhead(store, {table: remade[table] | shards for table, shards in new.items()}, lost, marks)
    limits = project.limits
    with scratch("plan") as index:
        made_by = chain(project, ahead, index_folder=index)
        stages = made_by.stages
        planned = plan(ahead, stages, wanted=made_by.wanted, failed=failed_shards(store.runs()), damaged=damaged)
    refused = refusal(ingested, limits.rejected_rows)
    in_the_way = [f"Nothing will be published: {refused}."] if refused else []
    in_the_way += obstacles(
        ahead, planned, stages, failed_shards=limits.failed_shards, rejected_rows=limits.rejected_rows
    )
    return Outlook(
        store.location,
        ingested.report,
        planned,
        tuple(damaged),
        tuple(in_the_way),
        made_by.pointless,
        label_counts(project, ahead),
    )
