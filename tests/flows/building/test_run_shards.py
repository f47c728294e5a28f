"""How the work of a plan is spread over the workers of a cluster."""

import json
import time
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest
from distributed import KilledWorker, LocalCluster
from distributed.client import ClosedClientError, FutureCancelledError

from features.core import code
from features.core.errors import RunError
from features.core.faults import FileChanged, OtherCode
from features.core.types import Fingerprint, Shard
from features.parsers.settings import LabelVectorSettings
from features.stages.label_vectors import label_vector_recipe
from features.store.plan import Reason, ShardWork
from features.store.scope import PlannedStage
from flows.building import run_shards
from flows.building.run_shards import ShardRunner
from flows.clusters import cluster, cluster_watch
from flows.stages import Chain
from flows.watching.progress import BuildProgress
from flows.watching.shard_history import ShardHistory


@pytest.fixture
def on_a_cluster(monkeypatch):
    """Return a context manager that yields a cluster of one worker, which makes shards so, and a runner for it."""

    @contextmanager
    def start(make, shards, versions=dict):
        monkeypatch.setattr(run_shards, "make_shard", make)
        monkeypatch.setattr(run_shards, "PREFECT_API_URL", SimpleNamespace(value=lambda: "http://127.0.0.1:1/api"))
        stopped = []
        watch = SimpleNamespace(check=lambda: None, stop=lambda: stopped.append("server"))
        monkeypatch.setattr(run_shards, "ApiWatch", lambda _: watch)
        with (
            LocalCluster(
                n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
            ) as started,
            started.get_client() as client,
            BuildProgress() as progress,
        ):
            address = "tcp://10.0.0.1:8786"
            capacity = cluster.capacity_of(client.scheduler_info(n_workers=-1)["workers"].values(), address)
            joined = SimpleNamespace(client=client, address=address, capacity=capacity, inspect=lambda _: None)
            progress.history.plan(ShardHistory(stage, shard, 1) for stage, shard in shards)
            store = SimpleNamespace(location="", versions=versions)
            chain = SimpleNamespace(settings=dict.fromkeys(stage for stage, _ in shards), device=lambda _: "cpu")
            runner = ShardRunner(store, chain, joined, progress, "run")
            yield started, runner
            assert stopped == ["server"]
            assert runner._watch._ended.is_set()

    return start


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_workers_that_join_during_a_build_have_shards_too(on_a_cluster, tmp_path):
    def make(job, settings):
        begun = time.time()
        time.sleep(1.0)
        (tmp_path / job.shard).write_text(json.dumps([begun, time.time()]))

    shards = [Shard(f"sentences-{number:05d}") for number in range(24)]
    work = [ShardWork("amr", shard, Fingerprint("a-b"), (), (), Reason("new")) for shard in shards]
    with on_a_cluster(make, [("amr", shard) for shard in shards]) as (started, runner):
        before = runner.available.workers
        started.scale(4)
        runner.run(work)
    assert (before, runner.available.workers) == (1, 4)
    times = [json.loads((tmp_path / shard).read_text()) for shard in shards]
    assert max(sum(begun <= moment < ended for begun, ended in times) for moment, _ in times) == 4


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("closed", RuntimeError("ConnectionPool is closed")),
        ("running", FutureCancelledError("key", "scheduler-connection-lost")),  # and it has connected again
    ],
)
def test_no_shard_is_blamed_for_what_dask_says_when_its_scheduler_is_gone(status, said):
    def read():
        raise said

    client = SimpleNamespace(status=status)
    runner = ShardRunner(None, None, SimpleNamespace(capacity=None, address=None, client=client), None, "run")
    work = ShardWork("amr", Shard("sentences-00000"), Fingerprint("a-b"), (), (), Reason("new"))
    with pytest.raises(ClosedClientError):
        runner._take(work, SimpleNamespace(release=lambda: None), read)


