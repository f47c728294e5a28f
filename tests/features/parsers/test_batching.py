from concurrent.futures import ThreadPoolExecutor
from threading import current_thread

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from features.parsers.devices import in_batches, one_thread_a_batch


@given(st.lists(st.text(max_size=9), max_size=30), st.integers(1, 7))
def test_results_come_in_the_order_of_the_items(items: list[str], batch_size: int) -> None:
    batches: list[list[str]] = []

    def work(batch: list[str]) -> list[str]:
        batches.append(batch)
        return [item.upper() for item in batch]

    assert in_batches(work, items, size=len, batch_size=batch_size) == [item.upper() for item in items]
    assert all(len(batch) == batch_size for batch in batches[:-1])
    lengths = [len(item) for batch in batches for item in batch]
    assert lengths == sorted(lengths, reverse=True)


def test_threads_take_a_batch_each_and_leave_torch_as_it_was() -> None:
    before = torch.get_num_threads()
    with one_thread_a_batch(2) as pool:
        found = in_batches(
            lambda batch: [(item, torch.get_num_threads(), current_thread().name) for item in batch],
            range(40),
            size=int,
            batch_size=2,
            pool=pool,
        )
    assert [item for item, _, _ in found] == list(range(40))
    assert {threads for _, threads, _ in found} == {1}
    assert current_thread().name not in {name for _, _, name in found}
    assert torch.get_num_threads() == before
    with ThreadPoolExecutor(1) as later:
        assert later.submit(torch.get_num_threads).result() == before


def test_one_thread_needs_no_pool() -> None:
    with one_thread_a_batch(1) as pool:
        assert pool is None


def test_an_error_in_a_batch_is_the_callers() -> None:
    def fail(_batch: object) -> list[int]:
        raise ValueError("broken")

    with one_thread_a_batch(2) as pool, pytest.raises(ValueError, match="broken"):
        in_batches(fail, [1, 2, 3], size=int, batch_size=1, pool=pool)
