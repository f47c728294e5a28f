"""What the views of one run of the explorer share: the project, the models, and what was asked before."""

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from flows.console.explaining import Explainer
from flows.console.here import Here
from flows.explorer.background import Background


class Asked(NamedTuple):
    """Something asked before."""

    view: str
    address: str
    words: str


@dataclass
class Session:
    """A run of the explorer.

    Args:
        here: the project, if any.
        explainer: explains pairs.
        texts: file, folder or corpus to search where the form names none.
        views: address and title of each view, for the links at the top of a page.
    """

    here: Here
    explainer: Explainer
    texts: str = ""
    views: tuple[tuple[str, str], ...] = ()
    background: Background = field(default_factory=Background)
    asked: deque[Asked] = field(default_factory=lambda: deque(maxlen=30))

    @property
    def place(self) -> str:
        """What is explored, in a few words."""
        return self.here.name or str(Path.cwd().name) or "this folder"

    def remember(self, asked: Asked) -> None:
        """Put something asked at the top of the history."""
        if asked in self.asked:
            self.asked.remove(asked)
        self.asked.appendleft(asked)

    def history(self, view: str) -> list[Asked]:
        """Return what was asked in a view, newest first."""
        return [asked for asked in self.asked if asked.view == view]

    def load(self) -> None:
        """Begin to load the models, by explaining a pair that nobody asked for."""
        pair = ("A cat looks.", "Two cats look.")
        self.background.begin(
            "models", lambda _: self.explainer.explain([pair], facet="sentence"), "Loading the models"
        )