def test_a_receipt_that_is_lost_with_its_worker_keeps_nothing_else_waiting():
    def silent():
        raise TimeoutError

    lost, unread, others = [("amr", Shard(f"sentences-{number:05d}")) for number in range(3)]
    progress = BuildProgress()
    progress.history.plan([ShardHistory(*key, 1) for key in (lost, unread, others)])
    progress.plan()
    joined = SimpleNamespace(capacity=None, address=None)
    runner = ShardRunner(SimpleNamespace(versions=dict), None, joined, progress, "run")
    for key, done, read in ((lost, False, pytest.fail), (unread, True, silent), (others, True, lambda: None)):
        work = ShardWork(*key, Fingerprint("a-b"), (), (), Reason("new"))
        future = SimpleNamespace(status="finished", done=lambda done=done: done, release=lambda: None)
        runner._running[key] = (work, future, read)
    runner._started["amr"] = time.monotonic()
    runner._collect()
    assert list(runner._running) == [lost, others, unread], "the cluster is looked at between two that do not come"
    runner._collect()
    assert list(runner._running) == [lost, unread]
    assert run_shards._READ_WITHIN < cluster_watch._LATE, "else the watch takes each wait for a suspension"


def test_work_for_which_there_is_no_room_is_not_looked_at(monkeypatch):
    class Waiting:
        looked_at = 0
        stage, shard = "amr", Shard("sentences-00000")

        @property
        def waits_for(self):
            Waiting.looked_at += 1
            return ()

    capacity = SimpleNamespace(workers=1, cpu=1, gpu=0)
    runner = ShardRunner(None, None, SimpleNamespace(capacity=capacity, address=None), BuildProgress(), "run")
    started = []
    monkeypatch.setattr(runner, "_start", started.append)
    waiting = [Waiting() for _ in range(1000)]
    assert runner._submit(waiting) == waiting[2:]
    assert started == waiting[:2]
    assert Waiting.looked_at < 10
    runner._running["amr", Waiting.shard] = (waiting[0], None, None)
    assert runner._submit(waiting) == waiting[1:], "one is being made"


def test_shards_that_wait_for_a_gpu_hold_up_no_others(monkeypatch):
    joined = SimpleNamespace(capacity=SimpleNamespace(workers=2, cpu=1, gpu=1), address=None)
    chain = SimpleNamespace(device={"embeddings": "auto", "amr": "cpu"}.get)
    runner = ShardRunner(None, chain, joined, BuildProgress(), "run")
    started = []
    monkeypatch.setattr(runner, "_start", started.append)
    stages = ("embeddings", "embeddings", "embeddings", "amr")
    work = [
        ShardWork(stage, Shard(f"sentences-{number:05d}"), Fingerprint("a-b"), (), (), Reason("new"))
        for number, stage in enumerate(stages)
    ]
    assert runner._submit(work) == work[2:3]
    assert started == [*work[:2], work[3]]


def test_a_shard_whose_work_ran_out_of_time_has_failed():
    def read():
        raise TimeoutError("of a download")

    key = ("amr", Shard("sentences-00000"))
    progress = BuildProgress()
    progress.history.plan([ShardHistory(*key, 1)])
    progress.plan()
    joined = SimpleNamespace(capacity=None, address=None, client=SimpleNamespace(status="running"))
    runner = ShardRunner(None, None, joined, progress, "run")
    work = ShardWork(*key, Fingerprint("a-b"), (), (), Reason("new"))
    released = []
    runner._take(work, SimpleNamespace(status="error", release=lambda: released.append(key)), read)
    assert not runner._running, "nobody waits for it"
    assert released == [key], "Dask would make it again when its worker dies"
    assert "of a download" in progress.history.failed[0].error


def test_what_needs_a_shard_that_another_build_has_committed_reads_it(on_a_cluster, tmp_path):
    def made_by_another(job, settings):
        (tmp_path / job.stage).write_text(json.dumps(job.versions))

    graphs, pairs = ("amr", Shard("sentences-00000")), ("metrics", Shard("pairs-00000"))
    work = [
        ShardWork(*graphs, Fingerprint("a-b"), (), (), Reason("new")),
        ShardWork(*pairs, Fingerprint("c-d"), (graphs,), (graphs,), Reason("new")),
    ]
    with on_a_cluster(made_by_another, [graphs, pairs], lambda: {"amr": 3 + (tmp_path / "amr").exists()}) as (
        _,
        runner,
    ):
        runner.run(work)
    assert json.loads((tmp_path / "metrics").read_text()) == {"amr": 4}


