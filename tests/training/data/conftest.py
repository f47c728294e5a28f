"""A store with a release of three sentences, one of them rejected by the parsing stage."""

import polars as pl
import pytest

from features.core.types import RejectCode
from features.schemas import PAIRS, Reject, StageOutput, rejects_frame
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.plan import plan
from features.store.scope import PlannedStage
from features.store.store import Store

TEXTS = {"s1": "A man sleeps", "s2": "Men rest", "s3": "too long to be parsed"}
TOO_LONG = Reject("s3", RejectCode.SENTENCE_TOO_LONG, "the sentence has 5 words")


@pytest.fixture
def make_parsed_store():
    """Return a function from folder, recipe and rows of a stage to the store; without rows, the stage was not run."""

    def make(folder, recipe, rows=()):
        store = Store.open(folder / "store", create=True)
        ingest = Recipe("ingest")
        sentences = pl.DataFrame({"sentence_id": list(TEXTS), "text": list(TEXTS.values())})
        shards = {"sentences": sentences, "pairs": pl.DataFrame(schema=PAIRS)}
        receipts = [
            store.write_shard(table, f"{table}-00000", fingerprint(ingest, [table]), StageOutput(frame))
            for table, frame in shards.items()
        ]
        store.commit(receipts, run_id="test", recipes=dict.fromkeys(shards, ingest))
        stages = [PlannedStage(recipe.stage, "sentences", ("sentences",), recipe)] if rows else []
        for task in plan(store, stages).todo:
            made = StageOutput(pl.DataFrame(rows, schema=TABLES[recipe.stage]), rejects_frame([TOO_LONG]))
            receipt = store.write_shard(task.stage, task.shard, task.fingerprint, made)
            store.commit([receipt], run_id="test", recipes={recipe.stage: recipe})
        store.publish("test", stages=stages, rejected_rows=1.0)
        return store

    return make
