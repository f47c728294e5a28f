"""An event is announced until a server has it, and only once, despite kills and unreachable servers."""

import json
import os
import uuid

import patient_http
import pytest

from features.core.errors import RunError, StoreError
from flows.server.announcing import Announcement, announce, intend, is_pending
from flows.server.passwords import shown
from flows.server.prefect_address import configured_api, somebody_listens, talking_to

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def announcement(tmp_path) -> Announcement:
    about = f"facetflow.store.{uuid.uuid4()}"
    return Announcement(tmp_path / "record.json", "facetflow.test", "1", {"prefect.resource.id": about}, {"release": 1})


@pytest.fixture
def listening(server):
    """Use the server of the session, and return a function that returns its events of an announcement."""

    def events(announcement: Announcement) -> list[dict[str, object]]:
        about = {"resource": {"id": [announcement.resource["prefect.resource.id"]]}}
        return (
            patient_http.client.post(f"{server.address}/events/filter", json={"filter": about})
            .raise_for_status()
            .json()["events"]
        )

    with talking_to(server.address):
        yield events


def state(announcement: Announcement) -> str:
    return json.loads(announcement.record.read_text())["state"]


def test_what_was_not_intended_is_not_announced(announcement):
    assert not is_pending(announcement.record)
    assert not announce(announcement, heard=True)
    assert not announcement.record.exists()


def test_without_a_server_nobody_hears_of_it_and_nobody_will(announcement):
    intend(announcement.record)
    assert not announce(announcement, heard=False)
    assert state(announcement) == "unheard"
    assert not is_pending(announcement.record)


@pytest.mark.slow
def test_an_event_is_sent_once(announcement, listening):
    intend(announcement.record)
    assert announce(announcement, heard=True)
    assert (state(announcement), len(listening(announcement))) == ("announced", 1)
    intend(announcement.record)
    assert not announce(announcement, heard=True)
    assert listening(announcement)[0]["payload"] == {"release": 1}


@pytest.mark.slow
def test_a_process_that_dies_before_it_wrote_down_what_it_sent_sends_nothing_twice(announcement, listening):
    intend(announcement.record)
    announce(announcement, heard=True)
    announcement.record.write_text('{"state": "pend')  # cut off in the middle
    assert is_pending(announcement.record)
    assert not announce(announcement, heard=True), "the server has it"
    assert (state(announcement), len(listening(announcement))) == ("announced", 1)


@pytest.mark.slow
def test_a_server_that_is_away_gets_the_event_later(announcement, listening, monkeypatch):
    from prefect.settings import PREFECT_API_URL, temporary_settings

    monkeypatch.setenv("PREFECT_CLIENT_MAX_RETRIES", "0")
    intend(announcement.record)
    with (
        temporary_settings({PREFECT_API_URL: "http://user:secret@127.0.0.1:9/api"}),
        pytest.raises(RunError, match=r"The Prefect server at http://127\.0\.0\.1:9/api did not confirm the event"),
    ):
        announce(announcement, heard=True)
    assert state(announcement) == "pending"
    assert announce(announcement, heard=True)
    assert len(listening(announcement)) == 1


def test_an_answer_that_is_none_leaves_the_event_pending(announcement, monkeypatch):
    def error_page(*_):
        raise ValueError("Invalid JSON: expected value at line 1")

    monkeypatch.setattr("flows.server.announcing._shown_by", error_page)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    intend(announcement.record)
    with pytest.raises(RunError, match="did not confirm the event"):
        announce(announcement, heard=True)
    assert state(announcement) == "pending"


def test_an_address_is_shown_without_its_password():
    assert shown("http://ada:secret@10.0.0.1:4200/api") == "http://10.0.0.1:4200/api"
    assert shown("http://127.0.0.1:4200/api") == "http://127.0.0.1:4200/api"


@pytest.fixture
def nothing_configured(monkeypatch, tmp_path):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("nothing_configured")
def test_the_server_of_the_environment_comes_first_and_an_empty_one_means_none(monkeypatch):
    assert configured_api() is None
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    assert configured_api() == "http://127.0.0.1:4200/api"
    monkeypatch.setenv("PREFECT_API_URL", "")
    assert configured_api() is None


