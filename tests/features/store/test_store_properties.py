"""Whatever is written, committed, repeated, rewritten and collected, in whatever order: the rows are exactly right."""

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from sentences import refused

from features.core.faults import CommitRefused, NothingToPublish
from features.core.types import RejectCode
from features.schemas import SENTENCES, Reject, StageOutput, rejects_frame
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store

RECIPES = {"sentences": Recipe("sentences")}

shards = st.sampled_from(["s0", "s1", "s2"])
numbers_of_rows = st.integers(0, 4)


class StoreMachine(RuleBasedStateMachine):
    """A store next to a dictionary of its expected content."""

    receipts = Bundle("receipts")

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.store = Store.open(self.root / "store", create=True)
        self.rows: dict[str, list[str]] = {}
        self.rejects: dict[str, list[str]] = {}
        self.written: dict[str, tuple[list[str], list[str]]] = {}
        self.pinned: list[tuple[int, dict[str, list[str]]]] = []

    def teardown(self):
        shutil.rmtree(self.root)

    @rule(target=receipts, shard=shards, rows=numbers_of_rows, rejects=numbers_of_rows, content=st.integers(0, 3))
    def write(self, shard, rows, rejects, content):
        ids = [f"{shard}-{content}-{number}" for number in range(rows)]
        rejected = [f"{shard}-{content}-rejected-{number}" for number in range(rejects)]
        output = StageOutput(
            pl.DataFrame({"sentence_id": ids, "text": ids}, schema=SENTENCES),
            rejects_frame([Reject(entity, RejectCode.NO_GRAPH, "") for entity in rejected]),
        )
        made = fingerprint(RECIPES["sentences"], [shard, *ids, *rejected])
        self.written[made] = (ids, rejected)
        return self.store.write_shard("sentences", shard, made, output, expected=rows + rejects)

    @rule(chosen=st.lists(receipts, min_size=1, max_size=3, unique_by=lambda receipt: receipt.shard))
    def commit(self, chosen):
        # A receipt may be committed at once, late, or again; or never, and then its files are garbage.
        tables = Path(self.store.location) / "tables"
        gone = [
            file
            for receipt in chosen
            for table, file in (("sentences", receipt.data), ("rejects", receipt.reject_data))
            if file and not (tables / table / file.path).exists()
        ]
        if gone:
            with refused(CommitRefused):
                self.store.commit(chosen, run_id="run", recipes=RECIPES)
            return
        self.store.commit(chosen, run_id="run", recipes=RECIPES)
        for receipt in chosen:
            self.rows[receipt.shard], self.rejects[receipt.shard] = self.written[receipt.fingerprint]

    @rule(receipt=consumes(receipts))
    def lose(self, receipt):
        # The worker died before its receipt was read.
        assert receipt.shard

    @rule()
    def publish(self):
        if not any(self.rows.values()):
            with refused(NothingToPublish):
                self.store.publish("run", stages=[])
            return
        release = self.store.publish("run", stages=[])
        self.pinned.append((release.versions["sentences"], dict(self.rows)))

    @rule()
    def collect_garbage(self):
        self.store.collect_garbage(timedelta(0))

    @rule()
    def open_again(self):
        self.store = Store.open(self.store.location, create=True)

    @invariant()
    def rows_are_exactly_right(self):
        found = self.store.read("sentences", with_shard=True)
        assert found.select("sentence_id", "shard").rows() == listed(self.rows)
        assert {shard: known.rows for shard, known in self.store.committed("sentences").items()} == {
            shard: len(ids) for shard, ids in self.rows.items()
        }

    @invariant()
    def rejects_are_exactly_right(self):
        found = self.store.read("rejects", with_shard=True)
        assert found.select("entity_id", "shard").rows() == listed(self.rejects)

    @invariant()
    def releases_read_as_they_were_published(self):
        for version, rows in self.pinned[-2:]:
            assert self.store.read("sentences", version)["sentence_id"].to_list() == [id_ for id_, _ in listed(rows)]


def listed(rows):
    return [(entity, shard) for shard in sorted(rows) for entity in rows[shard]]


StoreMachine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestStore = StoreMachine.TestCase
