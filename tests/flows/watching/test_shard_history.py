"""The flow's history of every shard: who began it, how it ended, and that nothing counts twice."""

import pytest

from flows.watching.shard_history import BuildHistory, ShardHistory


@pytest.fixture
def seconds(its_time):
    """A clock that stands still until a test moves it: the only number in the list."""
    now = [1000.0]
    its_time("flows.watching.shard_history", time=lambda: now[0])
    return now


@pytest.fixture
def history():
    history = BuildHistory()
    history.plan([ShardHistory("amr", "s0", 100, "new"), ShardHistory("amr", "s1", 300, "new")])
    return history


def test_a_shard_goes_from_waiting_to_committed(history, seconds):
    first, _ = history.values()
    history["amr", "s0"].state = "submitted"
    history["amr", "s0"].report(0, "worker-1")
    assert (first.state, history.share) == ("running", 0.0)
    seconds[0] += 7
    history["amr", "s0"].make(3, 6.5)
    assert (first.state, first.rejects, first.seconds) == ("made", 3, 6.5)
    assert history.share == 0.25, "counted by rows"
    (attempt,) = first.attempts
    assert (attempt.worker, attempt.begun, attempt.heard, attempt.outcome) == ("worker-1", 1000, 1007, "made")
    history["amr", "s0"].state = "committed"
    assert first.state == "committed"


def test_a_shard_that_another_worker_begins_again_was_lost_until_its_last_sign(history, seconds):
    first, _ = history.values()
    history["amr", "s0"].state = "submitted"
    history["amr", "s0"].report(0, "worker-0")
    seconds[0] += 5
    history["amr", "s0"].report(100, "worker-0")
    seconds[0] += 60
    history["amr", "s0"].report(0, "worker-1")
    seconds[0] += 4
    history["amr", "s0"].make(0, 3.0)
    assert [(a.worker, a.begun, a.heard, a.outcome) for a in first.attempts] == [
        ("worker-0", 1000, 1005, "lost"),
        ("worker-1", 1065, 1069, "made"),
    ]


def test_a_shard_that_is_taken_back_waits_again(history, seconds):
    first, _ = history.values()
    history["amr", "s0"].state = "submitted"
    history["amr", "s0"].report(0, "worker-0")
    history["amr", "s0"].take_back()
    history["amr", "s0"].report(50, "worker-0")  # a late word
    assert (first.state, [a.outcome for a in first.attempts]) == ("waiting", ["lost"])
    history["amr", "s0"].state = "submitted"
    history["amr", "s0"].report(50, "worker-0")  # its first word was lost
    assert (first.state, [a.outcome for a in first.attempts]) == ("running", ["lost", "running"])
    history["amr", "s0"].report(0, "worker-0")
    assert [a.outcome for a in first.attempts] == ["lost", "lost", "running"], "it was restarted"


def test_a_shard_whose_worker_was_not_heard_of_has_the_time_of_its_receipt(history, seconds):
    for shard in history.values():
        shard.state = "submitted"
    lost = history["amr", "s1"]
    lost.report(0, "worker-0")
    lost.take_back()
    for shard in history.values():
        shard.make(0, 6.0)
        attempt = shard.attempts[-1]
        assert (attempt.worker, attempt.begun, attempt.heard) == ("", 994, 1000)
    assert [a.outcome for a in lost.attempts] == ["lost", "made"]


def test_a_shard_that_its_worker_found_committed_was_not_made(history, seconds):
    first, _ = history.values()
    history["amr", "s0"].state = "submitted"
    history["amr", "s0"].report(0, "worker-0")
    history["amr", "s0"].report(0, "worker-1")
    history["amr", "s0"].make(0, None)
    assert (first.state, first.seconds, [a.outcome for a in first.attempts]) == ("committed", None, ["lost"])
    history.plan([ShardHistory("amr", "s0", 100, "new")])
    assert next(iter(history.values())) is first, "what became of it is kept"


def test_failed_and_left_out_shards_say_why(history, seconds):
    first, second = history.values()
    history["amr", "s0"].state = "submitted"
    history["amr", "s0"].report(0, "worker-0")
    history["amr", "s0"].fail("no graph")
    history["amr", "s1"].leave_out()
    assert (first.state, first.error, first.attempts[0].outcome) == ("failed", "no graph", "failed")
    assert (second.state, second.error, second.attempts) == ("left out", "a shard that it needs failed", [])
    assert history.share == BuildHistory().share == 1.0
