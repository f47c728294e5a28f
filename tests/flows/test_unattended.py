"""`facetflow up` left alone: cron builds, training after a release, evaluation, promotion."""

import json
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

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


def password_of(url: str, state: Path) -> tuple[str, ...]:
    """Return name and password of the server of `facetflow up`, which nobody else can read or do without."""
    files = [state / "password", *(state / "prefect").glob("prefect.db*")]
    assert [file.stat().st_mode & 0o777 for file in (state, *files)] == [0o700] + [0o600] * len(files)
    assert httpx.post(f"{url}/deployments/filter", json={}).status_code == 401
    return tuple(files[0].read_text().strip().split(":"))


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
        httpx.Client(timeout=60) as client,  # one for all looks: making one takes longer than looking
    ):
        wait_until(lambda: "http" in log_of(log.name), "the server", 200)
        url = json.loads(state.read_text())["url"]  # not there while it starts
        assert url.startswith("http://127.0.0.1:")
        client.auth = password_of(url, state.parent)
        code, output = up.run(other, "up")
        assert code == 0, output
        assert "Added build_features/theirs, train_encoder/theirs, evaluate_encoder/theirs" in output

        def finished() -> Counter[tuple[str, str]]:
            """Count the runs that ended, by deployment and state."""
            names = {
                found["id"]: f"{found['entrypoint'].rpartition('.')[2]}/{found['name']}"
                for found in client.post(f"{url}/deployments/filter", json={}).json()
            }
            wanted = {"state": {"type": {"any_": ["COMPLETED", "FAILED", "CRASHED", "RUNNING"]}}}
            found = client.post(f"{url}/flow_runs/filter", json={"flow_runs": wanted, "limit": 200}).json()
            return Counter((names[run["deployment_id"]], run["state_type"]) for run in found)

        def evaluated(count: int) -> bool:
            return finished()[("evaluate_encoder/ours", "COMPLETED")] >= count

        wait_until(lambda: evaluated(1), "the first evaluation", 400)
        first = (runs / "syntax" / "current").resolve()
        assert (first.name, first.parent.name[:6]) == ("seed-0", "00001-")
        assert json.loads((first / "promotion.json").read_text())["reasons"] == ["there was no current encoder"]
        code, output = up.run(project, "status")
        assert f"Current encoder syntax: syntax/{first.parent.name}/seed-0\n" in output
        assert f"`facetflow up` is running (process {service.pid}): {url.removesuffix('/api')}" in output
        builds = finished()[("build_features/ours", "COMPLETED")]
        wait_until(lambda: finished()[("build_features/ours", "COMPLETED")] > builds, "a build without news", 240)

        project.write(40, **ours)  # new rows
        wait_until(lambda: evaluated(2), "the second evaluation", 400)
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
        service.wait(30)
    wait_until(lambda: not up.left_running(), "everything to end", 20)
    assert up.run(project, "down")[1] == "Nothing to stop: `facetflow up` is not running for this user.\n"
