"""`facetflow up` left alone: cron, build, training, evaluation, promotion."""

import json
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from generated import ENCODER, write_backbone
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    LogFilter,
    LogFilterFlowRunId,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.states import Scheduled

ANEW = httpx.Limits(max_keepalive_connections=0)
"""A connection for each request: on a slow machine, the server closes idle ones just as they are used again."""
pytestmark = [pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(2400)]

EVERY = "* * * * *"
"""Every minute: each build takes processor time from what is waited for, also where there is nothing new."""


@pytest.fixture
def up(facetflow_alone, tmp_path):
    """Return the console script of a separate user without any configuration."""
    environment = facetflow_alone.environment | {"XDG_STATE_HOME": str(tmp_path / "state")}
    command_line = type(facetflow_alone)(environment | {"PREFECT_HOME": str(tmp_path / "prefect")})
    yield command_line
    for process in command_line.left_running():
        process.kill()


@contextmanager
def ended_with_the_test(service):
    """End a process even if the test fails, instead of waiting for it forever."""
    try:
        yield
    finally:
        if service.poll() is None:
            service.terminate()


def log_of(file: str) -> str:
    return Path(file).read_text()


def client_of(url: str, state: Path) -> SyncPrefectClient:
    """Return a client of the server of `facetflow up`, which nobody else can read or do without its password.

    Prefect's own, which asks again where a busy database answers with 503.
    """
    files = [state / "password", *(state / "prefect").glob("prefect.db*")]
    assert [file.stat().st_mode & 0o777 for file in (state, *files)] == [0o700] + [0o600] * len(files)
    assert httpx.post(f"{url}/deployments/filter", json={}).status_code == 401
    password = files[0].read_text().strip()
    return SyncPrefectClient(url, auth_string=password, httpx_settings={"timeout": 60, "limits": ANEW})


def test_a_changed_corpus_becomes_an_evaluated_encoder_by_itself(project, tmp_path, up, wait_until, quick):
    other = type(project)(tmp_path / "other")
    ours = {"name": "ours", "per_shard": 32, "more": quick}
    project.write(20, **ours)
    other.write(10, name="theirs", per_shard=32, more=quick)
    state = tmp_path / "state" / "facetflow" / "up.json"
    runs = project.folder / "runs"
    project.hide_ours()
    command = [sys.executable, "-P", "-m", "flows.command_line", "up", "--cron", EVERY]
    environment = {**up.environment, "FACETFLOW_TEST_MARK": up.mark}
    with (
        (tmp_path / "up.log").open("w+") as log,
        subprocess.Popen(command, cwd=project.folder, env=environment, stdout=log, stderr=log) as service,
        ended_with_the_test(service),
    ):
        wait_until(lambda: "http" in log_of(log.name), "the server", 200)
        url = json.loads(state.read_text())["url"]  # not there while it starts
        assert url.startswith("http://127.0.0.1:")
        client = client_of(url, state.parent)  # one for all looks: making one takes longer than looking
        output = up.done(other, "up")
        assert "Added refresh/theirs, train_encoder/theirs, evaluate_encoder/theirs" in output

        def finished() -> Counter[tuple[str, str]]:
            """Count the runs that ended, by deployment and state."""
            names = {
                found.id: f"{found.entrypoint.rpartition('.')[2]}/{found.name}" for found in client.read_deployments()
            }
            seen = ["COMPLETED", "FAILED", "CRASHED", "RUNNING"]
            wanted = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=seen)))
            found = client.read_flow_runs(flow_run_filter=wanted, limit=200)
            return Counter((names[run.deployment_id], run.state_type.value) for run in found)

        def evaluated(count: int) -> bool:
            return finished()[("evaluate_encoder/ours", "COMPLETED")] >= count

        wait_until(lambda: evaluated(1), "the first evaluation", 900)
        first = (runs / "syntax" / "current").resolve()
        assert (first.name, first.parent.name[:6]) == ("seed-0", "00001-")
        assert json.loads((first / "promotion.json").read_text())["reasons"] == ["there was no current encoder"]
        code, output = up.run(project, "status")
        assert f"Current encoder syntax: syntax/{first.parent.name}/seed-0\n" in output
        assert f"`facetflow up` is running (process {service.pid}): {url.removesuffix('/api')}" in output
        builds = finished()[("refresh/ours", "COMPLETED")]
        wait_until(lambda: finished()[("refresh/ours", "COMPLETED")] > builds, "a build without news", 600)

        project.write(40, **ours)  # new rows
        wait_until(lambda: evaluated(2), "the second evaluation", 900)
        (second,) = runs.glob("syntax/00002-*/seed-0")
        verdict = json.loads((second / "promotion.json").read_text())
        assert verdict["against"] == first.relative_to(runs).as_posix()
        assert (runs / "syntax" / "current").resolve() == (second if verdict["promoted"] else first)

        done = finished()
        assert {name for name, state in done if state in {"FAILED", "CRASHED"}} == set(), Path(log.name).read_text()
        assert done[("train_encoder/ours", "COMPLETED")] == 2, "each release is trained on once"
        assert done[("evaluate_encoder/ours", "COMPLETED")] == 2
        assert not [name for name, _ in done if name.endswith("/theirs")], "the other project was left alone"
        assert not (other.folder / "runs").exists()

        code, output = up.run(project, "down")
        assert (code, output) == (0, "Stopped. Schedules rest until `facetflow up` runs again.\n")
        service.wait(120)
    wait_until(lambda: not up.left_running(), "everything to end")
    assert up.done(project, "down").startswith("Nothing to stop")


