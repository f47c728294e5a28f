"""Suspicious labels, scores and spellings of a corpus, as sentences; the rows are kept as they are."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from features.core.pages import tell


class Report(BaseModel):
    """A part of the report of an ingest."""

    model_config = ConfigDict(extra="forbid")


class Remark(Report):
    """What a user should know; as text, the sentence of `templates/reports.txt`."""

    def __str__(self) -> str:
        return tell("features.ingest/reports.txt", type(self).__name__, self)


class LabelFaultReport(Remark):
    """Suspicious labels of a corpus in one aspect, or texts without any; they are kept as they are."""

    corpus: str
    aspect: str  # what the labels are about
    # `no label`: there is none at all; `missing`: texts have none in it; `one label`: the same for all texts; `each its
    # own`: no two texts share one; `joined`: looks like several labels in a cell; `spelling`: differs from another
    # label only in case or white space; `gone`: in the store and no longer in the file, although its text is
    fault: Literal["no label", "missing", "one label", "each its own", "joined", "spelling", "gone"]
    labels: int = 0  # how many labels have the fault
    texts: int = 0  # number of texts that have one of them; with `missing`, that have none
    among: int = 0  # with `missing`, number of all texts that were read
    examples: dict[str, int] = Field(default_factory=dict)  # labels with the number of their texts
    separator: str = ""  # with `joined`, what stands between them


class KeyFaultReport(Remark):
    """Rows of JSON lines that lack a key that is read, and have others that are perhaps the same one, misspelt.

    `unread` are keys that nothing reads and no row with `key` has, with the number of their rows, the most frequent
    first; `origin` is `file:line` of the first row with the first of these.
    """

    corpus: str
    key: str
    rows: int
    unread: dict[str, int]
    origin: str


class ChosenLabelReport(Remark):
    """A label that `labels` of a corpus names and no row has."""

    corpus: str
    label: str


class TextFaultReport(Remark):
    """Texts with labels of a corpus that have another spelling, in case or punctuation; they are kept as they are.

    `parted` is the number of those whose spellings are in several splits; the examples may be shortened.
    """

    corpus: str
    texts: int
    parted: int
    examples: tuple[str, str]


class JudgementFaultReport(Remark):
    """Suspicious judgements, labels or scores, of the pairs of a corpus that were read; they are kept as they are."""

    corpus: str
    judgement: Literal["label", "score"]  # what they are
    # `none`: neither the file nor the store has one; `missing`: pairs have none in the store, those that are added now
    # included; `spelling`: differs from another label only in case or white space; `several`: two sentences are a pair
    # more than once, with different ones
    fault: Literal["none", "missing", "spelling", "several"]
    pairs: int  # number of pairs that were read
    affected: int  # number of those with the fault
    # labels with the number of their pairs; with `several`, those of one pair
    examples: dict[str, int] = Field(default_factory=dict)
    texts: tuple[str, str] | None = None  # with `several`, the sentences of this pair, perhaps shortened
