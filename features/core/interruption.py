"""Requests to stop (SIGTERM, Ctrl-C) that are deferred until nothing is half done.

A signal handler that raises does so between any two instructions, also inside libraries that catch unknown exceptions
and turn them into another error. Here the signal is recorded; its former handler is called when the caller is ready.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def handled(*signals: int, by: Callable[[int, FrameType | None], object] | signal.Handlers) -> Iterator[None]:
    """Handle signals otherwise in the block; outside the main thread, nothing changes."""
    before = {number: signal.signal(number, by) for number in _heard(signals)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heard(signals: Iterable[int]) -> list[int]:
    is_main = threading.current_thread() is threading.main_thread()
    # A shell ignores interrupts on behalf of its background processes: keep it that way.
    return [number for number in signals if is_main and signal.getsignal(number) is not signal.SIG_IGN]


class Interruption:
    """The signal received so far, if any, of those that are deferred."""

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._received: tuple[int, FrameType | None] | None = None
        self._handlers = {number: signal.signal(number, self._note) for number in _heard(_SIGNALS)}

    @property
    def pending(self) -> bool:
        """Whether a signal is waiting to be delivered."""
        return self._received is not None

    def deliver(self) -> None:
        """Do what the signal would have done immediately; nothing if none was received."""
        if self._received is None:
            return
        (number, frame), self._received = self._received, None
        self._restore()
        handler = self._handlers[number]
        if callable(handler):
            handler(number, frame)
        else:
            os.kill(os.getpid(), number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._received = (number, frame)
        self._restore()  # a second request is not made to wait

    def _restore(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)


@contextmanager
def held_back() -> Iterator[Interruption]:
    """Defer signals; those not delivered by the end of the block are delivered then, also if it raised.

    Outside the main thread, signals are handled as usual.
    """
    interruption = Interruption()
    try:
        yield interruption
    finally:
        interruption._restore()
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
