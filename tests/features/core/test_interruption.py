"""Signals wait for a safe moment, and then do what they would have done."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from features.core.interruption import held_back


@pytest.fixture(autouse=True)
def heard():
    """Enable interrupts, which a shell ignores for tests that it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_twice():
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    pytest.fail("the second one is not held back")


def interrupt_and_fail():
    os.kill(os.getpid(), signal.SIGINT)
    raise RuntimeError("no cluster")


def test_an_interrupt_waits_until_it_is_delivered():
    with held_back() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.pending
        with pytest.raises(KeyboardInterrupt):
            interruption.deliver()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_was_not_delivered_comes_at_the_end():
    received = []
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        with held_back():
            os.kill(os.getpid(), signal.SIGTERM)
            assert received == []
        assert received == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_it_comes_at_the_end_of_a_block_that_fails_too():
    with pytest.raises(KeyboardInterrupt) as raised, held_back():
        interrupt_and_fail()
    assert str(raised.value.__context__) == "no cluster"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_does_not_wait():
    with pytest.raises(KeyboardInterrupt) as raised, held_back():
        interrupt_twice()
    assert isinstance(raised.value.__context__, KeyboardInterrupt)  # the first comes after it, at the end of the block


def test_a_signal_that_nobody_handles_ends_the_process_where_it_is_delivered():
    code = (
        "import os; from features.core.interruption import held_back\n"
        "with held_back():\n    os.kill(os.getpid(), 15); print('done', flush=True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "done\n")


def test_what_is_ignored_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held_back() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert not interruption.pending
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_without_a_signal_nothing_happens():
    with held_back() as interruption:
        interruption.deliver()
        assert not interruption.pending
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_left_alone():
    handlers = []

    def work():
        with held_back() as interruption:
            handlers.append(signal.getsignal(signal.SIGINT))
            interruption.deliver()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
