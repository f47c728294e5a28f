"""What the views of one run of the explorer share: the project, the models, and what was asked before.

Work that takes longer than a reader waits for a page is done by one thread, and a page says how far it is:

    request ──> result_of(key, job) ──┬── done in time ──> the result, kept for the next request
                                      └── not yet ───────> Working: a page that asks again

Models are used in this thread alone, so they need no lock, and whoever asks while they are loaded is served after that.
"""

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar, cast

import click

from features.core.faults import NoStore
from features.models import BUNDLED_ENCODER, bundled_encoder
from features.store.releases import Release
from features.store.store import Store
from flows.console.explaining import Explainer
from flows.console.here import Here
from training.encoders.s3bert.facets import FILE_NAME
from training.runs import ENCODER, all_runs, is_finished, run_id

Result = TypeVar("Result")
Tell = Callable[[str], None]
"""Called by a job to say how far it is."""
_KEPT = 64
_MODELS = 3
"""Encoders that are loaded at once, beside the one that the explorer was started with."""
_REMEMBERED = 30


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


class Asked(NamedTuple):
    """Something asked before."""

    view: str
    address: str
    words: str


@dataclass
class Session:
    """A run of the explorer."""

    here: Here  # the project, if any
    explainer: Explainer  # explains pairs
    texts: str = ""  # file, folder or corpus to search where the form names none
    views: tuple[tuple[str, str], ...] = ()  # address and title of each view, for the links at the top of a page
    background: Background = field(default_factory=Background)  # what models do
    reading: Background = field(default_factory=Background)  # what reads tables and records, and waits for no model
    asked: tuple[Asked, ...] = ()  # the newest first
    # keeps the runs of encoders from being deleted, until it ends
    command: click.Context = field(default_factory=click.get_current_context)
    _others: dict[str, Explainer] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """What is explored, in a few words."""
        return self.here.name or str(Path.cwd().name) or "this folder"

    def releases(self) -> tuple[Store | None, list[Release]]:
        """Return the store of the project and its releases; None and none without a project, or before a build."""
        try:
            store = None if self.here.store is None else Store.open(self.here.store)
            return store, [] if store is None else store.releases()
        except NoStore:
            return None, []

    def encoders(self) -> list[str]:
        """Return the encoders with facets: finished trainings, and the one that comes with facetflow."""
        runs = self.here.runs
        finished = [] if runs is None else [run for run in all_runs(runs) if is_finished(run)]
        trained = [run_id(runs, run) for run in finished if runs and (run / ENCODER / FILE_NAME).is_file()]
        return trained + ([BUNDLED_ENCODER] if bundled_encoder() is not None else [])

    def explainer_of(self, encoder: str) -> Explainer:
        """Return what explains with an encoder; with the one that the explorer was started with if it is empty."""
        if not encoder:
            return self.explainer
        if (explainer := self._others.get(encoder)) is None:
            with self.command.scope(cleanup=False):
                explainer = Explainer(self.here, encoder)
            # A new dictionary, because other threads may look into this one.
            self._others = dict([*self._others.items(), (encoder, explainer)][-_MODELS:])
            gc.collect()  # a model and its card hold each other, and what is old is seldom looked at
        return explainer

    def remember(self, asked: Asked) -> None:
        """Put something asked at the top of the history."""
        self.asked = (asked, *(each for each in self.asked if each != asked))[:_REMEMBERED]

    def history(self, view: str) -> list[Asked]:
        """Return what was asked in a view, newest first."""
        return [asked for asked in self.asked if asked.view == view]

    def load(self) -> None:
        """Begin to load the models, by explaining a pair that nobody asked for."""
        pairs = [("A cat looks.", "Two cats look.")]
        self.background.begin(
            ("models",), lambda _: self.explainer.explain(pairs, facet="sentence"), "Loading the models"
        )
