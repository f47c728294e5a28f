"""Deployments on a real server: by prefect.yaml and by `facetflow deploy`, of several projects, repeatedly."""

import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
import patient_http
import pytest
import yaml
from generated import ENCODER
from sentences import refused

from features.core.faults import PauseEnds
from flows.deployments import deploy, describe, next_steps
from flows.server.prefect_address import talking_to

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FLOWS = ("refresh", "train_encoder", "evaluate_encoder")


@pytest.fixture
def prefect(facetflow, root):
    """Return a function that runs Prefect's own command line in the folder of prefect.yaml."""

    def run(*words: str, project: str | None) -> "subprocess.CompletedProcess[str]":
        environment = dict(facetflow.environment)
        environment.pop("FACETFLOW_PROJECT", None)
        if project is not None:
            environment["FACETFLOW_PROJECT"] = project
        command = [sys.executable, "-m", "prefect", "--no-prompt", *words]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def deployment(server):
    """Return a function that reads a deployment from the server."""

    def read(flow: str, name: str) -> dict:
        return (
            patient_http.client.get(f"{server.address}/deployments/name/{flow}/{name}", timeout=30)
            .raise_for_status()
            .json()
        )

    return read


def written(project, name: str):
    """Write a small project of this name and return its file."""
    project.write(10, name=name, sentences=8)
    return project.folder / "facetflow.toml"


def schedules(found: dict) -> list[tuple[str, bool]]:
    return [(known["schedule"]["cron"], known["active"]) for known in found["schedules"]]


def test_entrypoints_are_modules_and_named_like_their_flow(root):
    deployments = yaml.safe_load((root / "prefect.yaml").read_text())["deployments"]
    assert [deployment["entrypoint"] for deployment in deployments] == [f"flows.{name}.{name}" for name in FLOWS]


@pytest.mark.soak
def test_prefect_yaml_deploys_a_project_under_its_name_with_the_id_of_its_store(
    project, prefect, deployment, facetflow, server
):
    file = written(project, "by-yaml")
    patient_http.client.post(f"{server.address}/work_pools/", json={"name": "facetflow", "type": "process"})
    done = prefect("deploy", "--all", project=str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    build = deployment("refresh", "by-yaml")
    assert schedules(build) == [], "nothing runs before somebody says so"
    assert build["parameters"] == {"project_file": str(file)}
    assert build["pull_steps"] == [], "the package is installed where the worker runs"
    about = f"facetflow.store.{project.store.id}"
    assert [deployment(flow, "by-yaml")["version"] for flow in FLOWS] == [about] * 3

    # `facetflow deploy` knows the same deployments, and what is on stays on, whichever way they are deployed again.
    output = facetflow.done(project, "deploy", "--cron", "7 4 * * 1")
    assert "The refresh is scheduled: cron 7 4 * * 1 UTC (on)." in output
    facetflow.done(project, "deploy")
    assert schedules(deployment("refresh", "by-yaml")) == [("7 4 * * 1", True)]
    done = prefect("deploy", "--all", project=str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert schedules(deployment("refresh", "by-yaml")) == [("7 4 * * 1", True)], "prefect.yaml keeps it too"
    assert [deployment(flow, "by-yaml")["version"] for flow in FLOWS] == [about] * 3


def test_deploying_again_keeps_time_zones_and_schedules_of_any_kind(project, deployment, server):
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import DeploymentScheduleCreate
    from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule

    file = written(project, "zoned")
    berlin = CronSchedule(cron="0 3 * * *", timezone="Europe/Berlin")
    with talking_to(server.address), get_client(sync_client=True) as client:
        deploy(file, cron="0 3 * * *")
        identity = UUID(deployment("refresh", "zoned")["id"])
        (known,) = client.read_deployment_schedules(identity)
        client.update_deployment_schedule(identity, known.id, schedule=berlin, slug="night")
        every = DeploymentScheduleCreate(schedule=IntervalSchedule(interval=timedelta(hours=6)), active=False)
        client.create_deployment_schedules(identity, [(every.schedule, False)])
        kept = {"cron 0 3 * * * Europe/Berlin (on)", "interval 6:00:00 UTC (off)"}
        assert set(deploy(file).schedules) == kept
        assert {known["slug"] for known in deployment("refresh", "zoned")["schedules"]} == {"night", None}


def test_an_unset_project_is_refused(prefect, deployment):
    done = prefect("deploy", "--all", project=None)
    assert done.returncode != 0
    assert "FACETFLOW_PROJECT is not set" in done.stdout + done.stderr
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        deployment("refresh", "{{ project.name }}")


def test_another_project_of_the_same_name_is_refused(project, facetflow, tmp_path):
    written(project, "same-name")
    facetflow.done(project, "deploy")
    other = type(project)(tmp_path / "other")
    other.folder.mkdir()
    written(other, "same-name")
    code, output = facetflow.run(other, "deploy")
    assert code == 1
    assert f"serves another project named 'same-name', of '{project.folder / 'facetflow.toml'}'" in output
    assert f"with the store 'facetflow.store.{project.store.id}'" in output

    # It is the store that counts, wherever its folder is seen: the project is moved, and its file is where it was, too.
    other.folder.joinpath("store").rename(tmp_path / "of the other")
    shutil.copytree(project.folder / "store", other.folder / "store")
    output = facetflow.done(other, "deploy")
    assert f"had 'same-name' for '{project.folder / 'facetflow.toml'}' until now" in output
    assert "until now" not in facetflow.done(other, "deploy")


def test_deployments_of_a_former_name_are_named(project, facetflow):
    written(project, "former-name")
    facetflow.done(project, "deploy")
    written(project, "later-name")
    project.store.adopt("later-name")
    output = facetflow.done(project, "deploy")
    former = "refresh/former-name, train_encoder/former-name, evaluate_encoder/former-name"
    assert f"The server still has {former} for this project file" in output
    written(project, "former-name")
    project.store.adopt("former-name")
    assert "still has refresh/later-name" in facetflow.done(project, "deploy"), "renamed back"


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ("every night", "is not a cron expression"),
        ("61 3 * * *", "is not a cron expression"),
        ("0 0 30 2 *", "never comes, because no month in it has that day"),  # Prefect takes it, and schedules nothing
        ("0 0 3 * * *", "has 6 fields instead of five"),  # Prefect builds sixty times on the third of each month
    ],
)
def test_a_wrong_schedule_is_refused(project, facetflow, cron, said):
    written(project, "wrong-schedule")
    for words in (("deploy",), ("up", "--systemd"), ("up",)):
        code, output = facetflow.run(project, *words, "--cron", cron)
        assert (code, output.count("\n")) == (1, 1)
        assert f"The schedule {cron!r} {said}: give minute, hour, day, month, weekday" in output


