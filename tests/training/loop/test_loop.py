"""The loop alone: which weights are kept, exact resuming, patience, and what is refused before it does harm."""

import json
import math

import pytest
import torch
from sentences import refused

from features.core.faults import LossNotFinite, OtherSettings
from training.loop import checkpoints
from training.loop.course import read_course
from training.loop.loop import Outcome
from training.loop.settings import LoopSettings, share_of_rate
from training.loop.task import Group, decaying_matrices


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def test_the_best_model_by_dev_is_kept_and_not_the_last_one(line, make_loop):
    task = line(scores=[0.1, 0.9, 0.4])
    outcome = make_loop(task, keep="best").run()
    assert (outcome.best_step, outcome.best_scores) == (12, {"score": 0.9})
    assert same(task.weights(), task.judged[1])
    assert not same(task.judged[1], task.judged[2])


def test_a_start_that_is_learnt_is_kept_where_no_step_betters_it(line, make_loop):
    def begun(*scores):
        task = line(scores)
        task.begins_learnt = True
        return task

    def stop(step):
        if step == 8:
            raise KeyboardInterrupt

    task = begun(0.9, 0.1, 0.2)
    with pytest.raises(KeyboardInterrupt):
        make_loop(task, checkpoint_every=8).run(stop)
    again = begun(0.3, 0.4)
    outcome = make_loop(again, checkpoint_every=8).run()
    assert [look["step"] for look in outcome.history] == [0, 6, 12, 18]
    assert (outcome.best_step, outcome.best_scores) == (0, {"score": 0.9})
    assert same(again.weights(), task.judged[0])
    assert make_loop(begun(0.1, 0.9), "other", keep="last").run().history[0]["step"] == 6, "what is kept is known"


def test_the_best_of_a_resumed_training_may_be_from_before(line, make_loop, tmp_path):
    task = line(scores=[0.9, 0.1])

    def stop(step):
        if step == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_loop(task, checkpoint_every=8).run(stop)
    path = tmp_path / "run" / checkpoints.FILE_NAME
    state = torch.load(path, weights_only=True)
    state["outcome"]["seconds"] = 1000.0
    torch.save(state, path)
    again, left = line(scores=[0.1, 0.2]), []
    loop = make_loop(again, checkpoint_every=8)
    outcome = loop.run(lambda _: left.append(loop.left))
    assert outcome.best_step == 6
    assert same(again.weights(), task.judged[0])
    assert outcome.seconds > 1000
    assert left[0] == "Interrupted; run the same command to continue after step 8 of 18."


def averages(seen):
    """Return the running average over 4 steps after each step, from the weights before and after all steps."""
    found = [seen[0]]
    for step, weights in enumerate(seen[1:], start=1):
        share = max(1 / 4, 1 / (step + 1))
        found.append({name: value + share * (weights[name] - value) for name, value in found[-1].items()})
    return found


def close(left, right):
    return all(torch.allclose(left[name], right[name], atol=1e-6) for name in left)


def test_averages_are_judged_and_the_best_of_them_is_kept_and_not_the_last_one(line, make_loop):
    task = line(scores=[0.1, 0.9, 0.4])
    seen = [task.weights()]
    outcome = make_loop(task, keep="average", average_over=4).run(lambda _: seen.append(task.weights()))
    assert outcome.best_step == 12
    expected = averages(seen)
    assert [close(judged, expected[step]) for judged, step in zip(task.judged, (6, 12, 18), strict=True)] == [True] * 3
    assert close(task.weights(), expected[12])
    assert not close(task.weights(), expected[18])
    assert not close(task.weights(), seen[12])


def test_without_dev_the_last_average_is_kept(line, make_loop):
    task = line()
    seen = [task.weights()]
    outcome = make_loop(task, keep="average", average_over=4).run(lambda _: seen.append(task.weights()))
    assert close(task.weights(), averages(seen)[-1])
    assert (outcome.best_step, outcome.units) == (18, 18)
    assert 0 < outcome.learning_seconds < outcome.seconds


@pytest.mark.parametrize(
    ("writers", "said"),
    [
        (2, "the checkpoint is of another number of processes, 2, than this training, 1"),
        (1, "the checkpoint was written on a GPU, but this training is on 'cpu'"),
    ],
    ids=["processes", "device"],
)
def test_a_training_that_goes_on_elsewhere_draws_anew_says_so_and_repeats_itself(
    line, make_loop, tmp_path, caplog, writers, said
):
    def stop(step):
        if step == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_loop(line(), checkpoint_every=8).run(stop)
    path = tmp_path / "run" / checkpoints.FILE_NAME
    state = torch.load(path, weights_only=True)
    (own,) = state["random"]
    state["random"] = [own | {"gpu": own["cpu"] if writers == 1 else None}] * writers
    found = []
    for seed in (3, 4):
        torch.save(state, path)
        task = line()
        torch.manual_seed(seed)
        caplog.clear()
        with caplog.at_level("WARNING", logger="training"):
            make_loop(task).run()
        assert said in caplog.text
        assert "reseeded from here on, so the weights will not be exactly those of an uninterrupted" in caplog.text
        found.append(task.weights())
    assert same(*found)