def test_what_may_be_made_by_the_code_of_an_upgrade_is_not_committed_under_the_recipe_before_it(
    on_a_cluster, monkeypatch
):
    def make(job, settings):
        return SimpleNamespace(stage=job.stage, shard=job.shard, rejects=0, seconds=0.0)

    graphs = ("amr", Shard("sentences-00000"))
    monkeypatch.setattr(code, "OWN_CODE", "that before the upgrade")
    with on_a_cluster(make, [graphs]) as (_, runner), pytest.raises(OtherCode):
        runner.run([ShardWork(*graphs, Fingerprint("a-b"), (), (), Reason("new"))])


def test_what_may_be_made_with_other_word_vectors_is_not_committed_under_the_recipe_before_them(on_a_cluster, tmp_path):
    def make(job, settings):
        settings.file.write_text("cat 0 1\n")  # as somebody may replace it at any time
        return SimpleNamespace(stage=job.stage, shard=job.shard, rejects=0, seconds=0.0)

    (tmp_path / "vectors.txt").write_text("cat 1 0\n")
    settings = LabelVectorSettings(backend="glove", file=tmp_path / "vectors.txt")
    planned = PlannedStage("label_vectors", "sentences", ("amr",), label_vector_recipe(settings))
    key = ("label_vectors", Shard("sentences-00000"))
    with on_a_cluster(make, [key]) as (_, runner):
        runner._chain = Chain((planned,), {"label_vectors": settings})
        with pytest.raises(FileChanged):
            runner.run([ShardWork(*key, Fingerprint("a-b"), (), (), Reason("new"))])


def test_receipts_are_committed_once_each_and_counted_and_what_needs_them_reads_the_last_version(on_a_cluster):
    def make(job, settings):
        time.sleep(0.1)
        return SimpleNamespace(stage=job.stage, shard=job.shard, rejects=1, seconds=2.0, versions=job.versions)

    graphs = [("amr", Shard(f"sentences-{number:05d}")) for number in range(4)]
    pairs = ("metrics", Shard("pairs-00000"))
    work = [ShardWork(*key, Fingerprint("a-b"), (), (), Reason("new")) for key in graphs]
    work.append(ShardWork(*pairs, Fingerprint("c-d"), tuple(graphs), tuple(graphs), Reason("new")))
    committed = []

    def commit(receipts, *, run_id, recipes):
        committed.extend(receipts)
        return {"amr": len(committed)}

    with on_a_cluster(make, [*graphs, pairs], lambda: {"amr": 0}) as (_, runner):
        runner._store.commit = commit
        runner._chain.stages, runner._chain.check_files = (), lambda: None
        runner.run(work)
        made = runner._progress.history.made
        assert {shard.state for shards in made.values() for shard in shards} == {"committed"}
    assert sorted((receipt.stage, receipt.shard) for receipt in committed) == [*graphs, pairs]
    assert committed[-1].versions == {"amr": 4}
    counts = {stage: [(shard.rejects, shard.seconds) for shard in shards] for stage, shards in made.items()}
    assert counts == {"amr": [(1, 2.0)] * 4, "metrics": [(1, 2.0)]}
    assert 0.4 <= runner.spans["amr"] < 60


@pytest.mark.parametrize(
    ("busy", "since", "raised", "commits"),
    [
        (False, 0, None, True),
        (True, 0, None, False),
        (True, run_shards.COMMIT_EVERY + 1, None, True),
        (True, 0, ClosedClientError(), True),
        (True, 0, RunError("of the cluster"), True),
    ],
)
def test_what_is_made_is_committed_where_a_worker_idles_or_time_has_passed_or_the_cluster_is_lost(
    on_a_cluster, monkeypatch, busy, since, raised, commits
):
    committed = []

    def step(waiting):
        runner._receipts, runner._running = ["a receipt"], {"amr": None} if busy else {}
        runner._committed_at = time.monotonic() - since
        if waiting and raised is not None:
            raise raised
        if not waiting:
            runner._receipts, runner._running = [], {}
        return []

    with on_a_cluster(None, []) as (_, runner):
        monkeypatch.setattr(runner, "_step", step)
        monkeypatch.setattr(runner, "_commit", lambda: committed.extend(runner._receipts))
        work = ShardWork("amr", Shard("sentences-00000"), Fingerprint("a-b"), (), (), Reason("new"))
        with nullcontext() if raised is None else pytest.raises(RunError):
            runner.run([work])
    assert committed == ["a receipt"] * commits


