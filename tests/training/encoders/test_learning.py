"""Trying several values in one training: each from the same start, the best kept, and no work repeated."""

import pytest
from sentences import refused

from features.core.faults import (
    Conflict,
    LossNotFinite,
    OtherSettings,
    RepeatedValue,
    TrainingsApart,
    UnknownName,
    WrongValue,
)
from training.encoders import learning
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.train import train
from training.loop import loop
from training.loop.course import read_course
from training.run_records import state_of

SEARCH = {"learning_rate": (1e-5, 3e-3), "epochs": (1, 2)}


@pytest.fixture
def job(job):
    """Return a function that makes a training of seconds."""

    def make(run, search=None, **numbers):
        loop = job.settings.loop.model_dump() | numbers
        chosen = S3bertSettings(**job.settings.model_dump() | {"loop": loop, "search": search or {}})
        return job.model_copy(update={"settings": chosen, "output": job.output.with_name(run)})

    return make


def test_the_encoder_of_a_search_is_the_one_that_its_best_values_alone_give(job, assert_same_weights, told):
    folder = train(job("searched", SEARCH))

    search = told(folder)["search"]
    assert [each["values"] for each in search["tried"]] == [
        {"learning_rate": rate, "epochs": epochs} for rate in SEARCH["learning_rate"] for epochs in SEARCH["epochs"]
    ]
    best = min(search["tried"], key=lambda each: each["dev"]["loss"])
    assert search["chosen"] == best["values"] == {"learning_rate": 3e-3, "epochs": 2}
    assert told(folder)["best_step"] == best["best_step"]
    loop = told(folder)["settings"]["loop"]
    assert (loop["learning_rate"], loop["epochs"]) == (3e-3, 2)  # what was used, not what the settings had
    assert told(folder)["settings"]["search"] == {name: list(values) for name, values in SEARCH.items()}
    assert train(job("searched", SEARCH)) == folder  # done already
    with refused(OtherSettings):
        train(job("searched", SEARCH | {"learning_rate": (1e-5, 1e-3)}))
    alone = train(job("alone", **best["values"]))
    assert_same_weights(folder, alone)
    assert told(alone)["history"] == told(folder)["history"]
    assert not (folder.parent / "search").exists()
    assert read_course(folder.parent)["dev_loss"] == {look["step"]: look["total"] for look in told(folder)["history"]}
    card = (folder / "README.md").read_text()
    assert "| 0.003 | 2 |" in card
    assert card.count("this encoder") == 1
    assert "| loop.learning_rate | `0.003` |" in card


def test_the_best_is_the_best_wherever_it_stands(job, assert_same_weights, told):
    rates = SEARCH["learning_rate"][::-1]
    folder = train(job("searched", {"learning_rate": rates}))
    assert told(folder)["search"]["chosen"] == {"learning_rate": 3e-3}
    assert_same_weights(folder, train(job("alone", learning_rate=3e-3)))


def test_a_point_that_diverges_is_not_chosen_and_the_search_goes_on(job, assert_same_weights, told):
    folder = train(job("searched", {"learning_rate": (1e30, 3e-3)}))
    search = told(folder)["search"]
    assert [each["value"] is None for each in search["tried"]] == [True, False]
    assert search["chosen"] == {"learning_rate": 3e-3}
    assert "| 1e+30 | diverged |" in (folder / "README.md").read_text()
    assert_same_weights(folder, train(job("alone", learning_rate=3e-3)))


def test_a_search_whose_points_all_diverge_is_refused_as_one_of_them_alone(job):
    for _ in range(2):  # also when nothing is tried again
        with refused(LossNotFinite):
            train(job("searched", {"learning_rate": (1e30, 1e31)}))


@pytest.mark.parametrize("step", [3, 14])
def test_a_search_that_was_stopped_tries_nothing_twice(job, step, monkeypatch, assert_same_weights, told):
    whole = train(job("whole", {"learning_rate": (1e-5, 3e-3)}, checkpoint_every=3))
    stopped = job("stopped", {"learning_rate": (1e-5, 3e-3)}, checkpoint_every=3)
    run, done = loop.Loop.run, []

    def count(reached):
        done.append(reached)
        if len(done) == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(loop.Loop, "run", lambda self: run(self, count))
        with pytest.raises(KeyboardInterrupt):
            train(stopped)
        assert state_of(stopped.output).message.startswith("continues")
        folder = train(stopped)
    assert_same_weights(whole, folder)
    assert [each["dev"] for each in told(whole)["search"]["tried"]] == [
        each["dev"] for each in told(folder)["search"]["tried"]
    ]
    steps = sum(each["steps"] for each in told(whole)["search"]["tried"])
    assert steps <= len(done) < steps + 3  # none but those since the last checkpoint


def test_two_points_at_most_are_on_the_disk(job, monkeypatch):
    found = []
    write = learning._write_tried
    searched = job("searched", {"learning_rate": (1e-5, 3e-3, 1e-4, 1e-6)})

    def look(*given):
        found.append(len(list(searched.output.glob("search/*/checkpoint.pt"))))
        return write(*given)

    monkeypatch.setattr(learning, "_write_tried", look)
    train(searched)
    assert found == [1, 2, 2, 2]


def test_points_that_differ_in_the_last_digit_have_folders_of_their_own(job):
    settings = job("searched", {"learning_rate": (1.234567e-4, 1.2345671e-4, 2e-5)}).settings
    names = [point.name for point in settings.points()]
    assert names == ["learning_rate=0.0001234567", "learning_rate=0.00012345671", "learning_rate=2e-05"]


def test_without_dev_there_is_nothing_to_choose_by_and_nothing_is_trained(job, measured, tmp_path, monkeypatch):
    measured.select(splits=["train"]).export(tmp_path / "pairs.parquet")
    monkeypatch.setattr(loop.Loop, "run", lambda self: pytest.fail("trained"))
    with refused(Conflict):
        train(job("searched", SEARCH))


@pytest.mark.parametrize(
    ("search", "fault"),
    [
        ({"width": (8, 16)}, UnknownName),
        ({"batch_size": (8, 16)}, UnknownName),
        ({"learning_rate": ()}, RepeatedValue),
        ({"epochs": (2, 2)}, RepeatedValue),
        ({"epochs": (1.5,)}, WrongValue),
        ({"new_learning_rate": (0,)}, WrongValue),
    ],
    ids=["no-loop-setting", "batch-size", "empty", "twice", "half-an-epoch", "rate-0"],
)
def test_a_search_that_cannot_be_done_is_refused(search, fault):
    with refused(fault):
        RgcnSettings(search=search)


def test_a_search_of_values_that_contradict_other_settings_is_refused():
    with refused(WrongValue):
        S3bertSettings(layers_tuned=0, map_epochs=5, search={"map_epochs": (0, 5)})


def test_each_point_of_a_search_is_a_run_of_its_own_for_trackers(job, monkeypatch):
    run, named = loop.Loop.run, []
    monkeypatch.setattr(loop.Loop, "run", lambda self: (named.append(self.tracked_as), run(self))[1])
    train(job("searched", {"learning_rate": (1e-5, 3e-3)}, epochs=1))
    train(job("alone", epochs=1))
    assert named == [
        "facetflow-learning_rate=1e-05",
        "facetflow-learning_rate=0.003",
        "facetflow-learning_rate=0.003",  # completed from its checkpoint
        "facetflow",
    ]


def test_processes_that_found_different_checkpoints_are_told_so(job, monkeypatch):
    monkeypatch.setattr(loop.together, "from_each", lambda steps: [steps, 7])
    with refused(TrainingsApart):
        train(job("run"))
