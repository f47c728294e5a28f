"""A server does what is due once: one run for each identity, another attempt when that ended, and not for ever."""

import shutil
from types import SimpleNamespace

import pytest
from generated import ENCODER
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId
from prefect.states import Cancelled, Completed, Crashed, Failed, Pending, Running

from features.store.store import Store
from flows import project as projects
from flows.deployments import deploy
from flows.server.attempts import ATTEMPTS, _begin, begin_due
from flows.server.prefect_address import talking_to
from flows.trainings.due import Due

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
POOLED = ENCODER.replace('name = "s3bert"', 'name = "syntax"\npool = "gpu"')


@pytest.fixture
def client(server, monkeypatch):
    monkeypatch.delenv("FACETFLOW_PRIVATE_SERVER", raising=False)
    with talking_to(server.address), get_client(sync_client=True) as client:
        yield client


@pytest.fixture
def settings(built, tmp_path):
    """A project with a release and two encoders, one of a pool of its own; its name is new to the server."""
    name = f"due-{tmp_path.name}".replace("_", "-")
    built.write(60, name=name, sentences=8, per_shard=8, more=ENCODER + POOLED)
    built.store.adopt(name)
    return projects.load(built.folder / "facetflow.toml")


@pytest.fixture
def trainings(client, settings):
    """Return a function that returns the runs of the trainings of an encoder, newest first."""

    def runs(encoder):
        name = settings.name + ("@gpu" if encoder == "syntax" else "")
        deployment = client.read_deployment_by_name(f"train_encoder/{name}").id
        of_deployment = DeploymentFilter(id=DeploymentFilterId(any_=[deployment]))
        return client.read_flow_runs(deployment_filter=of_deployment)

    return runs


def ended(client, run, *states):
    for state in (Pending(), Running(), *states):
        client.set_flow_run_state(run.id, state, force=True)


@pytest.mark.usefixtures("client")
def test_a_server_that_does_not_know_the_project_does_nothing_for_it(settings, built):
    assert begin_due(settings, built.store) is None


def test_what_is_due_is_begun_once_in_the_pool_that_the_encoder_names(client, settings, built, trainings, capsys):
    deploy(built.folder / "facetflow.toml")
    items = begin_due(settings, built.store)
    assert [(item.step, item.subject) for item in items] == [("training", "s3bert"), ("training", "syntax")]
    assert "because it has no finished training." in capsys.readouterr().err
    (run,), (pooled,) = trainings("s3bert"), trainings("syntax")
    assert run.parameters["names"] == ["s3bert"]
    assert run.parameters["wanted"] == items[0].identity
    assert pooled.work_pool_name == "gpu"
    assert len(begin_due(settings, built.store)) == 2
    assert capsys.readouterr().err == "", "they wait for a worker"
    assert len(trainings("s3bert")) == len(trainings("syntax")) == 1


def test_a_training_that_ended_without_a_result_has_another_attempt_but_not_for_ever(
    client, settings, built, trainings, capsys
):
    deploy(built.folder / "facetflow.toml")
    for attempt, state in enumerate((Crashed(), Failed(), Crashed()), start=1):
        begin_due(settings, built.store)
        runs = [run for run in trainings("s3bert") if not run.state.is_final()]
        assert [run.idempotency_key.rpartition(":")[2] for run in runs] == [str(attempt - 1)]
        ended(client, runs[0], state)
    assert attempt == ATTEMPTS
    assert f", attempt {ATTEMPTS}), because" in capsys.readouterr().err
    assert [item.subject for item in begin_due(settings, built.store)] == ["syntax"], "the other is left to the user"
    assert len(trainings("s3bert")) == ATTEMPTS
    left = f"train_encoder (s3bert) has ended without a result {ATTEMPTS} times and is not started again: "
    assert f"{left}`facetflow train s3bert` does.\n" in capsys.readouterr().err


def test_a_result_that_was_deleted_is_made_again_and_what_was_cancelled_is_left(
    client, settings, built, trainings, capsys
):
    deploy(built.folder / "facetflow.toml")
    begin_due(settings, built.store)
    ended(client, trainings("s3bert")[0], Completed())
    ended(client, trainings("syntax")[0], Cancelled())
    assert [item.subject for item in begin_due(settings, built.store)] == ["s3bert"]
    assert [run.state.is_final() for run in trainings("s3bert")].count(False) == 1, "Prefect keeps the key of the old"
    assert len(trainings("syntax")) == 1
    assert "train_encoder (syntax) was cancelled and is not started again" in capsys.readouterr().err


