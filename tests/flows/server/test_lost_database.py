"""A server of `facetflow up` that lost its database, or takes long to restart: `up` goes on, and so do schedules."""

import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound

from flows.deployments import deploy_lost
from flows.server import up_record
from flows.server.prefect_address import talking_to
from tests.flows.server.conftest import Server, serving


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "state" / "facetflow"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.soak
def test_projects_of_all_folders_are_registered_again_with_their_schedules(project, tmp_path, state, capsys):
    files = []
    for name in ("ours", "theirs", "gone"):
        other = type(project)(tmp_path / name)
        other.folder.mkdir()
        other.write(10, name=name)
        files.append(other.folder / "facetflow.toml")
        up_record.record_project(files[-1], "0 3 * * *" if name == "ours" else None)
    up_record.record_project(files[0], None)
    files[2].unlink()
    # Prefect's client asks again where SQLite was busy for a moment.
    with serving(state) as server, talking_to(server.address), get_client(sync_client=True) as client:
        deploy_lost()
        said = capsys.readouterr().err
        assert "The server has lost its projects; registered again: refresh/ours, train_encoder/ours" in said
        assert "registered again: refresh/theirs" in said
        assert said.count("The refresh is scheduled") == said.count("The refresh has no schedule yet") == 1
        assert f"has lost the project {str(files[2])!r}, and it cannot be registered again: " in said
        (schedule,) = client.read_deployment_by_name("refresh/ours").schedules
        assert (schedule.schedule.cron, schedule.active) == ("0 3 * * *", True)
        client.delete_work_pool("facetflow")
        deploy_lost()
        assert "has lost its projects; registered again: refresh/ours" in capsys.readouterr().err
        theirs = client.read_deployment_by_name("refresh/theirs")
        assert theirs.work_pool_name == "facetflow"
        assert theirs.schedules == []
        client.delete_deployment(theirs.id)
        deploy_lost()
        said = capsys.readouterr().err
        assert f"The server lacks the project {str(files[1])!r}: `facetflow up --project " in said
        assert "ours" not in said
        with pytest.raises(ObjectNotFound):
            client.read_deployment_by_name("refresh/theirs")


def test_a_project_that_was_moved_is_not_missed(tmp_path, state, monkeypatch, capsys):
    (tmp_path / "right here.toml").touch()
    for name in ("right here.toml", "before.toml"):
        up_record.record_project(tmp_path / name, None)
    monkeypatch.setattr("flows.deployments._project_files", lambda: {str(tmp_path / "other.toml")})
    deploy_lost()
    (line,) = capsys.readouterr().err.splitlines()
    file = tmp_path / "right here.toml"
    assert line == f"The server lacks the project '{file}': `facetflow up --project '{file}'` registers it again."


@pytest.mark.parametrize("silences", [0, 4])
def test_up_outlives_a_server_that_ends_often_and_takes_long_to_be_restarted(silences, keep_running, capsys):
    events = []

    class Ending(Server):
        """A server that ends seven times in a row, and then answers after some silences."""

        def ended(self):
            return events.count("restart") < 7

        def wait_until_ready(self):
            assert not events, "its start is awaited, its restarts are not"

        def restart(self):
            events.append("restart")

        def stop(self):
            events.append("stop")

    def answers(*_, **__):
        if events.count("restart") < 7:
            return False
        events.append("answer" if events.count("silence") == silences else "silence")
        if events.count("answer") > 1:
            raise KeyboardInterrupt
        return events[-1] == "answer"

    keep_running(Ending(), on_restart=lambda: events.append("healed"), answers=answers, _PAUSE=0.0)
    assert events.count("restart") == 7
    assert events.count("healed") == 1
    assert events.index("healed") == events.index("answer") + 1
    assert "because that happens often" in capsys.readouterr().err
