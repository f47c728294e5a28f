"""Events that a server received but did not act on, because it was killed in between: the next build acts on them."""

import json
from datetime import timedelta

import pytest
from prefect.client.orchestration import get_client

from flows import project as projects
from flows.deployments import deploy
from flows.server import unanswered_events
from flows.server.announcing import intend
from flows.server.events import announce_pending, encoder_record, release_record
from flows.server.prefect_address import talking_to
from flows.server.unanswered_events import begin_unanswered

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def client(server):
    with talking_to(server.address), get_client(sync_client=True) as client:
        yield client


@pytest.fixture
def settings(built, tmp_path):
    """A project with a release, whose name is new to the server of the session."""
    name = f"lost-{tmp_path.name}".replace("_", "-")
    built.write(60, name=name, sentences=8, per_shard=8)
    built.store.adopt(name)
    return projects.load(built.folder / "facetflow.toml")


def runs_of(client, flow, settings):
    deployment = client.read_deployment_by_name(f"{flow}/{settings.name}").id
    return [run for run in client.read_flow_runs(limit=200) if run.deployment_id == deployment]


def announce_release(settings, store):
    intend(release_record(store, 1))
    assert announce_pending(settings, store) == ""


def test_a_training_that_a_killed_server_never_began_is_begun_once(
    client, settings, built, wait_until, monkeypatch, capsys
):
    deploy(built.folder / "facetflow.toml")

    def runs():
        return runs_of(client, "train_encoder", settings)

    announce_release(settings, built.store)
    (begun,) = wait_until(runs, "the trigger")
    begin_unanswered(settings, built.store)
    client.delete_flow_run(begun.id)  # as if the server had been killed before it looked at its triggers
    capsys.readouterr()
    begin_unanswered(settings, built.store)
    assert runs() == [], "the server may still be about to look"

    monkeypatch.setattr(unanswered_events, "PATIENCE", timedelta(0))
    (automation,) = client.read_automations_by_name(f"facetflow.features.committed of {settings.name}")
    client.pause_automation(automation.id)
    begin_unanswered(settings, built.store)
    assert runs() == [], "whoever paused the trigger does not want it"
    client.resume_automation(automation.id)
    for _ in range(2):
        begin_unanswered(settings, built.store)
    (lost,) = runs()
    assert lost.parameters == begun.parameters
    assert capsys.readouterr().err == (
        "train_encoder (release 1) was not started although the server has the event; it is started now.\n"
    )


def test_what_was_announced_before_there_was_a_deployment_is_not_begun(client, settings, built, monkeypatch):
    monkeypatch.setattr(unanswered_events, "PATIENCE", timedelta(0))
    announce_release(settings, built.store)
    begin_unanswered(settings, built.store)
    deploy(built.folder / "facetflow.toml")
    of_another_version = settings.runs / "old" / "00000-aaaaaa" / "seed-0"
    (of_another_version / "encoder").mkdir(parents=True)
    (of_another_version / "encoder" / "training.json").write_text("{}")
    (of_another_version / "train.json").write_text("{}")
    (of_another_version / "announcement.json").write_text('{"state": "announced"}')
    begin_unanswered(settings, built.store)
    assert runs_of(client, "train_encoder", settings) == []


def test_an_evaluation_is_begun_also_where_a_newer_release_left_its_encoder_alone(
    client, settings, built, wait_until, monkeypatch, capsys
):
    deploy(built.folder / "facetflow.toml")

    def runs():
        return runs_of(client, "evaluate_encoder", settings)

    run = settings.runs / "syntax" / "00000-aaaaaa" / "seed-0"  # the newest release is 1
    (run / "encoder").mkdir(parents=True)
    (run / "encoder" / "training.json").write_text("{}")
    job = {"source": {"store": "s", "release": 0}, "settings": {"kind": "s3bert"}, "output": str(run)}
    (run / "train.json").write_text(json.dumps(job))
    intend(encoder_record(run))
    assert announce_pending(settings, built.store) == ""
    (begun,) = wait_until(runs, "the trigger")
    client.delete_flow_run(begun.id)  # as if the server had been killed before it looked at its triggers
    monkeypatch.setattr(unanswered_events, "PATIENCE", timedelta(0))
    capsys.readouterr()
    begin_unanswered(settings, built.store)
    (lost,) = runs()
    assert lost.parameters == begun.parameters
    assert capsys.readouterr().err == (
        "evaluate_encoder (run syntax/00000-aaaaaa/seed-0) was not started although the server has the event; it is "
        "started now.\n"
    )