def test_the_last_one_is_kept_where_that_is_asked_for(line, make_loop):
    task = line(scores=[0.9, 0.5, 0.1])
    outcome = make_loop(task, keep="last").run()
    assert same(task.weights(), task.judged[2])
    assert (outcome.best_step, outcome.best_value) == (outcome.steps, 0.1), "what is reported is of the kept weights"
    assert outcome.best_scores == {name: value for name, value in outcome.history[-1].items() if name != "step"}


@pytest.mark.parametrize("keep", ["best", "average", "last"])
@pytest.mark.parametrize("step", [1, 7, 12, 17])
def test_a_training_that_ends_anywhere_goes_on_to_the_same_weights(line, make_loop, keep, step):
    scores = [0.2, 0.1, 0.3, 0.2, 0.1, 0.4, 0.1]
    settings = {"keep": keep, "checkpoint_every": 2, "evaluate_every": 4, "accumulate": 1}
    whole, first, second = line(scores=scores), line(scores=scores), line(scores=scores)
    torch.manual_seed(1)
    expected = make_loop(whole, "whole", **settings).run()

    def stop(reached):
        if reached == step:
            raise KeyboardInterrupt

    torch.manual_seed(1)
    with pytest.raises(KeyboardInterrupt):
        make_loop(first, **settings).run(stop)
    resumed = make_loop(second, **settings)
    looks = step // 2 * 2 // 4 + step // 2 * 2 // 6 - step // 2 * 2 // 12
    second.scores = scores[looks:]
    torch.manual_seed(1 if step == 1 else 2)  # a checkpoint brings its own random numbers
    found = resumed.run()
    assert same(second.weights(), whole.weights())
    assert (found.best_step, found.history) == (expected.best_step, expected.history)


def test_gradients_and_losses_of_several_batches_are_averaged(line, make_loop, tmp_path):
    one, two = line(batches=5), line(batches=5)  # the last step has one batch: AdamW takes no notice of a factor of all
    for task in (one, two):
        task.model[0].p = 0.0
    settings = {"epochs": 1, "keep": "last", "gradient_norm": 1e9, "log_every": 1}
    outcome = make_loop(one, "one", accumulate=2, **settings).run()
    order = [position for batch in two.batches(0) for position in batch]
    two.batches = lambda _: [order[start : start + 2] for start in (0, 2, 4)]
    assert make_loop(two, "two", **settings).run().units == outcome.units == 5
    assert outcome.steps == 3
    for name, value in one.weights().items():
        torch.testing.assert_close(value, two.weights()[name])
    losses, expected = (read_course(tmp_path / folder)["loss"] for folder in ("one", "two"))
    assert losses == pytest.approx(expected)


def test_a_group_has_its_own_rate_and_decay(line, make_loop):
    task = line()
    weight, bias = task.model[1].parameters()
    task.groups = [Group({"1.weight": weight}, factor=2.0), Group({"1.bias": bias}, decays=False)]
    loop = make_loop(task, warmup=0, schedule="constant", weight_decay=0.5, betas=(0.5, 0.6))
    loop.run()
    found = [(group["lr"], group["weight_decay"], group["betas"]) for group in loop.optimizer.param_groups]
    assert found == [(0.2, 0.5, (0.5, 0.6)), (0.1, 0.0, (0.5, 0.6))]


def test_matrices_decay_and_vectors_do_not():
    sizes = {"weight": (2, 3), "bias": (3,), "scale": ()}
    groups = decaying_matrices({name: torch.nn.Parameter(torch.zeros(size)) for name, size in sizes.items()}, 3.0)
    assert [([*of.parameters], of.factor, of.decays) for of in groups] == [
        (["weight"], 3.0, True),
        (["bias", "scale"], 3.0, False),
    ]


def test_gradients_are_clipped_to_the_norm_of_the_settings_but_for_groups_that_are_not(line, make_loop):
    task = line()
    weight, bias = task.model[1].parameters()
    task.groups = [Group({"1.weight": weight}, decays=False), Group({"1.bias": bias}, decays=False, clipped=False)]
    before = task.weights()
    make_loop(task, epochs=1, steps=1, warmup=0, gradient_norm=1e-12).run()
    moved = {name: float((value - before[name]).abs().max()) for name, value in task.weights().items()}
    assert moved == pytest.approx({"1.weight": 0, "1.bias": 0.1}, abs=1e-3)


