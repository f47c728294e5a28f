"""Requests to stop (SIGTERM, Ctrl-C) that are deferred until nothing is half done.

A signal handler that raises does so between any two instructions, also inside libraries that catch unknown exceptions
and turn them into another error. Here the signal is recorded, and raised again when the caller is ready.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def handled(
    *signals: int, by: Callable[[int, FrameType | None], object] | signal.Handlers
) -> Iterator[Mapping[int, Any]]:
    """Replace signal handlers within the block, and yield the former ones; none in another thread than the main one."""
    is_main = threading.current_thread() is threading.main_thread()
    # A shell ignores interrupts on behalf of its background processes: keep it that way.
    numbers = [number for number in signals if is_main and signal.getsignal(number) is not signal.SIG_IGN]
    former = {number: signal.signal(number, by) for number in numbers}
    try:
        yield former
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


class Interruption:
    """The signal received so far, if any, of those that are deferred; `former` has the handlers of all of these."""

    def __init__(self) -> None:
        self._received: int | None = None
        self.former: Mapping[int, Any] = {}

    @property
    def pending(self) -> bool:
        """Whether a signal is waiting to be delivered."""
        return self._received is not None

    def deliver(self) -> None:
        """Do what the signal would have done immediately; nothing if none was received."""
        if self._received is not None:
            number, self._received = self._received, None
            signal.raise_signal(number)

    def note(self, number: int, _frame: FrameType | None) -> None:
        """Record a signal; the former handlers get the next one."""
        self._received = number
        for each, handler in self.former.items():
            signal.signal(each, handler)


@contextmanager
def held_back() -> Iterator[Interruption]:
    """Defer signals; those not delivered by the end of the block are delivered then, also if it raised.

    Outside the main thread, signals are handled as usual.
    """
    interruption = Interruption()
    try:
        with handled(*_SIGNALS, by=interruption.note) as interruption.former:
            yield interruption
    finally:
        interruption.deliver()


def cause(error: BaseException) -> str:
    """Return what asked a run to stop, from the exception raised by the signal handler.

    >>> cause(KeyboardInterrupt())
    'Ctrl-C'
    >>> cause(SystemExit(128 + signal.SIGTERM))
    'SIGTERM'
    """
    if isinstance(error, KeyboardInterrupt):
        return "Ctrl-C"
    # Our handler exits with 128 + the signal number; Prefect's exception has the number itself.
    number = error.code if isinstance(error, SystemExit) else getattr(error, "signal", None)
    with suppress(TypeError, ValueError):
        return signal.Signals(int(number or 0) % 128).name
    return type(error).__name__
