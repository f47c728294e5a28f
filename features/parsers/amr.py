"""AMR graphs for sentences: the interface, and the choice between a user's graphs and a model.

    text ──> AmrParser.parse ──> PENMAN, or a reject with the reason

| backend | graphs come from | rejects |
|---|---|---|
| `penman` | the user's files, by their `::snt` (`features.parsers.bank`) | `no_graph` |
| `embedded` | the parser in the package (`features.parsers.embedded`) | `unknown_words`, as below |
| `amrlib` | any installed amrlib parser (`features.parsers.amrlib_parser`) | `parser_failed`, `sentence_too_long` |
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from features.core.faults import GraphIndexWrong
from features.core.rows import OnRows, ignore_rows
from features.models import locate, stamp
from features.parsers.embedded.amr_parser import load_embedded, model_folder
from features.parsers.settings import AmrSettings
from features.stage_output import Reject


class AmrParser(Protocol):
    """Anything that produces a graph for a sentence."""

    @property
    def name(self) -> str:
        """The value of the column `parser`."""

    @property
    def max_words(self) -> int:
        """Longer sentences are rejected before they are parsed."""

    def parse(
        self, sentence_ids: Sequence[str], texts: Sequence[str], on_rows: OnRows = ignore_rows
    ) -> list[str | Reject]:
        """Return for each sentence, in order, its graph in PENMAN or a reject; report how many are done."""

    def shard_digest(self, sentence_ids: Sequence[str]) -> str:
        """Return a hash of what these graphs depend on besides text and recipe; empty if nothing."""


def load(settings: AmrSettings) -> AmrParser:
    """Load the parser that the settings name; once per process, as long as settings and files stay the same.

    Args:
        settings: settings of the section [amr]; with the backend `penman`, `bank` names an index made by `build_bank`.

    Raises:
        SettingsError: there is no bank, or the device is not available.
        ModelError: the model is missing or cannot be loaded.
    """
    if settings.backend == "amrlib":
        return _load_amrlib(settings, stamp(locate(settings.model)))
    if settings.backend == "embedded":
        return _load_embedded(settings, stamp(model_folder(settings.model)))
    if settings.bank is None:
        raise GraphIndexWrong(
            f"The AMR backend 'penman' has no index of the graph files {[str(file) for file in settings.graphs]!r};"
            f" make one with features.parsers.bank.build_bank and give it as `bank`."
        )
    return _load_bank(settings, settings.bank, stamp(settings.bank))


@lru_cache(maxsize=2)
def _load_amrlib(settings: AmrSettings, _stamp: object) -> AmrParser:
    from features.parsers.amrlib_parser import load_amrlib

    return load_amrlib(settings)


@lru_cache(maxsize=2)
def _load_embedded(settings: AmrSettings, _stamp: object) -> AmrParser:
    return load_embedded(settings)


@lru_cache(maxsize=2)
def _load_bank(settings: AmrSettings, bank: Path, _stamp: object) -> AmrParser:
    from features.parsers.bank import BankParser

    return BankParser(bank, max_words=settings.max_words)