def test_a_paused_deployment_does_not_count_as_scheduled_until_a_schedule_is_given(project, deployment, server):
    from prefect.client.orchestration import get_client

    file = written(project, "paused")
    with talking_to(server.address), get_client(sync_client=True) as client:
        assert deploy(file, cron="0 3 * * *").schedules == ("cron 0 3 * * * UTC (on)",)
        client.pause_deployment(deployment("refresh", "paused")["id"])  # the switch on Prefect's page
        assert deploy(file).schedules == ("cron 0 3 * * * UTC (off: the deployment is paused)",)
        with refused(PauseEnds):
            describe(str(file))
        assert deploy(file, cron="0 4 * * *").schedules == ("cron 0 4 * * * UTC (on)",)
        assert not deployment("refresh", "paused")["paused"]


def test_each_pool_that_an_encoder_names_has_deployments_and_needs_a_worker(project, facetflow, deployment):
    project.write(10, name="pooled", sentences=8, more=ENCODER + 'pool = "gpu"\n')
    output = facetflow.done(project, "deploy")
    assert "train_encoder/pooled@gpu, evaluate_encoder/pooled@gpu at" in output
    assert "prefect worker start --pool facetflow and prefect worker start --pool gpu" in output
    pools = [deployment(flow, name)["work_pool_name"] for flow in FLOWS[1:] for name in ("pooled", "pooled@gpu")]
    assert pools == ["facetflow", "gpu"] * 2


def test_a_pool_that_the_server_refuses_is_one_sentence(project, facetflow):
    written(project, "refused-pool")
    code, output = facetflow.run(project, "deploy", "--pool", "prefect-mine")
    assert (code, output.count("\n")) == (1, 1)
    assert "did not register the project 'refused-pool' (" in output


@pytest.mark.parametrize("command", ["deploy", "build"])
def test_a_server_that_asks_for_another_password_is_told(project, facetflow, facetflow_alone, command):
    written(project, "stranger")
    stranger = type(facetflow_alone)({**facetflow.environment, "PREFECT_API_AUTH_STRING": "facetflow:wrong"})
    code, output = stranger.run(project, command)
    assert (code, output.count("\n")) == (1, 1)
    assert "asks for another password or key: set PREFECT_API_AUTH_STRING to its `name:password`" in output


def test_without_a_server_it_is_said_where_to_get_one(project, facetflow_alone, tmp_path):
    written(project, "alone")
    alone = type(facetflow_alone)({**facetflow_alone.environment, "XDG_STATE_HOME": str(tmp_path)})
    code, output = alone.run(project, "deploy")
    assert code == 1
    assert "No Prefect server is configured: run `facetflow up`" in output


def test_what_is_missing_for_a_build_to_run_by_itself_is_said():
    from flows.deployments import Deployed

    assert "no schedule yet" in next_steps(Deployed((), ()), None)
    assert "prefect worker start --pool 'of mine'" in next_steps(Deployed((), ("cron 0 3 * * * (on)",)), "of mine")


def test_a_schedule_unit_runs_the_same_command(tmp_path, monkeypatch):
    from flows.server.services import systemd_unit

    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "FACETFLOW_MODELS", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    unit = systemd_unit(tmp_path / "50% of it" / "facetflow.toml", ["--cron", "0 3 * * *"])
    (command,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    assert command.endswith(f'"up" "--project" "{tmp_path}/50%% of it/facetflow.toml" "--cron" "0 3 * * *"')
    assert Path(command.split('"')[1]) == Path(sys.executable)
    assert "SuccessExitStatus=143" in unit.splitlines(), "`facetflow down` ends it, and systemd must not start it again"


def test_a_schedule_unit_passes_dollars_on(tmp_path):
    from flows.server.services import systemd_unit

    unit = systemd_unit(tmp_path / "$HOME" / 'a "name"\nExecStop=x', [])
    assert f'"--project" "{tmp_path}/$$HOME/a \\"name\\"\\nExecStop=x"' in unit


def test_a_schedule_unit_keeps_state_and_models_where_they_are(tmp_path, monkeypatch):
    from flows.server.services import systemd_unit

    monkeypatch.setenv("XDG_STATE_HOME", "/data/50% of it")
    assert 'ExecStart="/usr/bin/env" "XDG_STATE_HOME=/data/50%% of it" ' in systemd_unit(
        tmp_path / "facetflow.toml", []
    )
