"""What the views of one run of the explorer share: the project, the models, and what was asked before."""

import gc
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import click

from features.core.faults import NoStore
from features.models import BUNDLED_ENCODER, bundled_encoder
from features.store.releases import Release
from features.store.store import Store
from flows.console.explaining import Explainer
from flows.console.here import Here
from flows.explorer.background import Background
from training.encoders.s3bert.facets import FILE_NAME
from training.runs import ENCODER, all_runs, is_finished, run_id

_MODELS = 3
"""Encoders that are loaded at once, beside the one that the explorer was started with."""
_REMEMBERED = 30


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
    # what only reads tables and records, which need not wait for models
    reading: Background = field(default_factory=Background)
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