def test_a_training_whose_worker_is_killed_goes_on_by_the_next_refresh(project, tmp_path, up, wait_until):
    write_backbone(project.folder / "backbone")
    project.write(20, name="ours", per_shard=32, more=ENCODER.replace("epochs = 2", "epochs = 1000"))
    state, runs = tmp_path / "state" / "facetflow", project.folder / "runs"
    with (
        (tmp_path / "up.log").open("w+") as log,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "flows.command_line", "up"],
            cwd=project.folder,
            env={**up.environment, "FACETFLOW_TEST_MARK": up.mark},
            stdout=log,
            stderr=log,
        ) as service,
        ended_with_the_test(service),
    ):
        wait_until(lambda: "http" in log_of(log.name), "the server", 200)
        url = json.loads((state / "up.json").read_text())["url"]
        client = client_of(url, state)

        def refresh() -> None:
            deployment = client.read_deployment_by_name("refresh/ours").id
            run = client.create_flow_run_from_deployment(deployment, state=Scheduled())
            wait_until(lambda: client.read_flow_run(run.id).state_type is StateType.COMPLETED, "a refresh", 300)

        def trainings() -> list[FlowRun]:
            deployment = client.read_deployment_by_name("train_encoder/ours").id
            of_it = DeploymentFilter(id=DeploymentFilterId(any_=[deployment]))
            return client.read_flow_runs(deployment_filter=of_it, sort=FlowRunSort.EXPECTED_START_TIME_ASC)

        refresh()
        (run,) = trainings()
        wait_until(lambda: list(runs.glob("s3bert/*/seed-0/checkpoint.pt")), "a checkpoint", 300)
        for process in up.left_running():
            if any(
                word in " ".join(process.cmdline()) for word in ("prefect worker", "prefect.engine", "s3bert.train")
            ):
                process.kill()
        wait_until(lambda: trainings()[0].state_type is StateType.CRASHED, "the run to be given up", 300)
        assert len(trainings()) == 1, "by itself nothing is begun again"
        refresh()
        wait_until((runs / "s3bert" / "current").exists, "the promotion", 900)
        assert [found.state_type for found in trainings()][:1] == [StateType.CRASHED]
        assert [found.idempotency_key.rpartition(":")[::2] for found in trainings()] == [
            (run.idempotency_key.rpartition(":")[0], str(number)) for number in (0, 1)
        ]
        asked = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[trainings()[1].id]))
        lines = [line.message for line in client.read_logs(asked)]
        assert [line for line in lines if "resumed at step" in line], lines
        up.done(project, "down")
        service.wait(120)