def test_seeds_that_are_left_to_the_user_are_evaluated_together(capsys):
    asked = SimpleNamespace(read_flow_runs=lambda **_: [SimpleNamespace(state_type=SimpleNamespace(value="CANCELLED"))])
    seeds = ("twin/00001-aaaaaa/seed-0", "twin/00001-aaaaaa/seed-1")
    for runs, name in ((seeds, "twin"), (seeds[:1], seeds[0])):
        item = Due("evaluation", SimpleNamespace(name="twin"), "id", "it is not evaluated yet", runs)
        assert not _begin(asked, None, item)
        assert f"`facetflow evaluate {name} --promote` does.\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("newest_first", "begins"),
    [
        (("FAILED", "FAILED", "FAILED"), False),
        (("COMPLETED", "FAILED", "FAILED", "FAILED"), True),
        (("FAILED", "FAILED", "COMPLETED", "FAILED"), True),
        (("CANCELLED", "FAILED"), False),
        (("FAILED", "CANCELLED"), True),
        (("FAILED", "PAUSED"), None),
    ],
    ids=str,
)
def test_what_ended_before_a_result_is_no_attempt_at_another(newest_first, begins):
    seeds = tuple(f"twin/00001-aaaaaa/seed-{seed}" for seed in range(2))
    keys = reversed(range(len(newest_first)))
    runs = [
        SimpleNamespace(state_type=SimpleNamespace(value=state), idempotency_key=f"id:{number}")
        for state, number in zip(newest_first, keys, strict=True)
    ]
    begun = []
    client = SimpleNamespace(
        read_flow_runs=lambda *, sort, **_: runs if sort.name.endswith("DESC") else runs[::-1],
        read_deployment_by_name=lambda name: SimpleNamespace(id=name),
        create_flow_run_from_deployment=lambda *_, **given: begun.append(given) or SimpleNamespace(name="calm"),
    )
    item = Due("evaluation", SimpleNamespace(name="twin", pool=None), "id", "it is not evaluated yet", seeds)
    assert _begin(client, SimpleNamespace(name="p"), item) is (begins is not False)
    assert [given["idempotency_key"] for given in begun] == [f"id:{len(runs)}"] * bool(begins)
    assert [given["parameters"] for given in begun] == [{"name": list(seeds), "wanted": "id"}] * bool(begins)


def test_encoders_whose_pool_is_not_deployed_are_named(client, settings, built, trainings, capsys):
    built.write(60, name=settings.name, sentences=8, per_shard=8, more=ENCODER)
    deploy(built.folder / "facetflow.toml")
    assert [item.subject for item in begin_due(settings, built.store)] == ["s3bert"]
    assert len(trainings("s3bert")) == 1
    assert f"no deployment train_encoder/{settings.name}@gpu: `facetflow deploy`" in capsys.readouterr().err


def test_a_run_that_a_user_began_with_the_tag_of_a_training_stops_no_refresh(client, settings, built, trainings):
    deploy(built.folder / "facetflow.toml")
    begin_due(settings, built.store)
    (run,) = trainings("s3bert")
    ended(client, run, Failed())
    client.create_flow_run_from_deployment(run.deployment_id, tags=run.tags, state=Failed())
    begin_due(settings, built.store)
    assert [run.idempotency_key.rpartition(":")[2] for run in trainings("s3bert") if not run.state.is_final()] == ["1"]


@pytest.mark.usefixtures("client")
def test_a_copy_of_a_project_is_none_that_the_server_knows(settings, built, tmp_path, monkeypatch):
    deploy(built.folder / "facetflow.toml")
    copied = projects.load(shutil.copytree(built.folder, tmp_path / "copy") / "facetflow.toml")
    store = Store.open(copied.store)
    assert begin_due(copied, store) is None
    # A server elsewhere has the project in a folder of its own.
    monkeypatch.setattr("flows.server.attempts.is_on_this_machine", lambda _: False)
    assert len(begin_due(copied, store)) == 2
    monkeypatch.setattr("flows.server.attempts.resource_id", lambda _: "another store, of a project of this name")
    assert begin_due(copied, store) is None


@pytest.mark.usefixtures("client")
def test_a_file_that_cannot_be_read_is_no_fault_of_the_server(settings, built, monkeypatch):
    deploy(built.folder / "facetflow.toml")

    def unreadable(*_):
        raise PermissionError(13, "Permission denied", "sts-test.csv")

    monkeypatch.setattr("flows.server.attempts.due", unreadable)
    with pytest.raises(PermissionError):
        begin_due(settings, built.store)
