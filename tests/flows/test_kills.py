"""Processes that are killed in the middle of a build: nothing is lost, duplicated, or left running."""

import json
import signal
from collections import Counter

import pytest

from features.core.errors import FacetflowError
from features.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def in_the_middle(project):
    """Return whether some shards of the project are committed and others are not."""
    try:
        store = Store.open(project.folder / "store")
        return bool(store.committed("amr")) and len(store.committed("metrics")) < len(store.committed("pairs"))
    except FacetflowError:  # the store is just being made
        return False


def assert_same_rows(project, built):
    for name, rows in project.tables().items():
        assert rows.equals(built.tables()[name]), name


@pytest.mark.soak
def test_a_killed_worker_costs_nothing(project, built, facetflow, wait_until, workers):
    project.write(60, sentences=8, per_shard=8, workers=2)
    with facetflow.start(project, "build") as build:
        wait_until(lambda: in_the_middle(project), "the first commit of graphs")
        victim = workers(build.pid)[0]
        victim.kill()
        output, _ = build.communicate(timeout=400)
    assert build.returncode == 0, output
    assert "Traceback" not in output
    assert_same_rows(project, built)


@pytest.mark.soak
def test_a_killed_build_goes_on_where_it_was(project, built, facetflow_alone, wait_until):
    project.write(60, sentences=8, per_shard=8)
    with facetflow_alone.start(project, "build") as build:
        wait_until(lambda: in_the_middle(project), "the first commit of graphs")
        build.kill()
        build.communicate(timeout=400)
    wait_until(lambda: not facetflow_alone.left_running(), "server and workers to follow the killed flow")
    assert in_the_middle(project), "the kill came in the middle"
    assert "killed: process " in facetflow_alone.done(project, "status")
    kept = {name: project.store.committed(name) for name in ("amr", "label_vectors", "metrics")}

    facetflow_alone.done(project, "build")
    made = project.store.runs()[0].made
    assert made.get("metrics", 0) == 16 - len(kept["metrics"]), "what was committed is not made again"
    assert made.get("amr", 0) == 8 - len(kept["amr"])
    assert_same_rows(project, built)
    assert [record.state for record in project.store.runs()] == ["done", "running"]
    pages = sorted((project.folder / "runs" / "builds").glob("*/build.html"))
    assert ["Killed." in page.read_text() for page in pages] == [True, False]
    killed = json.loads((pages[0].parent / "build.json").read_text())
    committed = Counter(shard["stage"] for shard in killed["shards"] if shard["state"] == "committed")
    assert committed == {name: len(shards) for name, shards in kept.items() if shards}
    wait_until(lambda: not facetflow_alone.left_running(), "server and workers to end")


@pytest.mark.soak
def test_a_build_that_is_asked_to_end_stops_all_it_started(project, facetflow_alone, wait_until):
    project.write(60, sentences=8, per_shard=8)
    with facetflow_alone.start(project, "build") as build:
        wait_until(lambda: in_the_middle(project), "the first commit of graphs")
        build.send_signal(signal.SIGTERM)
        output, _ = build.communicate(timeout=400)
    assert build.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in output
    record = project.store.runs()[0]
    assert record.state == "interrupted"
    assert record.message.startswith("Interrupted by SIGTERM; what was committed is kept")
    wait_until(lambda: not facetflow_alone.left_running(), "server and workers to end")


@pytest.mark.soak
def test_a_shard_that_kills_its_workers_is_given_up(project, build_with):
    """One shard always kills its worker; its neighbours on that worker are not blamed."""
    project.write(20, sentences=8, per_shard=8)
    record = build_with(
        project,
        """
        @task(persist_result=False)
        def deadly(job, settings):
            import os, signal
            from tasks.shard import make_shard
            if job.stage == "amr" and job.shard == "sentences-00001":
                os.kill(os.getpid(), signal.SIGKILL)
            return make_shard(job, settings)

        run_shards.MAKE_SHARD = deadly
        # One death is enough here: a worker takes seconds to come back.
        cluster.DASK["distributed.scheduler.allowed-failures"] = 0
        """,
    )
    assert [(shard.stage, shard.shard) for shard in record.failed] == [("amr", "sentences-00001")]
    assert record.failed[0].error.startswith("it killed every worker it was given to")
    assert record.made["amr"] == len(project.store.committed("sentences")) - 1
    assert (record.state, record.release) == ("partly", None)


@pytest.mark.soak
def test_a_worker_whose_gpu_failed_ends_and_a_new_one_makes_its_shards(project, build_with):
    project.write(20, sentences=8, per_shard=8)
    record = build_with(
        project,
        """
        @task(persist_result=False)
        def unlucky(job, settings):
            from pathlib import Path
            from unittest.mock import Mock
            import torch
            from tasks import shard
            failed = Path(job.store).parent / "failed"
            if job.stage == "amr" and not failed.exists():
                failed.touch()
                lost = torch.AcceleratorError("CUDA error: unspecified launch failure")
                shard.STAGES = {**shard.STAGES, "amr": Mock(make=Mock(side_effect=lost))}
            return shard.make_shard(job, settings)

        run_shards.MAKE_SHARD = unlucky
        """,
    )
    assert (project.folder / "failed").exists()
    assert (record.state, record.failed) == ("done", ())