def test_speed_is_that_of_the_steps():
    assert Outcome(units=10, learning_seconds=5.0, seconds=20.0).per_second == 2


def test_a_training_ends_after_its_steps_at_the_rates_of_a_shorter_one(line, make_loop):
    shorter, limited = line(), line()
    torch.manual_seed(1)
    expected = make_loop(shorter, "shorter", epochs=1).run()
    torch.manual_seed(1)
    found = make_loop(limited, "limited", epochs=3, steps=expected.steps).run()
    assert found.history == expected.history
    assert same(limited.weights(), shorter.weights())
    assert make_loop(line(), "within", epochs=3, steps=expected.steps + 1).run().steps == expected.steps + 1


def test_without_a_better_score_for_long_a_training_ends(line, make_loop, tmp_path):
    task = line(scores=[0.5, 0.4, 0.6, 0.6, 0.1, 0.9])
    outcome = make_loop(task, epochs=6, patience=2).run()
    assert (outcome.steps, outcome.best_step, len(outcome.history)) == (30, 18, 5)
    assert same(task.weights(), task.judged[2])
    make_loop(line(), "whole", epochs=1).run()
    kept = [torch.load(tmp_path / name / checkpoints.FILE_NAME, weights_only=True) for name in ("run", "whole")]
    assert [state["outcome"]["steps"] for state in kept] == [30, 6], "writing the encoder may fail"


@pytest.mark.parametrize("what", ["loss", "gradient"])
def test_what_is_not_finite_is_refused_before_anything_is_kept(line, make_loop, tmp_path, what):
    task = line()
    if what == "loss":
        task.spoilt_at = 5
    else:
        gradients = iter(range(6))
        task.model[1].weight.register_hook(lambda gradient: gradient * (math.nan if next(gradients) == 5 else 1))
    before = {}
    loop = make_loop(task, checkpoint_every=1)
    with refused(LossNotFinite):
        loop.run(lambda _: before.update(task.weights()))
    assert same(task.weights(), before)
    state = torch.load(tmp_path / "run" / checkpoints.FILE_NAME, weights_only=True)
    assert state["outcome"]["steps"] == 5
    assert all(value.isfinite().all() for value in state["weights"].values())


@pytest.mark.parametrize(
    ("keep", "scores", "is_refused"),
    [
        ("best", [math.nan] * 3, True),
        ("average", [math.nan] * 3, True),
        ("last", [0.5, 0.6, math.nan], True),
        ("best", [-math.inf] * 3, True),
        ("best", [0.5, math.nan, math.nan], False),
        ("last", [math.nan, 0.5, 0.6], False),
        ("best", [], False),
    ],
)
def test_weights_without_a_finite_dev_score_are_refused(keep, scores, is_refused, line, make_loop, caplog):
    loop = make_loop(line(scores=scores), keep=keep)
    if not is_refused:
        json.dumps(loop.run().history, allow_nan=False)  # as it is recorded
        assert caplog.text.count("is not a number, so it chooses nothing") == sum(map(math.isnan, scores))
        return
    with refused(LossNotFinite):
        loop.run()


def test_a_checkpoint_of_the_version_before_is_refused_with_what_to_do(line, make_loop, tmp_path):
    loop = make_loop(line())
    before = {"format": checkpoints.FORMAT - 1, "identity": "x", "step": 3}
    torch.save(before, tmp_path / "run" / checkpoints.FILE_NAME)
    with refused(OtherSettings):
        loop.run()


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path):
    path = tmp_path / checkpoints.FILE_NAME
    checkpoints.save(path, {"identity": "x", "step": 1})
    with pytest.raises(TypeError):
        checkpoints.save(path, {"identity": "x", "step": (step for step in range(2))})
    assert checkpoints.load(path, identity="x")["step"] == 1
    assert [*tmp_path.iterdir()] == [path]


def test_the_rate_rises_and_falls():
    def rates(total, **settings):
        return [round(share_of_rate(step, total, LoopSettings(**settings)), 3) for step in range(total)]

    assert rates(10, warmup=0.2) == [0.5, 1, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125]
    assert rates(4, warmup=0.5, warmup_steps=1) == [1, 1, 0.667, 0.333]
    assert rates(4, warmup=0, schedule="constant") == [1, 1, 1, 1]
    assert rates(4, warmup=0.5, schedule="constant") == [0.5, 1, 1, 1]
    assert rates(4, warmup=0, decay=0.4) == [1, 1, 1, 0.5]
    assert rates(4, warmup=0.45) == [1, 1, 0.667, 0.333]
    assert rates(4, warmup=0, decay=0.1) == [1, 1, 1, 1]
