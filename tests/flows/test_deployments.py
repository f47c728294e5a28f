"""prefect.yaml on a real server: the deployments register, the build runs, and training is triggered by its event."""

import os
import subprocess
import sys

import httpx
import pytest
import yaml

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_entrypoints_are_modules_and_named_like_their_flow(root):
    deployments = yaml.safe_load((root / "prefect.yaml").read_text())["deployments"]
    assert [(deployment["name"], deployment["entrypoint"]) for deployment in deployments] == [
        (name, f"flows.{name}.{name}") for name in ("build_features", "train_encoder", "evaluate_encoder")
    ]


def test_deployments_register_run_and_trigger(project, server, root, wait_until):
    environment = {
        **os.environ,
        "PREFECT_API_URL": server.url,
        "PREFECT_HOME": str(server.home),
        "FACETFLOW_PROJECT": str(project.folder / "facetflow.toml"),
    }

    def prefect(*words):
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *words],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def ask(path, **body):
        return httpx.post(f"{server.url}/{path}", json=body, timeout=30).raise_for_status().json()

    def deployment(name):
        return httpx.get(f"{server.url}/deployments/name/{name}/{name}").raise_for_status().json()["id"]

    def runs(identity):
        return ask("flow_runs/filter", flow_runs={"deployment_id": {"any_": [identity]}})

    project.write(10, sentences=8, per_shard=16)
    prefect("work-pool", "create", "facetflow", "--type", "process")
    prefect("deploy", "--all")
    build, train = deployment("build_features"), deployment("train_encoder")
    assert deployment("evaluate_encoder")
    assert runs(train) == []

    ask(f"deployments/{build}/create_flow_run", state={"type": "SCHEDULED"})
    prefect("worker", "start", "--pool", "facetflow", "--run-once")
    (run,) = wait_until(
        lambda: [run for run in runs(build) if run["state_type"] not in {"SCHEDULED", "PENDING", "RUNNING"}],
        "the build",
    )
    assert run["state_type"] == "COMPLETED", run["state"]["message"]
    assert run["state"]["message"].startswith("Published release 1: ")
    assert project.store.latest_release().rows["metrics"] == 20

    (triggered,) = wait_until(lambda: runs(train), "the run that the event triggers", 30)
    assert triggered["parameters"]["release"] in {1, "1"}
    assert triggered["parameters"]["project_file"] == str(project.folder / "facetflow.toml")
