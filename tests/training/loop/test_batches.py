"""The order of pairs: every pair once per epoch, groups and, where asked for, similar lengths together, by the seed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.loop.batches import NEAR, epoch_batches, near_groups

pair_lengths = st.lists(st.integers(1, 60), min_size=1, max_size=300)


@given(
    lengths=pair_lengths, mixed=st.booleans(), size=st.integers(2, 32), seed=st.integers(0, 5), epoch=st.integers(0, 3)
)
def test_an_epoch_has_every_pair_once(lengths, mixed, size, seed, epoch):
    groups = np.arange(len(lengths)) // 2
    given_lengths = None if mixed else np.array(lengths)
    batches = epoch_batches(groups, given_lengths, batch_size=size, seed=seed, epoch=epoch)
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    assert sorted(len(batch) for batch in batches)[1:] == [size] * (len(batches) - 1)


def test_no_pairs_have_no_batches():
    assert epoch_batches(np.empty(0, np.int64), batch_size=2, seed=0, epoch=0) == []


def test_seed_and_epoch_decide_the_order():
    groups, lengths = np.arange(400), np.random.default_rng(0).integers(3, 40, 400)

    def order(seed, epoch):
        return np.concatenate(epoch_batches(groups, lengths, batch_size=16, seed=seed, epoch=epoch)).tolist()

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


def test_few_pairs_meet_others_in_each_epoch():
    lengths = np.random.default_rng(0).permutation(640)

    def together(epoch):
        batches = epoch_batches(np.arange(640), lengths, batch_size=16, seed=0, epoch=epoch)
        return {(a, b) for batch in batches for a in batch for b in batch if a < b}

    first, second = together(0), together(1)
    assert len(first & second) / len(first) < 0.25  # with one window for all, every batch was the same


def test_lengths_in_a_batch_are_alike_and_batches_are_not_sorted(monkeypatch):
    lengths = np.random.default_rng(0).integers(3, 60, 2000)
    batches = epoch_batches(np.arange(2000), lengths, batch_size=32, seed=0, epoch=0)
    assert max(np.ptp(lengths[batch]) for batch in batches) < 12
    rises = np.diff([lengths[batch].mean() for batch in batches]) > 0
    assert 0.2 < rises.mean() < 0.8  # in the order of a window, nearly all do
    monkeypatch.setattr("training.loop.batches.WINDOW", 1)
    batches = epoch_batches(np.arange(2000), lengths, batch_size=32, seed=0, epoch=0)
    assert min(np.ptp(lengths[batch]) for batch in batches) > 12, "of a window of one batch"


def test_without_lengths_batches_mix_them():
    lengths = np.sort(np.random.default_rng(0).integers(3, 60, 2000))
    batches = epoch_batches(np.arange(2000) // 4, batch_size=32, seed=0, epoch=0)
    assert min(np.ptp(lengths[batch]) for batch in batches) > 12
    assert all(np.unique(batch // 4, return_counts=True)[1].min() == 4 for batch in batches[:-1])  # groups stay whole


def test_a_positive_and_its_negative_share_a_batch():
    count = 500
    groups = np.concatenate([np.arange(count), np.arange(count)])
    lengths = np.random.default_rng(0).integers(3, 60, 2 * count)
    batches = epoch_batches(groups, lengths, batch_size=32, seed=0, epoch=0)
    where = np.empty(2 * count, dtype=int)
    for number, batch in enumerate(batches):
        where[batch] = number
    assert (where[:count] == where[count:]).mean() > 0.9


pair_ends = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=60)


@given(ends=pair_ends, share=st.floats(0, 1), seed=st.integers(0, 5), epoch=st.integers(0, 3))
def test_a_group_is_a_few_pairs_that_follow_one_sentence(ends, share, seed, epoch):
    first, second = np.array(ends, dtype=np.int64).T
    random = np.random.default_rng(seed)
    near = np.flatnonzero(random.random(len(ends)) < share)
    drawn = random.permutation(len(ends))[: max(1, len(ends) // 2)]
    groups = near_groups(first, second, drawn, near, seed=seed, epoch=epoch)

    beside = [{int(sentence)} for sentence in range(21)]
    for pair in near:
        beside[first[pair]].add(int(second[pair]))
        beside[second[pair]].add(int(first[pair]))
    assert sorted(set(groups)) == list(range(groups.max() + 1))
    for group in range(groups.max() + 1):
        pairs = drawn[groups == group]
        assert len(pairs) <= NEAR
        assert set.intersection(*(beside[first[pair]] for pair in pairs)), "one sentence is near to all of them"
    assert groups.tolist() == near_groups(first, second, drawn, near, seed=seed, epoch=epoch).tolist()


def test_pairs_of_one_sentence_and_of_its_neighbours_are_a_group_that_differs_by_epoch():
    first, second = np.array([[0, 0, 1, 5, 2, 9, 9], [3, 4, 6, 7, 8, 10, 0]])
    near = np.array([6])
    for seed in range(8):
        groups = near_groups(first, second, np.arange(6), near, seed=seed, epoch=0)
        assert groups[0] == groups[1] == groups[5], "0 and 9 are near each other"
        assert len(set(groups[1:])) == 4
    many = np.zeros(9, np.int64)
    orders = {tuple(near_groups(many, many + 1, np.arange(9), near[:0], seed=0, epoch=epoch)) for epoch in range(4)}
    assert len(orders) > 1
    assert {tuple(sorted(np.bincount(order))) for order in orders} == {(1, 4, 4)}