def test_the_server_of_a_prefect_profile_counts(tmp_path):
    import subprocess
    import sys

    (tmp_path / "profiles.toml").write_text(
        'active = "ours"\n[profiles.ours]\nPREFECT_API_URL = "http://127.0.0.1:4201/api"\n'
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from flows.server.prefect_address import configured_api; print(configured_api())",
        ],
        env={**environment, "PREFECT_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout == "http://127.0.0.1:4201/api\n"


@pytest.mark.usefixtures("nothing_configured")
def test_a_server_that_is_gone_but_was_written_down_does_not_count(tmp_path):
    (tmp_path / "state" / "facetflow").mkdir(parents=True)
    (tmp_path / "state" / "facetflow" / "up.json").write_text('{"process": 1, "url": "http://127.0.0.1:9/api"}')
    assert configured_api() is None


def test_nobody_listens_to_a_private_server(monkeypatch):
    assert somebody_listens()
    monkeypatch.setenv("FACETFLOW_PRIVATE_SERVER", "1")
    assert not somebody_listens()


def test_what_is_made_again_under_its_name_is_announced_again(tmp_path, monkeypatch):
    from types import SimpleNamespace

    from flows.server import events

    announced: list[Announcement] = []
    monkeypatch.setattr(events, "announce", lambda announcement, **_: announced.append(announcement))
    release = SimpleNamespace(number=1, run_id="one", versions={}, rows={})
    store = SimpleNamespace(path=tmp_path, id="store", releases=lambda: [release])
    project = SimpleNamespace(name="ours", runs=tmp_path / "runs")
    for release.run_id in ("one", "one", "another"):
        intend(events.release_record(store, 1))
        assert events.announce_pending(project, store) == ""
        events.release_record(store, 1).write_text('{"state": "announced"}')
    once, again, another = (announcement.id for announcement in announced)
    assert once == again, "the server knows it"
    assert another != once


def test_a_run_whose_job_is_damaged_is_told_and_the_others_are_announced(tmp_path, monkeypatch):
    from types import SimpleNamespace

    from features.store.store import Store
    from flows.server import events
    from flows.server.events import announce_pending, encoder_record

    announced = []
    monkeypatch.setattr(events, "announce", lambda announcement, **_: announced.append(announcement.payload["run"]))
    store, project = Store.open(tmp_path / "store", create=True), SimpleNamespace(name="ours", runs=tmp_path / "runs")
    run, other = (project.runs / name / "00001-aaaaaa" / "seed-0" for name in ("first", "other"))
    for folder in (run, other):
        (folder / "encoder").mkdir(parents=True)
        (folder / "encoder" / "training.json").touch()
        intend(encoder_record(folder))
    job = {"source": {"store": store.location, "release": 1}, "settings": {"kind": "s3bert"}, "output": str(other)}
    (other / "train.json").write_text(json.dumps(job))
    said = announce_pending(project, store)
    assert announced == ["other/00001-aaaaaa/seed-0"]
    assert str(run / "train.json") in said
    assert said.endswith(f"So the encoder in '{run}' is not announced: train it again, or delete the folder.")
    encoder_record(other).write_text('{"state": "announced"}')
    encoder_record(run).write_text('{"state": "announced"}')
    assert announce_pending(project, store) == "", "what was announced is not read again"


def test_a_folder_that_cannot_be_locked_is_one_sentence(announcement):
    intend(announcement.record)
    (announcement.record.parent / ".announcing.lock").mkdir()
    with pytest.raises(StoreError, match=r"Locking '.*\.announcing\.lock' failed: "):
        announce(announcement, heard=False)


@pytest.mark.slow
def test_a_build_that_dies_right_after_its_release_is_announced_by_the_next(project, build_with, facetflow, server):
    from flows.server.events import release_record, resource_id

    project.write(10, sentences=8, per_shard=16)
    code = """
        import os, signal
        from flows import build_features
        build_features.announce_pending = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    """
    with pytest.raises(Exception, match="SIGKILL"):
        build_with(project, code)
    store = project.store
    assert store.latest_release().number == 1
    assert is_pending(release_record(store, 1))
    for _ in range(2):
        code, output = facetflow.run(project, "build")
        assert code == 0, output
    assert not release_record(store, 2).exists(), "a build without news announces nothing"
    about = {"resource": {"id": [resource_id(store)]}}
    events = (
        patient_http.client.post(f"{server.address}/events/filter", json={"filter": about})
        .raise_for_status()
        .json()["events"]
    )
    assert [(event["event"], event["payload"]["release"]) for event in events] == [("facetflow.features.committed", 1)]
