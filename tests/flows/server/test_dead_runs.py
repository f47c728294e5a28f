"""Runs whose process is gone release their slot, and the work they had begun starts again."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.states import Crashed, Failed, Pending, Running

from flows.deployments import deploy
from flows.server.dead_runs import ATTEMPTS, AUTOMATION, begin_again, mark_dead_runs
from flows.server.prefect_address import talking_to
from flows.server.stopped_runs import go_on

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def client(server):
    with talking_to(server.address), get_client(sync_client=True) as client:
        yield client


@pytest.fixture
def deployed(client, project, tmp_path):
    """Deploy a project, and return its name and a function that returns the id of a deployment."""
    name = f"dead-{tmp_path.name}".replace("_", "-")
    project.write(10, name=name)
    deploy(project.folder / "facetflow.toml")
    return name, lambda flow: client.read_deployment_by_name(f"{flow}/{name}").id


def begun(client, deployment: UUID, *states, **parameters):
    """Create a run of a deployment that went through some states, and return it."""
    run = client.create_flow_run_from_deployment(deployment, parameters=parameters)
    for state in states:
        client.set_flow_run_state(run.id, state)
    return client.read_flow_run(run.id)


def test_a_run_that_went_with_its_machine_gives_its_place_to_the_next_build(client, deployed):
    _, id_of = deployed
    build = id_of("build_features")
    dead = begun(client, build, Pending(), Running())
    assert dead.state.is_running()
    assert begun(client, build, Pending()).state.name == "AwaitingConcurrencySlot", "it would wait for ever"
    assert dead.name in mark_dead_runs(worker_runs=True)
    found = client.read_flow_run(dead.id).state
    assert (found.is_crashed(), found.message) == (True, "Its process is gone.")
    assert begun(client, build, Pending()).state.is_pending()


def test_a_run_whose_process_lives_is_left_alone_and_a_pending_one_while_a_worker_runs(client, deployed):
    _, id_of = deployed
    living = begun(client, id_of("train_encoder"), Pending(), Running())
    pending = begun(client, id_of("evaluate_encoder"), Pending())
    environment = {**os.environ, "PREFECT__FLOW_RUN_ID": str(living.id)}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment) as process:
        assert not {living.name, pending.name} & set(mark_dead_runs(worker_runs=True))
        assert pending.name in mark_dead_runs(worker_runs=False), "nobody is about to start it"
        assert client.read_flow_run(living.id).state.is_running()
        process.kill()
        process.wait()
        assert living.name in mark_dead_runs(worker_runs=True)


def test_a_training_that_crashed_or_failed_is_begun_again_but_not_for_ever(client, deployed, capsys):
    name, id_of = deployed
    training = id_of("train_encoder")

    def runs():
        return [run for run in client.read_flow_runs(limit=200) if run.deployment_id == training]

    begun(client, training, Pending(), Running(), Crashed(), release=1)
    begin_again(name)
    assert len(runs()) == 2
    assert capsys.readouterr().err == "train_encoder (release 1) ended without a result and is started again.\n"
    begin_again(name)
    assert len(runs()) == 2, "one waits"
    (waiting,) = (run for run in runs() if run.state.is_scheduled())
    assert waiting.parameters["release"] == 1
    for attempt in range(2, ATTEMPTS + 2):
        for run in runs():
            if not run.state.is_final():
                client.set_flow_run_state(run.id, Failed(), force=True)
        left = begin_again(name)
        assert len(runs()) == min(attempt + 1, ATTEMPTS)
        assert [(flow, parameters["release"]) for flow, parameters in left] == (
            [("train_encoder", 1)] if attempt >= ATTEMPTS else []
        )


def test_what_was_completed_since_is_not_begun_again(client, deployed):
    from prefect.states import Completed

    name, id_of = deployed
    training = id_of("train_encoder")
    begun(client, training, Pending(), Running(), Crashed(), release=1)
    begun(client, training, Pending(), Running(), Failed(), release=2)
    begun(client, training, Pending(), Running(), Completed(), release=3)
    begin_again(name)
    assert len([run for run in client.read_flow_runs(limit=200) if run.deployment_id == training]) == 3
    begin_again("a-project-that-is-not-deployed")


def test_an_evaluation_is_begun_again_although_that_of_another_encoder_was_completed(client, deployed, capsys):
    from prefect.states import Completed

    name, id_of = deployed
    evaluation = id_of("evaluate_encoder")
    for state, run in (
        (Crashed(), "product/00001-a/seed-0"),
        (Crashed(), "product/00001-a/seed-1"),
        (Crashed(), "cause/00001-b/seed-0"),
        (Completed(), "cause/00002-c/seed-0"),
        (Completed(), "product/00001-a/seed-1"),
    ):
        begun(client, evaluation, Pending(), Running(), state, name=run)
    begin_again(name)
    restarted = "evaluate_encoder (product/00001-a/seed-0) ended without a result and is started again.\n"
    assert capsys.readouterr().err == restarted


def test_a_training_on_an_older_release_is_not_begun_again(client, deployed, capsys):
    name, id_of = deployed
    training = id_of("train_encoder")
    begun(client, training, Pending(), Running(), Crashed(), release=1)
    begin_again(name, newest=2)
    assert capsys.readouterr().err == ""
    begin_again(name, newest=1)
    assert "train_encoder (release 1) ended without a result" in capsys.readouterr().err


def test_any_server_is_told_once_what_a_run_without_a_heartbeat_is(client, deployed, project):
    deploy(project.folder / "facetflow.toml")
    (automation,) = client.read_automations_by_name(AUTOMATION)
    assert automation.trigger.after == {"prefect.flow-run.heartbeat"}
    assert automation.trigger.match_related.get("prefect.resource.name") == [
        "build_features",
        "train_encoder",
        "evaluate_encoder",
    ]
    assert automation.actions[0].state.value == "CRASHED"


def test_what_an_orderly_stop_ended_goes_on_and_is_no_attempt(client, deployed):
    name, id_of = deployed
    training, evaluation, build = (id_of(flow) for flow in ("train_encoder", "evaluate_encoder", "build_features"))
    before = begun(client, evaluation, Pending(), Running(), Failed(), name="a/00001-a/seed-0")
    since = datetime.now(UTC)
    running = begun(client, training, Pending(), Running(), release=1)
    told = begun(client, evaluation, Pending(), Running(), Crashed(), name="b/00001-b/seed-0")
    built = begun(client, build, Pending(), Running())
    for _ in range(ATTEMPTS + 1):
        went_on = go_on(since)
        assert f"train_encoder {running.name!r}" in went_on
        assert f"evaluate_encoder {told.name!r}" in went_on
        assert not [run for run in (before.name, built.name) if repr(run) in " ".join(went_on)]
        for run in (running, told):
            assert client.read_flow_run(run.id).state.name == "AwaitingRetry"
            client.set_flow_run_state(run.id, Pending())
            assert client.set_flow_run_state(run.id, Running()).state.is_running(), "its slot was given back"
    assert mark_dead_runs(worker_runs=False)
    assert begin_again(name) == [], "one attempt each"
