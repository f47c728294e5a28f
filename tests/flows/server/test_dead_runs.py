"""Runs whose process is gone release their slot, and those that `up` ended go on when it runs again."""

import os
import subprocess
import sys
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.events import Posture
from prefect.states import Cancelled, Cancelling, Completed, Crashed, Failed, Pending, Running

from features.core.errors import RunError
from flows.deployments import deploy
from flows.server.dead_runs import AUTOMATION, mark_dead_runs, schedule_again
from flows.server.prefect_address import talking_to

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


def test_a_run_that_went_with_its_machine_gives_its_place_to_the_next_refresh(client, deployed):
    _, id_of = deployed
    refresh = id_of("refresh")
    dead = begun(client, refresh, Pending(), Running())
    assert dead.state.is_running()
    assert begun(client, refresh, Pending()).state.name == "AwaitingConcurrencySlot", "it would wait for ever"
    assert dead.name in mark_dead_runs(worker_runs=True)
    found = client.read_flow_run(dead.id).state
    assert (found.is_crashed(), found.message) == (True, "Its process is gone.")
    assert begun(client, refresh, Pending()).state.is_pending()


def test_a_run_whose_process_lives_is_left_alone_and_what_workers_see_to_while_one_runs(client, deployed):
    _, id_of = deployed
    living = begun(client, id_of("train_encoder"), Pending(), Running())
    pending = begun(client, id_of("evaluate_encoder"), Pending())
    cancelling = begun(client, id_of("refresh"), Pending(), Running(), Cancelling())
    by_hand = client.create_flow_run(Flow(len, name="by hand"), state=Running())  # perhaps on another machine
    environment = {**os.environ, "PREFECT__FLOW_RUN_ID": str(living.id)}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment) as process:
        assert not {living.name, pending.name, cancelling.name} & set(mark_dead_runs(worker_runs=True))
        assert {pending.name, cancelling.name} <= set(mark_dead_runs(worker_runs=False)), "no worker sees to them"
        assert client.read_flow_run(living.id).state.is_running()
        process.kill()
        process.wait()
        assert living.name in mark_dead_runs(worker_runs=True)
    assert client.read_flow_run(by_hand.id).state.is_running()


def test_a_run_that_is_deleted_meanwhile_does_not_end_up(client, deployed, monkeypatch):
    _, id_of = deployed
    run = begun(client, id_of("refresh"), Pending(), Running())
    monkeypatch.setattr("flows.server.dead_runs.runs_of_processes", lambda: {client.delete_flow_run(run.id)})
    with pytest.raises(RunError) as told:  # and `up` asks again
        mark_dead_runs(worker_runs=True)
    assert "404" in str(told.value)


def test_a_run_that_ends_meanwhile_stays_as_it_ended(client, deployed, monkeypatch):
    _, id_of = deployed
    run = begun(client, id_of("refresh"), Pending(), Running())
    ended = lambda: [client.set_flow_run_state(run.id, Completed())]  # noqa: E731
    monkeypatch.setattr("flows.server.dead_runs.runs_of_processes", ended)
    assert run.name not in mark_dead_runs(worker_runs=True)


def test_any_server_is_told_once_what_a_run_without_a_heartbeat_is(client, deployed, project, monkeypatch):
    monkeypatch.setattr("flows.server.dead_runs.SILENCE", 700)
    deploy(project.folder / "facetflow.toml")
    (automation,) = client.read_automations_by_name(AUTOMATION)
    trigger = automation.trigger
    assert trigger.after == {"prefect.flow-run.heartbeat"}
    ends = {f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed")}
    assert trigger.expect == trigger.after | ends
    assert trigger.for_each == {"prefect.resource.id"}
    assert (trigger.posture, trigger.within) == (Posture.Proactive, timedelta(seconds=700))
    assert trigger.match_related.get("prefect.resource.name") == ["refresh", "train_encoder", "evaluate_encoder"]
    assert automation.actions[0].state.value == "CRASHED"


def test_what_an_orderly_stop_ended_goes_on_as_the_same_run(client, deployed):
    _, id_of = deployed
    refresh = begun(client, id_of("refresh"), Pending(), Running())
    training = begun(client, id_of("train_encoder"), Pending(), Running(), Crashed())
    failed = begun(client, id_of("evaluate_encoder"), Pending(), Running(), Failed())
    done = begun(client, id_of("train_encoder"), Pending(), Running(), Completed())
    left = [done, *(begun(client, id_of("train_encoder"), state) for state in (Cancelled(), Cancelling()))]
    assert sorted(schedule_again({run.id for run in (refresh, training, failed, *left)})) == sorted(
        (refresh.name, training.name, failed.name)
    )
    for run in (refresh, training, failed):
        assert client.read_flow_run(run.id).state.name == "AwaitingRetry"
        client.set_flow_run_state(run.id, Pending())
        assert client.set_flow_run_state(run.id, Running()).state.is_running(), "its slot was given back"


def test_a_run_that_the_server_has_lost_keeps_no_other_from_going_on(client, deployed):
    _, id_of = deployed
    refresh = begun(client, id_of("refresh"), Pending(), Running())
    assert schedule_again({uuid4(), refresh.id}) == [refresh.name]
