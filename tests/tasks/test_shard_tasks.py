"""Each task as a plain call: reads the pinned input, writes one shard, and checks first whether it exists already."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from generated import pair_id
from sentences import refused

from features.core.faults import GraphIndexWrong, RowsWrong, TableFileDamaged
from features.metrics.own import OwnMetrics
from features.parsers.bank import build_bank
from features.parsers.settings import AmrSettings, LabelVectorSettings
from features.schemas import PAIRS, SENTENCES, StageOutput
from features.sentences import sentence_id
from features.stages.registry import STAGES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store
from tasks.shard import Inputs, ShardJob, make_shard, reporter
from tasks.worker_report import _report

GRAPHS = {
    "A cat sleeps .": "(s / sleep-01 :ARG0 (c / cat))",
    "A dog sleeps .": "(s / sleep-01 :ARG0 (d / dog))",
    "A bird sings .": "(s / sing-01 :ARG0 (b / bird))",
}
FIRST, SECOND = "sentences-00000", "sentences-00001"
RECIPES = {name: Recipe(name) for name in ("sentences", "pairs", "amr", "label_vectors", "metrics")}


@pytest.fixture
def store(tmp_path):
    """Two sentence shards, one pair shard across them; the sentence of the last pair has no graph."""
    store = Store.open(tmp_path / "store", create=True)
    texts = {FIRST: ["A cat sleeps .", "A dog sleeps ."], SECOND: ["A bird sings .", "Nobody knows ."]}
    receipts = [
        store.write_shard("sentences", shard, fingerprint(RECIPES["sentences"], [shard]), StageOutput(_sentences(rows)))
        for shard, rows in texts.items()
    ]
    pairs = [
        _pair("A cat sleeps .", "A dog sleeps .", FIRST, FIRST),
        _pair("A cat sleeps .", "A bird sings .", FIRST, SECOND),
        _pair("A dog sleeps .", "Nobody knows .", FIRST, SECOND),
    ]
    output = StageOutput(pl.DataFrame(pairs, schema=PAIRS))
    receipts.append(store.write_shard("pairs", "pairs-00000", fingerprint(RECIPES["pairs"], []), output))
    store.commit(receipts, run_id="ingest", recipes=RECIPES)
    return store


@pytest.fixture
def amr(tmp_path):
    graphs = tmp_path / "graphs.amr"
    graphs.write_text("\n".join(f"# ::snt {text}\n{graph}\n" for text, graph in GRAPHS.items()))
    build_bank([graphs], tmp_path / "bank.arrow")
    return AmrSettings(graphs=(str(graphs),), bank=tmp_path / "bank.arrow")


@pytest.fixture
def vectors(tmp_path):
    (tmp_path / "vectors.txt").write_text("cat 1 0\ndog 1 1\nbird 0 1\nsleep 1 2\nsing 2 1\n")
    return LabelVectorSettings(backend="glove", file=tmp_path / "vectors.txt")


def _sentences(texts):
    return pl.DataFrame({"sentence_id": [sentence_id(text) for text in texts], "text": texts}, schema=SENTENCES)


def _pair(first, second, first_shard, second_shard):
    a, b = sentence_id(first), sentence_id(second)
    return {
        "pair_id": pair_id("c", "train", "positive", a, b, 0),
        "corpus": "c",
        "split": "train",
        "kind": "positive",
        "sentence_a": a,
        "sentence_b": b,
        "shard_a": first_shard,
        "shard_b": second_shard,
    }


def job(store, stage, shard, **upstream):
    return ShardJob(
        store=Path(store.location),
        stage=stage,
        shard=shard,
        fingerprint=fingerprint(RECIPES[stage], ["input"]),
        versions=store.versions(),
        upstream=upstream,
    )


def commit(store, *receipts):
    store.commit(receipts, run_id="test", recipes=RECIPES)


def test_a_chain_of_tasks_makes_rows_and_rejects(store, amr, vectors):
    for shard in (FIRST, SECOND):
        commit(store, make_shard(job(store, "amr", shard, sentences=(shard,)), amr))
        commit(store, make_shard(job(store, "label_vectors", shard, amr=(shard,)), vectors))
    both = (FIRST, SECOND)
    work = job(store, "metrics", "pairs-00000", pairs=("pairs-00000",), amr=both, label_vectors=both)
    receipt = make_shard(work, OwnMetrics())
    commit(store, receipt)

    assert (receipt.rows, receipt.rejects) == (2, 1)
    assert store.read("metrics")["pair_id"].to_list() == store.read("pairs")["pair_id"].to_list()[:2]
    rejects = store.read("rejects").select("stage", "code").sort("stage").rows()
    assert rejects == [("amr", "no_graph"), ("metrics", "missing_parse")]
    assert set(store.read("label_vectors", shards=[FIRST])["label"]) == {"cat", "dog", "sleep"}


def test_damage_is_named_where_a_task_reads_some_rows(store):
    for file in (Path(store.location) / "tables" / "pairs").rglob("*.parquet"):
        file.write_bytes(b"PAR1" + b"\xff" * (file.stat().st_size - 4))

    with refused(TableFileDamaged):
        Inputs(store, job(store, "metrics", "pairs-00000", pairs=("pairs-00000",))).read("pairs", pl.col("kind") == "x")


def test_a_receipt_is_small_and_can_travel(store, amr):
    receipt = make_shard(job(store, "amr", FIRST, sentences=(FIRST,)), amr)
    assert pickle.loads(pickle.dumps(receipt)) == receipt
    assert len(pickle.dumps(receipt)) < 2000
    assert receipt.seconds > 0


def test_what_is_committed_is_not_made_again(store, amr):
    work = job(store, "amr", FIRST, sentences=(FIRST,))
    commit(store, make_shard(work, amr))
    (file,) = (Path(store.location) / "tables" / "amr").rglob("*.parquet")
    written = file.stat().st_mtime_ns
    assert make_shard(work, amr) is None
    assert file.stat().st_mtime_ns == written


def test_a_shard_is_made_again_under_another_fingerprint(store, amr):
    commit(store, make_shard(job(store, "amr", FIRST, sentences=(FIRST,)), amr))
    other = replace(job(store, "amr", FIRST, sentences=(FIRST,)), fingerprint=fingerprint(RECIPES["amr"], ["other"]))
    assert make_shard(other, amr).fingerprint == other.fingerprint


def test_input_is_read_at_its_pinned_version(store, amr, vectors):
    commit(store, make_shard(job(store, "amr", FIRST, sentences=(FIRST,)), amr))
    pinned = job(store, "label_vectors", FIRST, amr=(FIRST,))
    empty = StageOutput(store.read("amr").clear())
    commit(store, store.write_shard("amr", FIRST, fingerprint(RECIPES["amr"], ["later"]), empty))
    assert make_shard(pinned, vectors).rows == 3
    assert make_shard(job(store, "label_vectors", FIRST, amr=(FIRST,)), vectors).rows == 0


def test_an_error_of_a_stage_is_not_swallowed(store, tmp_path):
    missing = AmrSettings(graphs=("none.amr",), bank=tmp_path / "none.arrow")
    with refused(GraphIndexWrong):
        make_shard(job(store, "amr", FIRST, sentences=(FIRST,)), missing)
    assert not store.committed("amr")


def test_a_process_makes_one_shard_at_a_time_whatever_its_threads(store, amr, monkeypatch):
    running, most = [], []

    def make(inputs, settings, on_rows):
        running.append(1)
        most.append(len(running))
        time.sleep(0.1)
        running.pop()
        return StageOutput(inputs.read("sentences").select("sentence_id").clear())

    monkeypatch.setattr("tasks.shard.STAGES", {"amr": replace(STAGES["amr"], make=make)})
    jobs = [job(store, "amr", shard, sentences=(shard,)) for shard in (FIRST, SECOND)]
    with ThreadPoolExecutor(2) as threads:
        for made in [threads.submit(make_shard, work, amr) for work in jobs]:
            with refused(RowsWrong):  # these rows have no columns of graphs; what counts is when they were made
                made.result()
    assert most == [1, 1]


def test_a_shard_tells_how_far_it_is(store, amr, monkeypatch):
    told = []
    monkeypatch.setattr("tasks.shard.reporter", lambda *_: lambda done, total: told.append((done, total)))
    make_shard(job(store, "amr", FIRST, sentences=(FIRST,)), amr)
    assert told == [(0, 0), (0, 2), (1, 2), (2, 2)]


def test_reports_are_rare_and_cannot_fail_a_shard(monkeypatch):
    sent = []

    class Worker:
        name = "worker-0"

        def log_event(self, topic, message):
            sent.append((topic, message["done"]))
            raise OSError("the connection is gone")

    monkeypatch.setattr("tasks.shard.get_worker", Worker)
    tell = reporter(ShardJob("store", "amr", FIRST, "fingerprint", topic="topic"))
    for done in range(1001):
        tell(done, 1000)
    assert sent[0] == ("topic", 0)
    assert sent[-1] == ("topic", 1000)
    assert len(sent) < 100


def test_a_worker_that_lacks_a_file_says_what_to_do(tmp_path):
    missing = _report(str(tmp_path), [], [tmp_path / "glove.txt"])["missing"]
    assert missing == [f"there is no file {str(tmp_path / 'glove.txt')!r}; put one there"]


def test_a_worker_that_cannot_read_the_store_says_why(tmp_path):
    assert _report(str(tmp_path), [], [])["unseen"] is None  # there is none, as on another disk
    (tmp_path / "store.json").write_text("{")
    assert str(tmp_path / "store.json") in _report(str(tmp_path), [], [])["unseen"]