def test_workers_that_have_left_may_come_back_and_reports_of_what_is_not_being_made_are_not_shown():
    def worker(number, **resources):
        return f"tcp://10.0.0.2:{number}", {"resources": resources}

    joined = SimpleNamespace(capacity=cluster.Capacity(2, 1, 1, reserved=True), address="tcp://10.0.0.1:8786")
    progress = SimpleNamespace(tick=lambda: None, reported=pytest.fail)
    runner = ShardRunner(None, None, joined, progress, "run")
    runner._api_watch = SimpleNamespace(check=lambda: None)
    runner._reports.put({"stage": "amr", "shard": "sentences-00000", "done": 1, "total": 2, "by": "a worker"})
    for workers, available in ((1, (2, 1, 1)), (3, (3, 1, 3))):
        known = dict(worker(number, CPU=1) for number in range(workers))
        runner._watch = SimpleNamespace(check=lambda: None, workers=known)
        runner._step([])
        assert (runner.available.workers, runner.available.gpu, runner.available.cpu) == available


def test_a_shard_that_fails_costs_what_needs_it_and_nothing_else(on_a_cluster):
    def make(job, settings):
        if job.stage == "amr" and job.shard.endswith("0"):
            raise ValueError("no graph")

    stages = ("amr", "metrics", "later")
    chains = [[(stage, Shard(f"shard-{number}")) for stage in stages] for number in range(2)]
    work = [
        ShardWork(*key, Fingerprint("a-b"), (need,) * bool(need), (need,) * bool(need), Reason("new"))
        for keys in chains
        for need, key in zip([None, *keys], keys, strict=False)
    ]
    with on_a_cluster(make, [key for keys in chains for key in keys], lambda: dict.fromkeys(stages, 1)) as (_, runner):
        runner.run(work)
        history = runner._progress.history
        left_out = [key for key, shard in history.items() if shard.state == "left out"]
    assert [(failed.stage, failed.shard) for failed in history.failed] == chains[0][:1]
    assert left_out == chains[0][1:]
    assert {stage: len(shards) for stage, shards in history.made.items()} == dict.fromkeys(stages, 1)


def test_a_shard_whose_worker_died_is_tried_alone_after_all_others_before_it_is_blamed(
    on_a_cluster, tmp_path, monkeypatch
):
    log = tmp_path / "tried"

    def make(job, settings):
        with log.open("a") as file:
            file.write(f"{job.shard}\n")
        tried = log.read_text().split()
        if job.shard == "always" or (job.shard == "once" and tried.count("once") == 1):
            raise KilledWorker("task", SimpleNamespace(address="tcp://10.0.0.2:1"), 3)

    shards = [Shard(name) for name in ("always", "once", "never")]
    work = [ShardWork("amr", shard, Fingerprint("a-b"), (), (), Reason("new")) for shard in shards]
    taken_back = []
    with on_a_cluster(make, [("amr", shard) for shard in shards]) as (_, runner):
        monkeypatch.setattr(runner._progress, "taken_back", lambda _, shard: taken_back.append(shard))
        runner.run(work)
        history = runner._progress.history
    assert sorted(taken_back) == ["always", "once"]
    tried = log.read_text().split()
    assert sorted(tried[:3]) == sorted(shards)
    assert sorted(tried[3:]) == ["always", "once"]
    assert [failed.shard for failed in history.failed] == ["always"]
    assert [shard.shard for shard in history.made["amr"]] == ["once", "never"]
