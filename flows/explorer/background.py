"""Work that takes longer than a reader waits for a page: one thread does it, and a page says how far it is.

    request ──> result_of(key, job) ──┬── done in time ──> the result, kept for the next request
                                      └── not yet ───────> Working: a page that asks again

Models are used in this thread alone, so they need no lock, and whoever asks while they are loaded is served after that.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar, cast

Result = TypeVar("Result")
Tell = Callable[[str], None]
"""Called by a job to say how far it is."""
_KEPT = 64


class Working(Exception):  # noqa: N818  # not an error
    """A result is not there yet; the message says what is being done."""


@dataclass(eq=False)
class _Job:
    note: str
    result: Future[Any] = field(init=False)

    def tell(self, note: str) -> None:
        self.note = note


class Background:
    """One thread that does jobs in the order in which they are first asked for."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[tuple[Hashable, ...], _Job] = OrderedDict()
        self._running: _Job | None = None
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1, "explorer")

    def begin(self, key: tuple[Hashable, ...], job: Callable[[Tell], Any], note: str) -> _Job:
        """Queue a job, unless its result is there or on its way; `note` is what a page says of it."""
        with self._lock:
            if (entry := self._jobs.get(key)) is None:
                entry = self._jobs[key] = _Job(note)
                # What makes a result is not kept with it: it holds a model, or texts and vectors that were searched.
                entry.result = self._thread.submit(self._do, entry, job)
            self._jobs.move_to_end(key)
        return entry

    def result_of(
        self,
        key: tuple[Hashable, ...],
        job: Callable[[Tell], Result],
        note: str,
        *,
        patience: float | None = None,
        kept: int = _KEPT,
    ) -> Result:
        """Return the result of a job, which is done once for each key as long as it is remembered.

        The first part of a key names its kind, of which so many are kept; `note` is what a page says meanwhile. A job
        that is not done after `patience` seconds raises `Working`; with None it is waited for as long as it takes.
        """
        asked = self.begin(key, job, note)
        if not wait([asked.result], patience).done:
            ahead = self._running
            raise Working(asked.note if ahead in {asked, None} else f"{asked.note}, after this: {ahead.note}")
        with self._lock:
            if asked.result.exception() is not None:  # the next request tries again
                self._jobs.pop(key, None)
            of_kind = [old for old, each in self._jobs.items() if old[0] == key[0] and each.result.done()]
            for old in of_kind[:-kept]:
                del self._jobs[old]
        return cast("Result", asked.result.result())

    def _do(self, job: _Job, make: Callable[[Tell], Any]) -> Any:
        self._running = job
        try:
            return make(job.tell)
        finally:
            self._running = None
