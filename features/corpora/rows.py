"""What a reader yields for each row of a source: a pair, a text, a reject, or a row left out by design."""

from typing import NamedTuple

from features.core.types import Split
from features.stage_output import Reject


class PairRow(NamedTuple):
    """One pair of a source."""

    split: Split
    text_a: str
    text_b: str
    score: float | None
    label: str | None
    origin: str  # `file:line`
    group: str = ""  # what it shares with pairs that must be in its split: image, topic, document; empty if unknown


class TextRow(NamedTuple):
    """One text of a source, as written, with aspect and label, each once; `origin` as in `PairRow`."""

    split: Split
    text: str
    labels: tuple[tuple[str, str], ...]
    origin: str
    kept: bool = False  # whether the store has it in this split, although the present settings would put it elsewhere


class Skip(NamedTuple):
    """A row that the dataset or the settings leave out: not rated, no gold label, a label not requested.

    Rows are counted by the reason, a few words; `origin` is `file:line`.
    """

    split: Split
    reason: str
    origin: str


class BadRow(NamedTuple):
    """A row that is not what its format promises, in the split that was read."""

    split: Split
    reject: Reject


Outcome = PairRow | TextRow | Skip | BadRow
"""Every row of a source becomes exactly one of these."""
